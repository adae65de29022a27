"""What kind of file is this, by its first bytes? Names and extensions are never believed."""

from bag_generators.formats import format_of

_OTHERS: dict[str, tuple[bytes, ...]] = {
    "a PDF document": (b"%PDF",),
    "a ZIP archive or an Office document": (b"PK\x03\x04",),
    "a gzip archive": (b"\x1f\x8b",),
    "a 7z archive": (b"7z\xbc\xaf\x27\x1c",),
    "a RAR archive": (b"Rar!",),
    "a PostScript (EPS) drawing": (b"%!PS", b"\xc5\xd0\xd3\xc6"),
    "a GIF picture": (b"GIF8",),
    "a Photoshop file": (b"8BPS",),
    "a JPEG 2000 picture": (b"\x00\x00\x00\x0cjP  ", b"\xff\x4f\xff\x51"),
    "an icon file": (b"\x00\x00\x01\x00",),
    "a NumPy array file": (b"\x93NUMPY",),
    "a pickle, which could run code": (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"),
    "a whole-slide image (CZI)": (b"ZISRAWFILE",),
    "an HDF5 file": (b"\x89HDF",),
    "a program": (b"\x7fELF", b"MZ"),
}


def detect_kind(data: bytes) -> str | None:
    """The name of one of our formats, or words for another kind of file ("a PDF document"), or None when unknown.

    >>> detect_kind(b"%PDF-1.7")
    'a PDF document'
    """
    head = data[:1024]
    if (ours := format_of(head)) is not None:
        return ours
    if head[4:8] == b"ftyp":
        return "a HEIC, AVIF or video file"
    if head[128:132] == b"DICM":
        return "a DICOM file"
    return next((kind for kind, starts in _OTHERS.items() if head.startswith(starts)), None) or _detect_text(head)


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
