"""Read the idx files of MNIST and Fashion-MNIST, packed or not, wherever a download put them."""

from __future__ import annotations

import gzip
import struct
import zlib
from pathlib import Path
from typing import BinaryIO

import numpy as np

from bag_generators.errors import InputError

_LARGEST = 1 << 30  # bytes; the real files have 47 million


def read_part(folder: Path, part: str, subfolders: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The images (N, h, w) uint8 and classes (N,) uint8 of `part`, “train” or “t10k”.

    The files are looked for in `folder` itself, in its `raw`, and in `subfolders` (torchvision's layout).
    """
    images = read_idx(_find(folder, f"{part}-images", "idx3", subfolders), dims=3)
    classes = read_idx(_find(folder, f"{part}-labels", "idx1", subfolders), dims=1)
    if len(images) != len(classes):
        raise InputError(
            f"“{folder}” holds {len(images)} images but {len(classes)} labels.",
            "Keep the image and the label file of one download together.",
        )
    return images, classes


def read_idx(path: Path, dims: int) -> np.ndarray:
    """The array of bytes in one idx file: a magic number, `dims` big-endian sizes, then the values."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            return _values(file, path, dims)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise InputError(f"“{path}” is packed but damaged.", "Download it again.") from None
    except OSError as error:
        raise InputError(f"“{path}” could not be read ({error.strerror}).", "Check the file and its rights.") from None


def _values(file: BinaryIO | gzip.GzipFile, path: Path, dims: int) -> np.ndarray:
    header = file.read(4 + 4 * dims)
    if len(header) < 4 + 4 * dims or header[:4] != bytes([0, 0, 8, dims]):
        raise InputError(f"“{path}” is not an idx file of {dims} dimension(s).", "Download it again.")
    shape = struct.unpack(f">{dims}I", header[4:])
    size = int(np.prod(shape, dtype=object))
    if not 0 < size <= _LARGEST:
        raise InputError(f"“{path}” claims to hold {size} values.", "Download it again.")
    values = file.read(size + 1)  # one more, to notice what does not belong there
    if len(values) != size:
        raise InputError(
            f"“{path}” does not hold the {size} values it announces.",
            "The copy broke off: download it again.",
        )
    return np.frombuffer(values, dtype=np.uint8).reshape(shape)


def _find(folder: Path, stem: str, kind: str, subfolders: tuple[str, ...]) -> Path:
    names = [f"{stem}{dot}{kind}-ubyte{packed}" for dot in "-." for packed in ("", ".gz")]
    for searched in (folder, folder / "raw", *(folder / sub for sub in subfolders)):
        for name in names:
            if (searched / name).is_file():
                return searched / name
    raise InputError(
        f"There is no “{names[0]}” (or “{names[1]}”) in “{folder}”.",
        "Give the folder of the idx files or the one that torchvision.datasets downloaded to.",
    )
