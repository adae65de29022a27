"""A small slide of drawn phantoms: a pyramidal TIFF made here, for who has no slide at hand."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
from tifffile import TiffWriter

from bag_generators.base.storage import write_whole
from bag_generators.tissue.phantom import PHANTOM_KINDS, draw

MICRONS_PER_PIXEL = 0.5
COLUMNS, ROWS, BLOCK = 12, 9, 336
"""Blocks of tissue along the sides, and pixels along the side of a block."""
_GLASS = (243, 241, 244)
_LEVELS = 4


def write_demo_slide(path: Path) -> None:
    """Write the slide, all or nothing."""
    levels = [_demo_pixels()]
    for _ in range(_LEVELS - 1):
        height, width = levels[-1].shape[:2]
        levels.append(np.asarray(cv2.resize(levels[-1], (width // 2, height // 2), interpolation=cv2.INTER_AREA)))
    write_whole(path, pyramid(levels, MICRONS_PER_PIXEL), "The demo slide")


def demo_kinds() -> np.ndarray:
    """Which kind each block shows, (rows, columns) of indices into `PHANTOM_KINDS`: one in the middle, six around."""
    angles = np.random.default_rng(0).uniform(0, 2 * np.pi) + np.arange(len(PHANTOM_KINDS)) * np.pi / 3
    around = np.stack([np.sin(angles), np.cos(angles)], axis=1) * 0.6
    around[-1] = 0.0
    centres = (1 + around) * (ROWS / 2, COLUMNS / 2)
    at = np.moveaxis(np.mgrid[0:ROWS, 0:COLUMNS], 0, -1)[:, :, None] + 0.5
    return np.asarray(((at - centres) ** 2).sum(axis=-1).argmin(axis=-1))


def _demo_pixels() -> np.ndarray:
    """The whole slide at level 0, (height, width, 3) uint8: one piece of tissue on glass."""
    rng = np.random.default_rng(1)
    drawn = [draw(kind, 0, BLOCK, coverage=0.9).pixels for kind in PHANTOM_KINDS]
    rows = []
    for line in demo_kinds():
        # Turned and mirrored, seven drawings make many; drawing each block anew would take a minute.
        turned = [np.rot90(drawn[kind][:, :: rng.choice((-1, 1))], int(rng.integers(4))) for kind in line]
        rows.append(np.concatenate(turned, axis=1))
    tissue = np.concatenate(rows)
    inside = _outline(rng, *tissue.shape[:2])[:, :, None]
    return np.where(inside, tissue, np.array(_GLASS, np.uint8))


def _outline(rng: np.random.Generator, height: int, width: int) -> np.ndarray:
    """Where the tissue lies, (height, width) bool: an oval with an uneven edge."""
    y, x = np.mgrid[-1 : 1 : 1j * ROWS * 8, -1 : 1 : 1j * COLUMNS * 8]
    bumps = cv2.resize(rng.normal(0, 0.06, (ROWS, COLUMNS)), x.shape[::-1], interpolation=cv2.INTER_CUBIC)
    distance = np.sqrt((x / 0.93) ** 2 + (y / 0.9) ** 2) + bumps
    return np.asarray(cv2.resize(distance, (width, height), interpolation=cv2.INTER_CUBIC) < 1)


def pyramid(levels: Sequence[np.ndarray], microns_per_pixel: float) -> bytes:
    """A slide as a TIFF, which OpenSlide and QuPath read: all levels, (height, width, 3) uint8 each, largest first.

    Each is half of the last; `microns_per_pixel` is that of the largest.
    """
    content = io.BytesIO()
    with TiffWriter(content) as file:
        for number, pixels in enumerate(levels):
            per_centimetre = 10_000 / (microns_per_pixel * 2**number)
            file.write(
                np.ascontiguousarray(pixels),
                tile=(256, 256),
                photometric="rgb",
                compression="zlib",  # JPEG would need a second, large package
                compressionargs={"level": 1},
                predictor=True,
                subfiletype=min(number, 1),
                resolution=(per_centimetre, per_centimetre),
                resolutionunit="CENTIMETER",
                metadata=None,
            )
    return content.getvalue()
