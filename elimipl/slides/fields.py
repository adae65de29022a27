"""Fields: squares of tiles that are one bag together, and what a tile gets from the fields it lies in.

A generator that works on the picture's own pixels gives a field of 3×3 tiles the instances of all of them; fields
overlap by a tile, and what a tile gets from several is averaged. For a generator that sees a small copy of what it is
given, a tile is a field by itself. Tiles that are left out add no instances. Every tile is read by itself, as those
were that the models learned from: its instances see nothing beyond it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import torch

from bag_generators.base.threads import one_thread
from bag_generators.generator import Generator
from bag_generators.regions import Regions
from elimipl.answers.predictor import Predictor
from elimipl.cards.calibration import temper
from elimipl.model.attention import softmax_by_bag

CELLS = 4
"""Attention is kept for so many parts along a side of a tile."""
_SAMPLES = 4  # points along a side of such a part: of each of Deep's cells one
_FIELDS_AT_ONCE = 32  # 74,000 cells; more would be no faster and take more memory


@dataclass(frozen=True)
class FieldLayout:
    """How fields lie on the grid of tiles: `side` tiles wide, a new one every `step` tiles."""

    side: int
    step: int

    @classmethod
    def of(cls, generator: Generator) -> FieldLayout:
        """The layout for the bags of a generator."""
        return cls(3, 2) if generator.sees == "original" else cls(1, 1)

    def count(self, tiles: int) -> int:
        """Fields along a side of so many tiles; the last may reach beyond it."""
        return max(1, math.ceil((tiles - self.side) / self.step) + 1)

    def tiles(self, field: int, tiles: int) -> range:
        """The tiles of a field along a side of so many."""
        return range(field * self.step, min(field * self.step + self.side, tiles))


@dataclass(frozen=True, eq=False)
class TileReading:
    """What the model says of the n instances of one tile, before they are put together.

    Of a network that reads an instance together with its bag these are the features, still to be read.
    """

    regions: Regions
    scores: np.ndarray | None  # (n,) float64: what eq. 3 takes the softmax of
    votes: np.ndarray | None  # (n, k) float64: W_cᵀh_j + b_c of eq. 4
    features: np.ndarray | None  # (n, d) float32

    def __len__(self) -> int:
        return len(self.regions)


def read_tile(predictor: Predictor, features: np.ndarray, regions: Regions, layout: FieldLayout) -> TileReading:
    """Read a tile's instances as far as it can be done without the rest of its field."""
    if layout.side > 1 and not predictor.network.is_local:
        return TileReading(regions, None, None, features)
    scores, votes = predictor.instance_logits(features)
    return TileReading(regions, scores.numpy(), votes.numpy(), None)


@dataclass(frozen=True, eq=False)
class FieldRow:
    """Sums over the fields of one row of them, for the `height` rows of tiles that they cover."""

    fields: np.ndarray  # (height, columns) float64: in how many fields a tile lies
    probabilities: np.ndarray  # (height, columns, k) float64, calibrated
    votes: np.ndarray  # (height, columns, k) float64: shares of a tile's instances by the class they speak for most
    attention: np.ndarray  # (height, columns, CELLS, CELLS) float64, times that of an average instance of the field


def read_fields(
    predictor: Predictor, rows: Mapping[int, Mapping[int, TileReading]], columns: int, layout: FieldLayout
) -> FieldRow:
    """The fields of a row of fields: `rows` are its rows of tiles by number, each with its readings by column."""
    first, height, classes = min(rows), len(rows), len(predictor.card.label_space)
    fields = [_members(rows, layout.tiles(number, columns)) for number in range(layout.count(columns))]
    fields = [members for members in fields if members]
    out = FieldRow(
        np.zeros((height, columns)),
        np.zeros((height, columns, classes)),
        np.zeros((height, columns, classes)),
        np.zeros((height, columns, CELLS, CELLS)),
    )
    for start in range(0, len(fields), _FIELDS_AT_ONCE):
        _add(predictor, fields[start : start + _FIELDS_AT_ONCE], first, out)
    return out


def _add(predictor: Predictor, fields: list[list[tuple[int, int, TileReading]]], first: int, out: FieldRow) -> None:
    """Add what some fields say of their tiles; `first` is the number of the row's first row of tiles."""
    tiles = [(number, tile) for number, members in enumerate(fields) for tile in members]
    sizes = np.array([len(tile) for _, (_, _, tile) in tiles])
    field_of = np.repeat([number for number, _ in tiles], sizes)
    tile_of = np.repeat(np.arange(len(tiles)), sizes)
    scores, votes = _joined(predictor, [tile for _, (_, _, tile) in tiles], field_of, len(fields))
    probabilities, shares, attention = _put_together(predictor, scores, votes, field_of, tile_of)
    ends = np.cumsum(sizes)
    for place, (_, (row, column, tile)) in enumerate(tiles):
        at = (row - first, column)
        out.fields[at] += 1
        out.probabilities[at] += probabilities[place]
        out.votes[at] += shares[place]
        out.attention[at] += _painted(tile.regions, attention[ends[place] - sizes[place] : ends[place]])


def _members(
    rows: Mapping[int, Mapping[int, TileReading]], columns: Iterable[int]
) -> list[tuple[int, int, TileReading]]:
    wanted = list(columns)
    return [(row, column, tiles[column]) for row, tiles in rows.items() for column in wanted if column in tiles]


def _joined(
    predictor: Predictor, tiles: list[TileReading], field_of: np.ndarray, fields: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Scores (N,) and votes (N, k) of the instances of all fields one after the other."""
    if tiles[0].features is not None:
        return predictor.instance_logits(np.concatenate([tile.features for tile in tiles]), field_of, fields)
    scores = np.concatenate([tile.scores for tile in tiles])
    return torch.from_numpy(scores), torch.from_numpy(np.concatenate([tile.votes for tile in tiles]))


def _put_together(
    predictor: Predictor, scores: torch.Tensor, votes: torch.Tensor, field_of: np.ndarray, tile_of: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each tile in each field: calibrated probabilities and shares of votes; of each instance its attention.

    A tile's logits are the part of the field's (eq. 4) that its own instances make, with their attention scaled to sum
    to one: what the field's bag says of this tile.
    """
    fields, tiles = torch.from_numpy(field_of), torch.from_numpy(tile_of)
    count = int(tile_of[-1]) + 1
    with torch.no_grad(), one_thread():
        within_tile = softmax_by_bag(scores, tiles, count)
        logits = votes.new_zeros(count, votes.shape[1]).index_add(0, tiles, within_tile[:, None] * votes)
        raw = predictor.network.energies(logits).softmax(1).numpy()
        attention = softmax_by_bag(scores, fields, int(field_of[-1]) + 1).numpy()
    shares = np.zeros((count, votes.shape[1]))
    np.add.at(shares, (tile_of, votes.argmax(1).numpy()), 1)
    shares /= np.bincount(tile_of, minlength=count)[:, None]
    return temper(raw, predictor.card.temperature), shares, attention * np.bincount(field_of)[field_of]


def _painted(regions: Regions, scores: np.ndarray) -> np.ndarray:
    """Scores of instances as (CELLS, CELLS) means over the parts of a tile; 0 where no instance lies."""
    points = regions.paint(scores, (CELLS * _SAMPLES,) * 2).reshape(CELLS, _SAMPLES, CELLS, _SAMPLES)
    covered = np.isfinite(points).sum(axis=(1, 3))
    return np.asarray(np.nansum(points, axis=(1, 3)) / np.maximum(covered, 1))
