"""What kind of file is this, by its first bytes? Names and extensions are never believed."""

from bag_generators.formats import format_of

_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or an Office document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!", "a RAR archive"),
    (b"%!PS", "a PostScript (EPS) drawing"),
    (b"\xc5\xd0\xd3\xc6", "a PostScript (EPS) drawing"),
    (b"GIF8", "a GIF picture"),
    (b"8BPS", "a Photoshop file"),
    (b"\x00\x00\x00\x0cjP  ", "a JPEG 2000 picture"),
    (b"\xff\x4f\xff\x51", "a JPEG 2000 picture"),
    (b"\x00\x00\x01\x00", "an icon file"),
    (b"\x93NUMPY", "a NumPy array file"),
    (b"\x80\x02", "a pickle, which could run code"),
    (b"\x80\x03", "a pickle, which could run code"),
    (b"\x80\x04", "a pickle, which could run code"),
    (b"\x80\x05", "a pickle, which could run code"),
    (b"ZISRAWFILE", "a whole-slide image (CZI)"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"<svg", "an SVG drawing"),
    (b"<!doctype html", "a web page"),
    (b"<html", "a web page"),
)
_BYTES_LOOKED_AT = 1024


def detect_kind(data: bytes) -> str | None:
    """The name of one of our formats, or words for another kind of file ("a PDF document"), or None when unknown.

    >>> detect_kind(b"%PDF-1.7")
    'a PDF document'
    """
    head = data[:_BYTES_LOOKED_AT]
    if (ours := format_of(head)) is not None:
        return ours
    if head[4:8] == b"ftyp":
        return "a HEIC, AVIF or video file"
    if head[128:132] == b"DICM":
        return "a DICOM file"
    for signature, kind in _SIGNATURES:
        if head.startswith(signature):
            return kind
    return _detect_text(head)


def _detect_text(head: bytes) -> str | None:
    """Kinds that are text: drawings, pages, plain words. Leading blanks and comments are allowed there."""
    if b"\x00" in head:
        return None
    text = head.decode("utf-8", errors="ignore").lstrip("\ufeff \t\r\n").lower()
    if "<svg" in text:
        return "an SVG drawing"
    if "<html" in text or text.startswith("<!doctype html"):
        return "a web page"
    if text.startswith("<?xml"):
        return "an XML file"
    readable = "".join(character for character in text if character.isprintable() or character.isspace())
    return "a text file" if readable and len(readable.encode()) >= 0.9 * len(head) else None
