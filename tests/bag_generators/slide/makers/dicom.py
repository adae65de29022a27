"""A slide as DICOM: a folder with a file for each level, and one for the label and the overview each."""

import struct
from pathlib import Path

import numpy as np

from tests.bag_generators.slide import makers

_WHOLE_SLIDE = "1.2.840.10008.5.1.4.1.1.77.1.6"
_JPEG = "1.2.840.10008.1.2.4.50"
_SERIES = "1.2.826.0.1.3680043.8.498.7"
_LONG = ("OB", "SQ")


def write_dicom(folder: Path) -> Path:
    """Write the files; the first of them is of the label, the last of the largest level."""
    folder.mkdir(parents=True, exist_ok=True)
    whole = makers.pixels()
    for number, (kind, picture, microns) in enumerate(
        (
            ("LABEL", makers.label(), 10.0),
            ("OVERVIEW", makers.label(), 10.0),
            ("THUMBNAIL", whole[::4, ::4], 4 * makers.MICRONS),
            ("VOLUME", whole[::2, ::2], 2 * makers.MICRONS),
            ("VOLUME", whole, makers.MICRONS),
        )
    ):
        (folder / f"{number}.dcm").write_bytes(_file(number, kind, picture, microns))
    return folder


def _file(number: int, kind: str, picture: np.ndarray, microns: float) -> bytes:
    height, width = picture.shape[:2]
    frames = makers.tiles(picture) if kind == "VOLUME" else [picture]
    rows, columns = frames[0].shape[:2]
    uid = f"{_SERIES}.{number + 1}"
    meta = b"".join(
        (
            _element(0x0002, 0x0001, "OB", b"\0\1"),
            _element(0x0002, 0x0002, "UI", _WHOLE_SLIDE),
            _element(0x0002, 0x0003, "UI", uid),
            _element(0x0002, 0x0010, "UI", _JPEG),
            _element(0x0002, 0x0012, "UI", "1.2.826.0.1"),
        )
    )
    spacing = _element(0x0028, 0x0030, "DS", f"{microns / 1000:.8f}\\{microns / 1000:.8f}")
    shared = _element(0x0028, 0x9110, "SQ", _items(spacing))
    flavour = "RESAMPLED" if microns in (2 * makers.MICRONS, 4 * makers.MICRONS) else "NONE"
    elements = (
        _element(0x0008, 0x0008, "CS", f"ORIGINAL\\PRIMARY\\{kind}\\{flavour}"),
        _element(0x0008, 0x0016, "UI", _WHOLE_SLIDE),
        _element(0x0008, 0x0018, "UI", uid),
        _element(0x0008, 0x0060, "CS", "SM"),
        _element(0x0010, 0x0010, "PN", makers.SECRETS[0]),
        _element(0x0010, 0x0020, "LO", makers.SECRETS[1]),
        _element(0x0020, 0x000D, "UI", f"{_SERIES}.77"),
        _element(0x0020, 0x000E, "UI", _SERIES),
        _element(0x0020, 0x0013, "IS", str(number + 1)),
        _element(0x0020, 0x9311, "CS", "TILED_FULL"),
        _element(0x0028, 0x0002, "US", _short(3)),
        _element(0x0028, 0x0004, "CS", "YBR_FULL_422"),
        _element(0x0028, 0x0006, "US", _short(0)),
        _element(0x0028, 0x0008, "IS", str(len(frames))),
        _element(0x0028, 0x0010, "US", _short(rows)),
        _element(0x0028, 0x0011, "US", _short(columns)),
        _element(0x0028, 0x0100, "US", _short(8)),
        _element(0x0028, 0x0101, "US", _short(8)),
        _element(0x0028, 0x0102, "US", _short(7)),
        _element(0x0028, 0x0103, "US", _short(0)),
        _element(0x0048, 0x0006, "UL", struct.pack("<I", width)),
        _element(0x0048, 0x0007, "UL", struct.pack("<I", height)),
        _element(0x0048, 0x0303, "UL", struct.pack("<I", 1)),
        _element(0x5200, 0x9229, "SQ", _items(shared)),
    )
    length = _element(0x0002, 0x0000, "UL", struct.pack("<I", len(meta)))
    return bytes(128) + b"DICM" + length + meta + b"".join(elements) + _frames(frames)


def _short(number: int) -> bytes:
    return struct.pack("<H", number)


def _element(group: int, number: int, kind: str, value: bytes | str) -> bytes:
    content = value.encode() if isinstance(value, str) else value
    content += (b"\0" if kind in ("UI", "OB") else b" ") * (len(content) % 2)
    head = struct.pack("<HH2s", group, number, kind.encode())
    size = struct.pack("<HI", 0, len(content)) if kind in _LONG else struct.pack("<H", len(content))
    return head + size + content


def _items(*contents: bytes) -> bytes:
    return b"".join(struct.pack("<HHI", 0xFFFE, 0xE000, len(content)) + content for content in contents)


def _frames(frames: list[np.ndarray]) -> bytes:
    """The pixel data: JPEGs, each an item, behind a table of where they begin that may be empty."""
    packed = [makers.jpeg(frame) for frame in frames]
    packed = [one + b"\0" * (len(one) % 2) for one in packed]
    head = struct.pack("<HH2sHI", 0x7FE0, 0x0010, b"OB", 0, 0xFFFFFFFF)
    return head + _items(b"", *packed) + struct.pack("<HHI", 0xFFFE, 0xE0DD, 0)
