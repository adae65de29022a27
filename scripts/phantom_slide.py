"""Draw a whole slide of phantom tissue whose classes are known tile by tile, as a pyramidal TIFF that OpenSlide reads.

python scripts/phantom_slide.py slide.tif --columns 40 --rows 30
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
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
_COVERAGE = 0.9


@dataclass(frozen=True)
class PhantomSlide:
    """Cells of 224 px, each a phantom of the kind that `layout` (rows of names) says, or bare glass."""

    layout: tuple[tuple[str, ...], ...]
    microns_per_pixel: float = 0.5
    variants: int = 4
    """Different phantoms of each kind."""
    levels: tuple[int, ...] = (1, 4, 16)

    @property
    def width(self) -> int:
        return CELL * len(self.layout[0])

    @property
    def height(self) -> int:
        return CELL * len(self.layout)

    def share(self, kind: str) -> float:
        """Of the slide's tissue that is of this kind."""
        cells = [cell for row in self.layout for cell in row if cell != GLASS]
        return cells.count(kind) / len(cells)

    def write(self, path: Path, crop: tuple[int, int] | None = None) -> None:
        """Write it, or its upper left `crop` (width, height), with the scale as the resolution of the file."""
        width, height = crop or (self.width, self.height)
        per_centimetre = 10_000 / self.microns_per_pixel
        cells = self.cells()
        with tifffile.TiffWriter(path, bigtiff=True) as file:
            for level in self.levels:
                small = {key: cv2.resize(tile, None, None, 1 / level, 1 / level, cv2.INTER_AREA)
                         for key, tile in cells.items()}  # fmt: skip
                shape = (height // level, width // level, 3)
                file.write(
                    self._pieces(small, CELL // level, shape[:2]),
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
        cells = {(kind, number): _cell(kind, number) for kind in sorted(kinds) for number in range(self.variants)}
        return cells | {(GLASS, number): np.full((CELL, CELL, 3), 243, np.uint8) for number in range(self.variants)}

    def _pieces(
        self, cells: dict[tuple[str, int], np.ndarray], side: int, shape: tuple[int, int]
    ) -> Iterator[np.ndarray]:
        """The TIFF tiles of a level, from left to right and top to bottom; one row of them is in memory."""
        for top in range(0, shape[0], _PIECE):
            bottom = min(top + _PIECE, shape[0])
            first, last = top // side, (bottom - 1) // side
            bands = [
                np.concatenate([cells[kind, (row + column) % self.variants] for column, kind in enumerate(kinds)], 1)
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
    return draw(kind, number, CELL, _COVERAGE).pixels


def blocks(columns: int, rows: int, kinds: Sequence[str], side: int = 8, margin: int = 1) -> PhantomSlide:
    """A slide of square blocks of tissue, each `side` cells wide, with `margin` cells of glass around all."""
    return PhantomSlide(
        tuple(
            tuple(
                kinds[(row // side + column // side) % len(kinds)]
                if margin <= row < rows - margin and margin <= column < columns - margin
                else GLASS
                for column in range(columns)
            )
            for row in range(rows)
        )
    )


def main() -> None:
    """Write a slide of the seven tissues."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--columns", type=int, default=40)
    parser.add_argument("--rows", type=int, default=30)
    args = parser.parse_args()
    slide = blocks(args.columns, args.rows, tuple(PHANTOM_KINDS))
    slide.write(args.out)
    print(f"{args.out}: {slide.width:,} × {slide.height:,} px at {slide.microns_per_pixel} µm/px")


if __name__ == "__main__":
    main()
