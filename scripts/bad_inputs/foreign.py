"""Other kinds of file, all with the name of a picture."""

from __future__ import annotations

from scripts.bad_inputs.encodings import array_file, encoded, tissue, zipped

_UNKNOWN = "its kind is unknown"
# What a pickle that runs a program on opening looks like; it is only written here.
_PICKLE = b"\x80\x04\x95\x1d\0\0\0\0\0\0\0\x8c\x05posix\x8c\x06system\x93\x8c\x04true\x85R."

FILES = {
    "empty.png": (lambda: b"", "The file is empty"),
    "zero-byte.png": (lambda: b"\0", _UNKNOWN),
    "zero-bytes.png": (lambda: bytes(1000), _UNKNOWN),
    "every-byte.png": (lambda: bytes(range(256)), _UNKNOWN),
    "text.png": (lambda: b"Patient came in with a cough.\n", "a text file"),
    "text-beginning-with-bm.bmp": (lambda: b"BMW drivers have colons too", "a text file"),
    "table.png": (lambda: b"a;b;c\n1;2;3\n", "a text file"),
    "web-page.png": (lambda: b"<!DOCTYPE html><html><script>alert(1)</script></html>", "a web page"),
    "web-page-after-a-comment.png": (lambda: b"\n<!-- saved --><html></html>", "a web page"),
    "drawing.png": (lambda: b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", "an SVG drawing"),
    "drawing-with-declaration.png": (lambda: b"<?xml version='1.0'?><svg onload='alert(1)'/>", "an SVG drawing"),
    "entities.png": (lambda: b"<?xml version='1.0'?><!DOCTYPE x [<!ENTITY a 'a'>]><x>&a;</x>", "an XML file"),
    "document.png": (lambda: b"%PDF-1.7\n%\xe2\xe3\xcf\xd3", "a PDF document"),
    "office.png": (zipped, "a ZIP archive or an Office document"),
    "archive.png": (lambda: b"\x1f\x8b\x08\0\0\0\0\0", "a gzip archive"),
    "archive-7z.png": (lambda: b"7z\xbc\xaf\x27\x1c\0\4", "a 7z archive"),
    "archive-rar.png": (lambda: b"Rar!\x1a\x07\0", "a RAR archive"),
    "pickle.png": (lambda: _PICKLE, "a pickle"),
    "array.png": (array_file, "a NumPy array file"),
    "hdf5.png": (lambda: b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    "program.png": (lambda: b"\x7fELF\2\1\1\0", "a program"),
    "program.exe.png": (lambda: b"MZ\x90\0\3\0", "a program"),
    "scan.dcm.png": (lambda: bytes(128) + b"DICM" + bytes(40), "a DICOM file"),
    "postscript.png": (lambda: b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "a PostScript (EPS) drawing"),
    "postscript-binary.png": (lambda: b"\xc5\xd0\xd3\xc6" + bytes(30), "a PostScript (EPS) drawing"),
    "postscript-of-a-picture.png": (lambda: encoded("EPS"), "a PostScript (EPS) drawing"),
    "gif.png": (lambda: encoded("GIF"), "a GIF picture"),
    "animated.gif.png": (
        lambda: encoded("GIF", save_all=True, append_images=[tissue().rotate(90)]),
        "a GIF picture",
    ),
    "jpeg2000.png": (lambda: encoded("JPEG2000"), "a JPEG 2000 picture"),
    "avif.png": (lambda: encoded("AVIF"), "a HEIC, AVIF or video file"),
    "video.png": (lambda: b"\0\0\0\x18ftypmp42", "a HEIC, AVIF or video file"),
    "photoshop.png": (lambda: b"8BPS\0\1", "a Photoshop file"),
    "icon.png": (lambda: encoded("ICO"), "an icon file"),
    "sound.png": (lambda: b"RIFF\x24\0\0\0WAVEfmt ", _UNKNOWN),
    "slide.czi.png": (lambda: b"ZISRAWFILE".ljust(600, b"\0"), "QuPath: File → Export images"),
}
