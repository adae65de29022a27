"""Draw a whole slide of phantom tissue whose classes are known tile by tile, as a pyramidal TIFF that OpenSlide reads.

python -m tests.support.phantom_slide slide.tif [--columns 40] [--rows 30]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import cv2
import numpy as np
import tifffile

from bag_generators.tissue.phantom import PHANTOM_KINDS, draw

CELL = 224
GLASS = ""
"""A cell of the layout without tissue."""
_PIECE = 256  # px: side of a TIFF tile
_VARIANTS = 4  # different phantoms of each kind


@dataclass(frozen=True)
class PhantomSlide:
    """Cells of 224 px, each a phantom of the kind that `layout` (rows of names) says, or bare glass."""

    layout: tuple[tuple[str, ...], ...]
    microns_per_pixel: float = 0.5

    def write(self, path: Path, crop: tuple[int, int] | None = None) -> None:
        """Write it, or its upper left `crop` (width, height), with the scale as the resolution of the file."""
        width, height = crop or (CELL * len(self.layout[0]), CELL * len(self.layout))
        per_centimetre = 10_000 / self.microns_per_pixel
        cells = self.cells()
        with tifffile.TiffWriter(path, bigtiff=True) as file:
            for level in (1, 4, 16):
                side, shape = CELL // level, (height // level, width // level, 3)
                small = {key: cv2.resize(cell, (side, side), None, 0, 0, cv2.INTER_AREA) for key, cell in cells.items()}
                file.write(
                    self._pieces(small, side, shape[:2]),
                    shape=shape,
                    dtype=np.uint8,
                    tile=(_PIECE, _PIECE),
                    photometric="rgb",
                    compression="deflate",
                    compressionargs={"level": 1},
                    subfiletype=int(level > 1),
                    resolution=(per_centimetre / level, per_centimetre / level),
                    resolutionunit="CENTIMETER",
                )

    def cells(self) -> dict[tuple[str, int], np.ndarray]:
        """The pictures of the cells by kind and variant; the cell in row r and column c is variant r + c."""
        kinds = {cell for row in self.layout for cell in row} - {GLASS}
        cells = {(kind, number): _cell(kind, number) for kind in sorted(kinds) for number in range(_VARIANTS)}
        return cells | {(GLASS, number): np.full((CELL, CELL, 3), 243, np.uint8) for number in range(_VARIANTS)}

    def _pieces(
        self, cells: dict[tuple[str, int], np.ndarray], side: int, shape: tuple[int, int]
    ) -> Iterator[np.ndarray]:
        """The TIFF tiles of a level, from left to right and top to bottom; one row of them is in memory."""
        for top in range(0, shape[0], _PIECE):
            bottom = min(top + _PIECE, shape[0])
            first, last = top // side, (bottom - 1) // side
            bands = [
                np.concatenate([cells[kind, (row + column) % _VARIANTS] for column, kind in enumerate(kinds)], 1)
                for row, kinds in enumerate(self.layout[first : last + 1], start=first)
            ]
            strip = np.concatenate(bands)[top - first * side : bottom - first * side, : shape[1]]
            for left in range(0, shape[1], _PIECE):
                piece = np.zeros((_PIECE, _PIECE, 3), np.uint8)
                part = strip[:, left : left + _PIECE]
                piece[: part.shape[0], : part.shape[1]] = part
                yield piece


@cache
def _cell(kind: str, number: int) -> np.ndarray:
    return draw(kind, number, CELL, 0.9).pixels


def main() -> None:
    """Write a slide of the seven tissues in square blocks of 8 cells, with a cell of glass around all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--columns", type=int, default=40)
    parser.add_argument("--rows", type=int, default=30)
    args = parser.parse_args()
    kinds, layout = tuple(PHANTOM_KINDS), np.full((args.rows, args.columns), GLASS, dtype=object)
    for row, column in np.ndindex(args.rows - 2, args.columns - 2):
        layout[row + 1, column + 1] = kinds[((row + 1) // 8 + (column + 1) // 8) % len(kinds)]
    PhantomSlide(tuple(map(tuple, layout))).write(args.out)


if __name__ == "__main__":
    main()
