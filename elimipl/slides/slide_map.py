"""The map of a slide: what the model says of every tile, with where it lies, how large it is and what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bag_generators.base.errors import InputError
from bag_generators.base.storage import ForeignFileError, read_tensors, write_tensors
from bag_generators.base.validation import Record, Sha256, Whole, plain, validated
from bag_generators.scale import Origin
from bag_generators.slide import Slide
from bag_generators.slide.tissue import LEFT_OUT, TISSUE, TissueGrid
from elimipl.answers.predictor import Predictor
from elimipl.candidates.labels import LabelSpace
from elimipl.slides.fields import CELLS, FieldLayout, FieldRow

FILE = "map.safetensors"
_KEY = "elimipl_slide_map"
_NO_MAP = "Make the map again."


class About(Record):
    """Which slide, which model, how."""

    slide: str
    """Name of the file."""
    slide_sha256: Sha256
    width: Whole
    height: Whole
    microns_per_pixel: float
    scale_origin: Origin = "file"
    model: str
    model_sha256: Sha256
    generator: str
    label_space: LabelSpace
    step: float
    """Pixels of level 0 along a side of a tile."""
    field_side: Whole
    """Tiles along a side of a field."""
    made: str
    """UTC, ISO 8601."""

    @classmethod
    def of(cls, slide: Slide, predictor: Predictor, sha256: str, layout: FieldLayout, tile_microns: float) -> About:
        """What is known before the first tile is read; `tile_microns` is the length of a tile's side."""
        card = predictor.card
        return cls(
            slide=slide.name,
            slide_sha256=sha256,
            width=slide.width,
            height=slide.height,
            microns_per_pixel=slide.scale(),
            scale_origin=slide.scale_origin,
            model=card.id,
            model_sha256=card.sha256,
            generator=card.generator,
            label_space=card.label_space,
            step=tile_microns / slide.scale(),
            field_side=layout.side,
            made=datetime.now(UTC).isoformat(timespec="seconds"),
        )

    def plan(self) -> dict[str, Any]:
        """Everything that decides about the map, so all but the time."""
        values: dict[str, Any] = plain(self)
        del values["made"]
        return values


@dataclass(frozen=True, eq=False)
class TileAnswer:
    """What the map says of one tile."""

    row: int
    column: int
    box: tuple[int, int, int, int]
    """x0, y0, x1, y1 in pixels of level 0."""
    left_out: str | None
    """Why there is no answer, such as “background”; None where there is one."""
    label: str | None = None
    probability: float | None = None
    label_set: tuple[str, ...] | None = None
    attention: float | None = None
    votes: dict[str, float] | None = None


@dataclass(frozen=True, eq=False)
class SlideMap:
    """What a model says of a slide, tile by tile. Tiles that were left out hold zeros; the grid says why they were."""

    about: About
    grid: TissueGrid
    probabilities: np.ndarray  # (rows, columns, k) float32, calibrated
    votes: np.ndarray  # (rows, columns, k) float32: shares of a tile's instances by the class they speak for most
    attention: np.ndarray  # (rows·4, columns·4) float32: times that of an average instance of its field
    label_sets: np.ndarray | None = None  # (rows, columns, k) bool, where the model is calibrated for them

    def __post_init__(self) -> None:
        rows, columns, k = self.grid.rows, self.grid.columns, len(self.label_space)
        across, down = len(self.grid.x_edges) - 1, len(self.grid.y_edges) - 1
        shapes = (down, across), (rows, columns, k), (rows * CELLS, columns * CELLS)
        arrays = (self.grid.state, self.probabilities, self.votes, self.attention, self.label_sets)
        expected = (shapes[0], shapes[1], shapes[1], shapes[2], None if self.label_sets is None else shapes[1])
        if tuple(None if array is None else array.shape for array in arrays) != expected:
            raise InputError("The parts of the map don't fit together.", _NO_MAP)
        for array in arrays:
            if array is not None:
                array.flags.writeable = False

    @property
    def label_space(self) -> LabelSpace:
        return self.about.label_space

    @property
    def classes(self) -> np.ndarray:
        """(rows, columns) int: the most probable class of each tile, −1 where it was left out."""
        return np.where(self.grid.is_tissue, self.probabilities.argmax(axis=2), -1)

    @property
    def probability(self) -> np.ndarray:
        """(rows, columns) float: of the most probable class, 0 where the tile was left out."""
        return np.where(self.grid.is_tissue, self.probabilities.max(axis=2), 0.0)

    @property
    def cell_mm2(self) -> np.ndarray:
        """The area of each tile, (rows, columns)."""
        pixels = np.outer(np.diff(self.grid.y_edges), np.diff(self.grid.x_edges))
        return np.asarray(pixels * (self.about.microns_per_pixel / 1000) ** 2)

    def mm2(self, chosen: np.ndarray | None = None) -> dict[str, float]:
        """The area of each class, in all or where `chosen` (rows, columns; bool or share of the tile) says."""
        area = self.cell_mm2 if chosen is None else self.cell_mm2 * chosen
        classes = self.classes
        return {name: float(area[classes == index].sum()) for index, name in enumerate(self.label_space.names)}

    def shares(self, chosen: np.ndarray | None = None) -> dict[str, float]:
        """The share of each class in the tissue."""
        areas = self.mm2(chosen)
        total = sum(areas.values())
        return {name: area / total if total else 0.0 for name, area in areas.items()}

    @property
    def left_out(self) -> dict[str, int]:
        """How many tiles were left out for which reason."""
        return {words: int((self.grid.state == number).sum()) for number, words in LEFT_OUT.items()}

    @cached_property
    def tile_attention(self) -> np.ndarray:
        """(rows, columns) float: the mean attention in each tile; 1 is that of an average instance of its field."""
        parts = self.attention.reshape(self.grid.rows, CELLS, self.grid.columns, CELLS)
        return np.asarray(parts.mean(axis=(1, 3)))

    def at(self, x: float, y: float) -> TileAnswer | None:
        """What is said of the tile under a point of level 0; None beyond the slide."""
        column = int(np.searchsorted(self.grid.x_edges, x, "right")) - 1
        row = int(np.searchsorted(self.grid.y_edges, y, "right")) - 1
        return self.tile(row, column) if 0 <= row < self.grid.rows and 0 <= column < self.grid.columns else None

    def tile(self, row: int, column: int) -> TileAnswer:
        """What is said of one tile."""
        (x0, x1), (y0, y1) = self.grid.x_edges[column : column + 2].tolist(), self.grid.y_edges[row : row + 2].tolist()
        box = (x0, y0, x1, y1)
        if not self.grid.is_tissue[row, column]:
            return TileAnswer(row, column, box, LEFT_OUT[int(self.grid.state[row, column])])
        names, index = self.label_space.names, int(self.probabilities[row, column].argmax())
        members = None if self.label_sets is None else self.label_sets[row, column]
        return TileAnswer(
            row,
            column,
            box,
            None,
            names[index],
            float(self.probabilities[row, column, index]),
            None if members is None else tuple(name for name, there in zip(names, members, strict=True) if there),
            float(self.tile_attention[row, column]),
            dict(zip(names, self.votes[row, column].tolist(), strict=True)),
        )

    def save(self, folder: Path) -> None:
        """Write everything that `read` needs into one file of the folder."""
        tensors = {"state": self.grid.state, "probabilities": self.probabilities, "votes": self.votes}
        tensors["attention"] = self.attention
        if self.label_sets is not None:
            tensors["label_sets"] = self.label_sets
        write_tensors(folder / FILE, tensors, _KEY, plain(self.about), "The map")

    @classmethod
    def read(cls, folder: Path) -> SlideMap:
        """The map that was saved in a folder; a damaged one is refused."""
        called = f"The map in “{folder.name}”"
        try:
            tensors, described = read_tensors(folder / FILE, _KEY, FILE)
        except ForeignFileError:
            raise InputError(f"{called} is damaged.", _NO_MAP) from None
        about = validated(About, described, called, _NO_MAP)
        numbers = {"probabilities": "f4", "votes": "f4", "attention": "f4", "state": "u1", "label_sets": "?"}
        fitting = {*tensors} - {"label_sets"} == {*numbers} - {"label_sets"}
        if not fitting or any(tensor.dtype != np.dtype(numbers[name]) for name, tensor in tensors.items()):
            raise InputError(f"{called} is damaged.", _NO_MAP)
        if any(tensor.dtype.kind == "f" and not np.isfinite(tensor).all() for tensor in tensors.values()):
            raise InputError(f"{called} holds numbers that are not finite.", _NO_MAP)
        if tensors["state"].ndim != 2 or not np.isin(tensors["state"], [TISSUE, *LEFT_OUT]).all():
            raise InputError(f"{called} is damaged.", _NO_MAP)
        return cls(about, TissueGrid(about.width, about.height, about.step, tensors.pop("state")), **tensors)


def assembled(
    about: About,
    grid: TissueGrid,
    layout: FieldLayout,
    rows: Sequence[tuple[FieldRow, np.ndarray]],
    predictor: Predictor,
) -> SlideMap:
    """The map of the rows of fields, with what each tile got from several fields averaged."""
    shape, k = (grid.rows, grid.columns), len(about.label_space)
    state, fields = grid.state.copy(), np.zeros(shape)
    probabilities, votes, cells = np.zeros((*shape, k)), np.zeros((*shape, k)), np.zeros((*shape, CELLS, CELLS))
    for number, (row, states) in enumerate(rows):
        at = slice(number * layout.step, number * layout.step + len(states))
        state[at] = states
        fields[at] += row.fields
        probabilities[at] += row.probabilities
        votes[at] += row.votes
        cells[at] += row.attention
    count = np.maximum(fields, 1)[:, :, None]
    probabilities, votes, cells = probabilities / count, votes / count, cells / count[:, :, :, None]
    attention = cells.transpose(0, 2, 1, 3).reshape(shape[0] * CELLS, shape[1] * CELLS)
    sets, shown = predictor.card.label_sets, probabilities.astype("f4")
    members = None if sets is None else sets.members(shown) & (state == TISSUE)[:, :, None]
    return SlideMap(about, replace(grid, state=state), shown, votes.astype("f4"), attention.astype("f4"), members)
