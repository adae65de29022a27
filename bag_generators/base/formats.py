"""Which files are taken, and how much of everything: the formats of pictures and all limits, in one place.

A new format is one entry of `FORMATS`. `.streamlit/config.toml` and SECURITY.md repeat some limits; a test compares.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from PIL.ImageFile import ImageFile

Signature: TypeAlias = tuple[tuple[int, bytes], ...]
"""Bytes that all stand at their positions in a file."""


@dataclass(frozen=True)
class PictureFormat:
    """A kind of picture file: what it is called, what tells it, and Pillow's class that reads it."""

    name: str
    extensions: tuple[str, ...]
    pillow_reader: str
    """Module and class below PIL. They are called directly: `Image.open` would try every format Pillow knows."""
    signatures: tuple[Signature, ...]
    """A file is of this format when any of them fits. Extensions are never believed."""

    def fits(self, head: bytes) -> bool:
        """Whether a file that begins with `head` is of this format."""
        return any(all(head.startswith(part, at) for at, part in parts) for parts in self.signatures)

    def reader(self) -> type[ImageFile]:
        """Pillow's class, imported on first use."""
        module, _, name = self.pillow_reader.partition(".")
        found: type[ImageFile] = getattr(import_module(f"PIL.{module}"), name)
        return found


FORMATS: dict[str, PictureFormat] = {
    known.name: known
    for known in (
        PictureFormat("PNG", (".png",), "PngImagePlugin.PngImageFile", (((0, b"\x89PNG\r\n\x1a\n"),),)),
        PictureFormat("JPEG", (".jpg", ".jpeg"), "JpegImagePlugin.JpegImageFile", (((0, b"\xff\xd8\xff"),),)),
        PictureFormat(
            "TIFF", (".tif", ".tiff"), "TiffImagePlugin.TiffImageFile",
            # little and big endian, each as TIFF and BigTIFF
            (((0, b"II*\x00"),), ((0, b"MM\x00*"),), ((0, b"II+\x00"),), ((0, b"MM\x00+"),)),
        ),
        PictureFormat(
            "BMP", (".bmp",), "BmpImagePlugin.BmpImageFile",
            (((0, b"BM"), (6, b"\0\0\0\0")),),  # two letters alone would take a text for a picture
        ),
        PictureFormat("WebP", (".webp",), "WebPImagePlugin.WebPImageFile", (((0, b"RIFF"), (8, b"WEBP")),)),
    )
}  # fmt: skip
"""Every format a picture may have, by name, in the order a person reads them."""


def format_of(head: bytes) -> str | None:
    """The format of a picture that begins with `head`, or None when it is none of ours.

    >>> format_of(b"II*\\0")
    'TIFF'
    """
    return next((name for name, known in FORMATS.items() if known.fits(head)), None)


def extensions() -> tuple[str, ...]:
    """How the names of pictures end, in lower case with the dot."""
    return tuple(extension for known in FORMATS.values() for extension in known.extensions)


def formats_in_words() -> str:
    """All formats as they stand in a sentence.

    >>> formats_in_words()
    'PNG, JPEG, TIFF, BMP or WebP'
    """
    *most, last = FORMATS
    return f"{', '.join(most)} or {last}"


_WHOLE_SLIDES = (
    ".svs", ".ndpi", ".vms", ".vmu", ".scn", ".mrxs", ".tif", ".tiff", ".svslide", ".bif", ".czi", ".dcm",
)  # fmt: skip


def slide_extensions() -> tuple[str, ...]:
    """How the names of slides and of pictures end, in lower case with the dot, each once.

    OpenSlide tells whole slides by their content.
    """
    return tuple(dict.fromkeys((*_WHOLE_SLIDES, *extensions())))


# One picture. The upload limit of .streamlit/config.toml (maxUploadSize) is MAX_BYTES, too.
MAX_BYTES = 50 * 2**20
MAX_PIXELS = 40_000_000
MAX_SIDE = 20_000

# One upload, read in a process of its own
MOST_PICTURE_READERS = 2  # processes
MOST_PICTURE_SECONDS = 20.0
MOST_READER_BYTES = 1024 * 2**20  # beyond what the process has when it starts; also for slides
MOST_SECONDS_IN_LINE = 120.0  # that a visitor waits while all processes are busy

# One whole slide, read piece by piece in a process of its own
MAX_SLIDE_SIDE = 500_000
MAX_SLIDE_PIXELS = 60_000_000_000
MOST_SLIDE_PIECE = 36_000_000  # pixels of one answer
MOST_READ_FOR_ONE_PIECE = 3_000_000_000  # pixels of the level it is made from
MOST_READER_SECONDS = 20.0
MOST_OVERVIEW_SECONDS = 90.0
MOST_SLIDE_READERS = 2  # processes
MOST_OPEN_SLIDES = 4  # of each reader
MOST_LISTED_SLIDES = 1000

# One visit of the app
MOST_BATCH_FILES = 500
MOST_BATCH_BYTES = 500 * 2**20
MOST_VISIT_BYTES = 600 * 2**20  # of all uploads together: a full Batch page and some pictures
MOST_TRAINING_NUMBERS = 6_000_000  # instances × features; an epoch of that many takes about a second

# All visits together. One that ended, then one that stands idle, makes room for a new upload.
MOST_SERVER_BYTES = 2 * 2**30

# One zip file of class folders
MOST_ZIP_PICTURES = 1000
MOST_ZIP_CLASSES = 50  # also what the Train page shows
MOST_ZIP_BYTES = 400 * 2**20  # of all pictures together, unpacked
MOST_ZIP_PIXELS = 500_000_000  # of all pictures together, as their headers state them
MOST_ZIP_ENTRIES = 20_000  # files of any kind; each costs memory before it is read

# Memory of the process that reads a MATLAB file: a multiple of its size, which tables of features never reach
LEAST_MAT_BYTES = 512 * 2**20
MOST_MAT_GROWTH = 50
MOST_MAT_BYTES = 4 * 2**30
