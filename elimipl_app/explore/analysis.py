"""What the page knows about one field of view, and what is set: panels draw it, and files repeat it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import streamlit as st

from bag_generators import Bag, TissueImage
from bag_generators.tissue.phantom import instance_truth
from bag_generators.tissue.quality import measure_for
from bag_generators.tissue.samples import Sample
from elimipl.answers.answer import Answer, Verdict, judge
from elimipl.answers.bag_parts import blocks_of
from elimipl.answers.predictor import FeatureBag, Instances, Prediction, Predictor
from elimipl.candidates.labels import LabelSpace
from elimipl.cards.card import Card
from elimipl_app.charts.map_layer import COLOUR_PAIRS
from elimipl_app.charts.tissue import cells_of
from elimipl_app.inputs.picture import View
from elimipl_app.server.log import model_name, picture_name, timed
from elimipl_app.shell.cached import bag_of, explanation, gradients

MAPS = ("attention", "vote", "contribution", "leave_one_out", "single", "integrated_gradients")
OF_A_CLASS = MAPS[2:]
_MEASURED_AS = {"attention": "attention", "contribution": "contribution", "vote": "single"}
"""Maps of the page by what they are called on a card; the “vote” measured there is that for the answer."""
MOST_FOR_GRADIENTS = 6_000  # instances: integrated gradients of more take minutes and gigabytes
PREDICTED, RUNNER_UP = "first", "second"
"""Stand for the most and the second most probable class, whichever they are in the picture at hand."""
ONE, BESIDE_ORIGINAL, TWO_CLASSES = PANELS = ("one", "original", "classes")
CONTOURS, FILLED = WAYS_TO_PAINT = ("contours", "filled")
START_OPACITY = 0.75

Source = Literal["sample", "crowd", "hand"]
"""Who named candidate labels: they came with a drawing, simulated annotators did, or the person at the page."""
OF_SAMPLE: Source = "sample"
BY_CROWD: Source = "crowd"
BY_HAND: Source = "hand"


@dataclass(frozen=True, eq=False)
class CandidateSet:
    """The labels that a picture may show, and who says so."""

    members: np.ndarray
    """(k,) bool, at least one"""
    source: Source


class Votes(NamedTuple):
    """Which class each cell of a map votes for, and how clearly."""

    x_edges: np.ndarray  # (columns + 1,)
    y_edges: np.ndarray  # (rows + 1,)
    winner: np.ndarray  # (rows, columns) int, −1 where nothing is painted
    strength: np.ndarray  # (rows, columns) from 0, a tie of all classes, to 1

    def beyond(self, threshold: float) -> Votes:
        """Only those that are at least so clear."""
        return self._replace(winner=np.where(self.strength >= threshold, self.winner, -1))


def votes_of(bag: Bag, single: np.ndarray) -> Votes:
    """The winners by what each instance says alone, (n, k); where patches overlap by their mean."""
    if (cells := cells_of(bag.regions)) is not None:
        x_edges, y_edges, shares = cells.x_edges, cells.y_edges, single[cells.numbers]
    else:
        grids = [bag.regions.grid(column) for column in single.T]
        x_edges, y_edges = grids[0][:2]
        shares = np.stack([values for _, _, values in grids], axis=-1)
    chance, best = 1 / single.shape[1], np.nan_to_num(shares)
    winner = np.where(np.isfinite(shares[..., 0]), best.argmax(axis=-1), -1)
    return Votes(x_edges, y_edges, winner, (best.max(axis=-1) - chance) / (1 - chance))


@dataclass(frozen=True, eq=False)
class Analysis:
    """One field of view, its bag, what people and the model say about it, and whether to believe it."""

    view: View
    sample: Sample | None
    bag: Bag
    predictor: Predictor
    prediction: Prediction
    candidates: CandidateSet | None
    """None until somebody has named some: nobody has labelled an upload."""
    verdict: Verdict
    true_label: str | None = None
    """Of a picture that is no sample of ours, where somebody knows it."""

    @property
    def image(self) -> TissueImage:
        return self.view.image

    @property
    def labels(self) -> LabelSpace:
        return self.prediction.label_space

    @property
    def true_index(self) -> int | None:
        """Column of the true label; None where nobody knows it or the model does not know the class."""
        label = self.sample.label if self.sample else self.true_label
        return self.labels.index(label) if label in self.labels.names else None

    @cached_property
    def truth(self) -> np.ndarray | None:
        """Which instances carry the class, (n,) bool; known for phantoms only, and read from a file."""
        mask = self.sample.truth() if self.sample else None
        if mask is None or mask.shape != self.bag.regions.shape:
            return None
        return instance_truth(self.bag, mask)

    @property
    def candidate_names(self) -> tuple[str, ...]:
        """The candidate labels by name; none where nobody has named any."""
        chosen = () if self.candidates is None else np.flatnonzero(self.candidates.members)
        return tuple(self.labels.names[index] for index in chosen)

    @cached_property
    def blocks(self) -> np.ndarray:
        """The block of each instance, (n,) int: what is taken away together."""
        return blocks_of(self.bag)

    @cached_property
    def in_blocks(self) -> bool:
        """Whether several instances go together, because each has seen those around it."""
        return bool(self.blocks.max() + 1 < len(self.bag))

    def whole_blocks(self, instances: Collection[int]) -> set[int]:
        """The instances and all others of their blocks."""
        return set(np.flatnonzero(np.isin(self.blocks, self.blocks[list(instances)])).tolist())

    def crosses(self, removed: Sequence[int]) -> np.ndarray:
        """Where removed instances are crossed out, (m, 2) x, y in the field of view: once per block."""
        _, block = np.unique(self.blocks[list(removed)], return_inverse=True)
        middles = np.zeros((block.max(initial=-1) + 1, 2))
        np.add.at(middles, block, [self.bag.regions.centre(one) for one in removed])
        return np.asarray(middles / np.bincount(block)[:, None])

    def answer_without(self, removed: Sequence[int]) -> tuple[Prediction, Answer]:
        """What the model says of the instances that stay, and how far that can be trusted, judged by them alone."""
        prediction, verdict = self.prediction, self.verdict
        if removed:
            gone = np.array(sorted(removed), dtype=np.int64).tobytes()
            prediction, verdict = predicted(self.image, self.bag, self.predictor, gone)
        return prediction, Answer.of(self.predictor, prediction, verdict).read_at(self.view.scale)

    def answer_within(self, inside: Collection[int]) -> Answer:
        """What the model says of these instances alone: of a lens, from cells that were read with the whole."""
        everything = np.arange(len(self.bag))
        return self.answer_without(everything[~np.isin(everything, list(inside))].tolist())[1]

    @cached_property
    def votes(self) -> Votes:
        """The class that each place of the field of view votes for."""
        return votes_of(self.bag, self.every_score("single"))

    def scores(self, source: str, class_index: int) -> np.ndarray:
        """One score per instance, (n,): attention, or what the instance contributes to a class."""
        if source == "attention":
            return self.prediction.attention
        if source == "integrated_gradients":
            return gradients(self.predictor, self.bag, class_index)
        return self.every_score(source)[:, class_index]

    def every_score(self, source: str) -> np.ndarray:
        """What each instance means for each class, (n, k); `source` is a function of `elimipl.answers.explain`."""
        return explanation(source, self.predictor, self.bag)


@st.cache_resource(max_entries=256, show_spinner=False)
def _predicted(
    picture: str, microns: float | None, model: str, gone: bytes, _image: TissueImage, _bag: Bag, _predictor: Predictor
) -> tuple[Prediction, Verdict]:
    kept: Instances = _bag
    if gone:
        rows = np.delete(_bag.features, np.frombuffer(gone, np.int64), axis=0)
        kept = FeatureBag(rows, _bag.generator, _bag.params)
    with timed("predict", **picture_name(picture), **model_name(_predictor.card)):
        prediction = _predictor.predict(kept)
    return prediction, judge(_quality(picture, microns, _bag.generator, _image), _predictor, kept, prediction)


@st.cache_resource(max_entries=256, show_spinner=False)
def _quality(picture: str, microns: float | None, generator: str, _image: TissueImage) -> Mapping[str, float]:
    return measure_for(generator, _image).numbers()


def predicted(image: TissueImage, bag: Bag, predictor: Predictor, gone: bytes = b"") -> tuple[Prediction, Verdict]:
    """Prediction and checks of a field of view, worked out once; `gone` are the numbers of removed instances, int64."""
    return _predicted(image.sha256, image.microns_per_pixel, predictor.card.fingerprint, gone, image, bag, predictor)


def analyse(
    view: View,
    sample: Sample | None,
    predictor: Predictor,
    candidates: CandidateSet | None = None,
    true_label: str | None = None,
) -> Analysis:
    """Make the bag as the model's card asks for it, predict, and check whether the picture is in scope."""
    bag = bag_of(view.image, predictor.card.generator, **predictor.card.generator_params)
    prediction, verdict = predicted(view.image, bag, predictor)
    return Analysis(view, sample, bag, predictor, prediction, candidates, verdict, true_label)


@dataclass(frozen=True)
class ViewState:
    """The map and how it is painted, and what was taken out of the bag.

    It says all there is to say about one screen beside the analysis itself, which holds picture, field, model and
    candidates.
    """

    kind: str = MAPS[0]
    painted: str = CONTOURS
    """Lines around what the map points at, or every cell in its colour; the vote is always filled."""
    class_index: int = 0
    """The class the map is about; attention and vote are about all of them."""
    opacity: float = START_OPACITY
    colours: str = next(iter(COLOUR_PAIRS))
    threshold: float = 0.0
    """Cells nearer to the middle of the colour scale than this share of it stay clear."""
    hidden: bool = False
    outlined: bool = False
    panels: str = ONE
    """The map alone, the picture without it beside it, or the maps of the first and the second choice."""
    region: tuple[tuple[tuple[float, float], ...], ...] = ()
    """Polygons that a person drew, in pixels of the whole picture."""
    raw: bool = False
    """Whether the bars show what the network gives instead of calibrated probabilities."""
    removed: tuple[int, ...] = ()


_SHOWN = "shown_analysis"


def keep_shown(analysis: Analysis) -> None:
    """Note what is on the page, for `shown_analysis`."""
    st.session_state[_SHOWN] = analysis


def shown_analysis() -> Analysis:
    """What is on the page, for callbacks: Streamlit keeps earlier ones, and whatever they hold, until a visit ends."""
    shown: Analysis = st.session_state[_SHOWN]
    return shown


def shown_now(analysis: Analysis) -> ViewState:
    """The settings of this visitor; what was never set has its default. Downloads are built with it, too."""
    state = st.session_state
    kind, colours, panels = str(state.get("map")), str(state.get("colours")), str(state.get("beside"))
    kind = kind if kind in maps_of(analysis) else first_map_of(analysis.predictor.card)
    return ViewState(
        kind=kind,
        painted=FILLED if state.get("painted") == FILLED else CONTOURS,
        class_index=class_index(analysis, state.get("map_class")),
        opacity=float(state.get("opacity", START_OPACITY)),
        colours=colours if colours in COLOUR_PAIRS else next(iter(COLOUR_PAIRS)),
        threshold=float(state.get("threshold", 0.0)),
        hidden=bool(state.get("hidden", False)),
        outlined=bool(state.get("outlines", False)),
        panels=panels if panels in panels_for(kind) else ONE,
        region=drawn_region(analysis),
        raw=bool(state.get("raw", False)),
        removed=removed_patches(analysis),
    )


def maps_of(analysis: Analysis) -> tuple[str, ...]:
    """The maps that can be made of a bag of this size."""
    return MAPS if len(analysis.bag) <= MOST_FOR_GRADIENTS else MAPS[:-1]


def first_map_of(card: Card) -> str:
    """The map to open with: the one measured best against what people outlined, else what speaks for the answer.

    A measured map that finds less than the dark places of a picture do is no evidence, and does not count.
    """
    measured = card.first_map
    if measured is None or measured.auroc <= measured.darkness:
        return "contribution"
    found = {kind: measured.others[name] for name, kind in _MEASURED_AS.items() if name in measured.others}
    return _MEASURED_AS.get(measured.name) or max(found, key=found.__getitem__, default="contribution")


def panels_for(kind: str) -> tuple[str, ...]:
    """What can be shown with a map; two classes only with a map of a class."""
    return PANELS if kind in OF_A_CLASS else PANELS[:2]


def class_index(analysis: Analysis, chosen: str | None) -> int:
    """Column of the class a map is about: a name, or the first or second choice of the model."""
    if chosen in analysis.labels.names:
        return analysis.labels.index(chosen)
    if chosen == RUNNER_UP:
        return int(np.argsort(-analysis.prediction.raw, kind="stable")[1])
    return analysis.prediction.index


def bag_key(analysis: Analysis) -> str:
    """Names the bag at hand: another picture, field, scale, generator or setting of it has another key."""
    view, bag = analysis.view, analysis.bag
    field = f"{view.x}-{view.y}-{view.image.width}-{view.image.height}-{view.image.microns_per_pixel}"
    return f"{view.picture.sha256[:16]}-{field}-{bag.generator}-{'-'.join(map(str, bag.params.values()))}"


def removed_patches(analysis: Analysis) -> tuple[int, ...]:
    """The patches taken out of this bag; all of them count as none, for an empty bag has no answer."""
    patches = _of_bags("removed").get(bag_key(analysis), ())
    return () if len(patches) >= len(analysis.bag) else patches


def set_removed(of_bag: str, patches: Iterable[int]) -> None:
    """Take exactly these patches out of the bag whose `bag_key` is given, and none out of any other."""
    _keep("removed", of_bag, tuple(sorted(set(patches))))


def drawn_region(analysis: Analysis) -> tuple[tuple[tuple[float, float], ...], ...]:
    """Polygons in pixels of the whole picture that a person drew on this bag; empty where there are none."""
    return _of_bags("region").get(bag_key(analysis), ())


def set_region(of_bag: str, polygons: Iterable[np.ndarray]) -> None:
    """Keep the region a person drew: polygons (v, 2)."""
    _keep("region", of_bag, tuple(tuple((float(x), float(y)) for x, y in polygon) for polygon in polygons))


MOST_BAGS = 32
"""Bags of one visit whose removed patches and regions are remembered."""


def _of_bags(what: str) -> dict[str, Any]:
    return st.session_state.setdefault(what, {})


def _keep(what: str, of_bag: str, value: tuple[Any, ...]) -> None:
    """Remember it for this bag alone; it is there again when a person comes back to the picture."""
    kept = _of_bags(what)
    kept.pop(of_bag, None)
    if value:
        kept[of_bag] = value
    while len(kept) > MOST_BAGS:
        kept.pop(next(iter(kept)))
