"""The maps of the page as layers that can be painted anywhere, and what lies in a region that a person drew."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import cv2
import numpy as np

from bag_generators import Bag
from elimipl.answers.trust import auroc
from elimipl.candidates.labels import LabelSpace
from elimipl.class_marks import class_marks
from elimipl_app.charts.contours import Contour, contours_of
from elimipl_app.charts.map_layer import COLOUR_PAIRS, EVEN, Layer, class_colours, diverging, rising, times_even_share
from elimipl_app.charts.tissue import cells_of
from elimipl_app.explore import texts
from elimipl_app.explore.analysis import (
    BESIDE_ORIGINAL,
    FILLED,
    PREDICTED,
    RUNNER_UP,
    TWO_CLASSES,
    Analysis,
    ViewState,
    Votes,
    class_index,
)

ATTENTION_REACH = 8.0
"""The scale of attention runs from an eighth of an even share to eight times as much, for every picture."""
MEMBER = 0.5
"""A patch belongs to a region when at least this share of it lies inside."""
VEIL, VEIL_COLOUR = 0.75, "rgba(140,135,145,1)"
"""How opaque the grey is that lies over removed cells."""
LEAST_REACH = {"leave_one_out": 0.02, "integrated_gradients": 0.02}
"""Signed scales reach at least this far (probabilities), so that noise stays pale."""
LEAST_SUM = 8.0
"""That of contributions reaches at least what every instance would add to a score of so many logits."""


@dataclass(frozen=True, eq=False)
class Panel:
    """One of the pictures that stand side by side: what is written on it and what is painted."""

    title: str
    layers: tuple[Layer, ...]
    contours: tuple[Contour, ...] = ()


def panels_of(analysis: Analysis, view: ViewState) -> tuple[Panel, ...]:
    """The map; beside it the picture alone, or the maps of the first and the second choice on one scale."""
    if view.panels == TWO_CLASSES:
        pair = [class_index(analysis, choice) for choice in (PREDICTED, RUNNER_UP)]
        names = [analysis.labels.titles[index] for index in pair]
        title = texts.map_title(view.kind, texts.left_and_right(*names))
        views = [replace(view, class_index=index) for index in pair]
        return tuple(_panel(analysis, one, name, title) for one, name in zip(views, names, strict=True))
    shown = _panel(analysis, view)
    return (shown, Panel(texts.ORIGINAL_TITLE, ())) if view.panels == BESIDE_ORIGINAL else (shown,)


def _panel(analysis: Analysis, view: ViewState, title: str = "", bar_title: str = "") -> Panel:
    """A map as it is set: in lines, or filled."""
    layers = layers_of(analysis, view)
    if view.painted == FILLED or view.kind == "vote":
        return Panel(title, tuple(replace(one, title=bar_title) for one in layers) if bar_title else layers)
    called = texts.contour_names(view.kind, analysis.labels.titles[view.class_index])
    return Panel(title, (), tuple(one for layer in layers for one in contours_of(layer, view.colours, called)))


def layers_of(analysis: Analysis, view: ViewState) -> tuple[Layer, ...]:
    """What fills the field of view; nothing when the map is hidden."""
    if view.hidden:
        return ()
    if view.kind == "vote":
        return vote_layers(analysis.votes.beyond(view.threshold), analysis.labels)
    if view.kind == "attention":
        return (attention_layer(analysis.bag, analysis.prediction.attention, view.colours, view.threshold),)
    title = texts.map_title(view.kind, analysis.labels.titles[view.class_index])
    scores = analysis.scores(view.kind, view.class_index)
    if view.kind == "single":
        return (share_layer(analysis.bag, scores, title, view.colours, view.threshold),)
    least = LEAST_REACH.get(view.kind, LEAST_SUM / len(analysis.bag))
    reach = max(float(np.abs(_comparable(analysis, view)).max()), least)
    return (signed_layer(analysis.bag, scores, reach, title, view.colours, view.threshold),)


def _comparable(analysis: Analysis, view: ViewState) -> np.ndarray:
    """The scores whose maps share a scale: of all classes, or of those side by side where each takes its time."""
    if view.kind != "integrated_gradients":
        return analysis.every_score(view.kind)
    shown = {view.class_index, *(class_index(analysis, choice) for choice in (PREDICTED, RUNNER_UP))}
    shown = shown if view.panels == TWO_CLASSES else {view.class_index}
    return np.stack([analysis.scores(view.kind, index) for index in shown])


def map_scores(analysis: Analysis, view: ViewState) -> np.ndarray:
    """One number per patch for clicks, table and bars: the vote's is how sure the patch is alone."""
    if view.kind == "vote":
        return np.asarray(analysis.every_score("single").max(axis=1))
    return analysis.scores(view.kind, view.class_index)


def veil_of(analysis: Analysis, removed: tuple[int, ...]) -> Layer | None:
    """What lies over the cells that were removed; None where patches overlap or none is gone: a cross says it."""
    if not removed or not analysis.in_blocks:
        return None
    gone = np.full(len(analysis.bag), np.nan)
    gone[list(removed)] = 0
    return Layer(*analysis.bag.regions.grid(gone), [(0, VEIL_COLOUR), (1, VEIL_COLOUR)], "")


def region_mask(analysis: Analysis, view: ViewState) -> np.ndarray:
    """Pixels of the field of view that lie in the region a person drew, (H, W) bool."""
    polygons = [np.array(polygon) for polygon in view.region]
    return mask_of(polygons, (analysis.image.height, analysis.image.width), analysis.view.x, analysis.view.y)


def drawn_numbers(analysis: Analysis, view: ViewState) -> RegionNumbers:
    """What the region that a person drew holds of the map that is shown."""
    scores = map_scores(analysis, view)
    return region_numbers(analysis.bag, analysis.prediction.attention, scores, region_mask(analysis, view))


def attention_layer(bag: Bag, attention: np.ndarray, colours: str, threshold: float = 0.0) -> Layer:
    """n·a_j on one logarithmic scale for all pictures, clear at an even share."""
    x_edges, y_edges, times = bag.regions.grid(times_even_share(attention))
    with np.errstate(divide="ignore"):
        cells = np.clip(np.log2(times) / np.log2(ATTENTION_REACH), -1, 1)
    cells = _beyond(cells, max(threshold, np.log2(EVEN) / np.log2(ATTENTION_REACH)))
    ticks = tuple((np.log2(times) / 3, text) for times, text in texts.TIMES_EVEN)
    return Layer(x_edges, y_edges, cells, diverging(colours), texts.TIMES_EVEN_TITLE, ticks=ticks)


def signed_layer(bag: Bag, scores: np.ndarray, reach: float, title: str, colours: str, threshold: float = 0.0) -> Layer:
    """Scores for and against a class, clear at zero."""
    x_edges, y_edges, values = bag.regions.grid(scores)
    ticks = tuple((position, f"{position * reach:+.2g}") for position in (-1, -0.5, 0.5, 1))
    ticks = (*ticks[:2], (0.0, "0"), *ticks[2:])
    return Layer(x_edges, y_edges, _beyond(values / reach, threshold), diverging(colours), title, ticks=ticks)


def share_layer(bag: Bag, shares: np.ndarray, title: str, colours: str, threshold: float = 0.0) -> Layer:
    """Probabilities from 0 to 1."""
    x_edges, y_edges, values = bag.regions.grid(shares)
    ticks = tuple((position, f"{position:.0%}") for position in (0, 0.25, 0.5, 0.75, 1.0))
    scale = rising(COLOUR_PAIRS[colours][1])
    return Layer(x_edges, y_edges, _beyond(values, threshold), scale, title, low=0.0, ticks=ticks)


def vote_layers(votes: Votes, labels: LabelSpace) -> tuple[Layer, ...]:
    """One layer per class: the cells it wins, opaque where it wins clearly."""
    return tuple(
        Layer(
            votes.x_edges,
            votes.y_edges,
            np.where(votes.winner == index, votes.strength, np.nan),
            rising(colour),
            labels.titles[index],
            low=0.0,
        )
        for index, colour in enumerate(class_colours(labels))
    )


def vote_codes(votes: Votes, labels: LabelSpace) -> list[tuple[float, float, str]]:
    """Where on the field of view which class's code is written: x, y and the code."""
    x, y = ((edges[:-1] + edges[1:]) / 2 for edges in (votes.x_edges, votes.y_edges))
    return [(float(x[mark.column]), float(y[mark.row]), labels.codes[mark.label]) for mark in class_marks(votes.winner)]


def vote_shares(votes: Votes, labels: LabelSpace) -> np.ndarray:
    """Share of the covered area that votes for each class, (k,); sums to 1."""
    area = np.outer(np.diff(votes.y_edges), np.diff(votes.x_edges))
    covered = votes.winner >= 0
    won = np.bincount(votes.winner[covered], area[covered], minlength=len(labels))
    return np.asarray(won / won.sum())


class LegendEntry(NamedTuple):
    """One class of the vote or one side of a map in lines: its colour and its share of the area."""

    name: str
    colour: str
    share: float
    stroke: Literal["", "solid", "dash"] = ""
    """How its line is drawn; nothing for what is filled."""


def vote_legend(analysis: Analysis) -> list[LegendEntry]:
    """The classes that won some of the picture, largest share first."""
    labels, shares = analysis.labels, vote_shares(analysis.votes, analysis.labels)
    order = [index for index in np.argsort(-shares, kind="stable").tolist() if shares[index] > 0]
    return [LegendEntry(labels.legend_text(one), class_colours(labels)[one], float(shares[one])) for one in order]


def drawn_contours(panels: tuple[Panel, ...]) -> tuple[Contour, ...]:
    """The lines of the first panel that has some: beside each other they mean the same."""
    return next((panel.contours for panel in panels if panel.contours), ())


def contour_legend(contours: tuple[Contour, ...]) -> list[LegendEntry]:
    """What the lines go around."""
    return [LegendEntry(one.called, one.colour, one.share, "dash" if one.dashed else "solid") for one in contours]


def _beyond(cells: np.ndarray, threshold: float) -> np.ndarray:
    """Cells at least `threshold` away from the middle (or start) of the scale; the others are not painted."""
    return np.where(np.abs(cells) >= threshold, cells, np.nan)


@dataclass(frozen=True)
class RegionNumbers:
    """What a region holds."""

    attention: float
    """Share of the attention, each patch's spread evenly over its area."""
    area: float
    """Share of what the patches cover."""
    patches: int
    """Patches that lie in it for the most part."""
    auroc: float | None
    """How well the scores on the map tell these patches from the others; None where there are none or no others."""


def polygons_of(selection: dict[str, Any]) -> list[np.ndarray]:
    """The boxes and free shapes of a Plotly selection as polygons (v, 2)."""
    boxes = [
        np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], dtype=np.float64)
        for (x0, x1), (y0, y1) in ((box["x"], box["y"]) for box in selection.get("box", ()))
    ]
    shapes = [np.column_stack([shape["x"], shape["y"]]).astype(np.float64) for shape in selection.get("lasso", ())]
    return [polygon for polygon in (*boxes, *shapes) if len(polygon) >= 3]


def mask_of(polygons: list[np.ndarray], shape: tuple[int, int], x: int, y: int) -> np.ndarray:
    """Pixels of a field of view at (x, y) that lie in the polygons, (H, W) bool."""
    mask = np.zeros(shape, dtype=np.uint8)
    for polygon in polygons:
        corners = np.floor(np.clip(polygon - (x, y), -30_000, 30_000)).astype(np.int32)
        cv2.fillPoly(mask, [corners], 1)
    return mask.astype(bool)


def shares_inside(bag: Bag, mask: np.ndarray) -> np.ndarray:
    """Share of each patch that lies in the mask, (n,)."""
    if (cells := cells_of(bag.regions)) is not None:
        return np.asarray(cells.totals(mask) / cells.totals(np.ones_like(mask)))
    shares = np.zeros(len(bag))
    for index in range(len(bag)):
        x0, y0, x1, y1 = bag.regions.box(index)
        own = bag.regions.mask(index)[y0:y1, x0:x1]
        shares[index] = mask[y0:y1, x0:x1][own].mean() if own.any() else 0.0
    return shares


def members_of(bag: Bag, mask: np.ndarray) -> set[int]:
    """The patches that lie in the mask for the most part."""
    return set(np.flatnonzero(shares_inside(bag, mask) >= MEMBER).tolist())


def region_numbers(bag: Bag, attention: np.ndarray, scores: np.ndarray, mask: np.ndarray) -> RegionNumbers:
    """Attention and area inside a mask, and how well `scores` find it."""
    inside = shares_inside(bag, mask)
    members = inside >= MEMBER
    covered = np.isfinite(bag.regions.paint(np.zeros(len(bag))))
    return RegionNumbers(
        attention=float(attention @ inside),
        area=float((mask & covered).sum() / max(covered.sum(), 1)),
        patches=int(members.sum()),
        auroc=auroc(members, scores),
    )
