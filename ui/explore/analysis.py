"""Everything the page knows about one field of view, gathered once and handed to every panel."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from bag_generators import Bag, TissueImage
from bag_generators.scale import ScaleDecision
from bag_generators.tissue.phantom import instance_truth
from bag_generators.tissue.quality import measure_for
from bag_generators.tissue.samples import Sample
from elimipl.answer import Answer
from elimipl.bag_parts import blocks_of
from elimipl.explain import without_instances
from elimipl.labels import LabelSpace
from elimipl.predictor import Prediction, Predictor
from elimipl.scope import Verdict, judge
from ui.frame.cached import bag_of, explanation, gradients
from ui.frame.log import model_name, picture_name, timed


@dataclass(frozen=True, eq=False)
class View:
    """The part of a picture the model sees, and where its upper left corner lies in the whole (px)."""

    image: TissueImage
    x: int = 0
    y: int = 0
    whole: TissueImage | None = None
    """The picture the field of view was cut from; None where the field is the whole picture."""
    scale: ScaleDecision | None = None
    """The scale that was decided on for the whole picture."""

    @property
    def picture(self) -> TissueImage:
        """The whole picture; its sha256 is that of the file."""
        return self.image if self.whole is None else self.whole


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


@dataclass(frozen=True, eq=False)
class Part:
    """Some instances of a bag, as a model reads them."""

    features: np.ndarray
    generator: str
    params: Mapping[str, Any]


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
        return true_index(self.labels, self.sample.label if self.sample else self.true_label)

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

    def answer_without(self, removed: Collection[int]) -> tuple[Prediction, Answer]:
        """What the model says of the instances that stay, and how far that can be trusted, judged by them alone."""
        if not removed:
            given = Answer.of(self.predictor, self.prediction, self.verdict)
            return self.prediction, given.read_at(self.view.scale)
        kept = np.setdiff1d(np.arange(len(self.bag)), list(removed))
        prediction = without_instances(self.predictor, self.bag, removed)
        part = Part(self.bag.features[kept], self.bag.generator, self.bag.params)
        verdict = judge(measure_for(part.generator, self.image).numbers(), self.predictor, part, prediction)
        return prediction, Answer.of(self.predictor, prediction, verdict).read_at(self.view.scale)

    def with_candidates(self, candidates: CandidateSet | None) -> Analysis:
        """The same with another candidate set."""
        return replace(self, candidates=candidates)

    def scores(self, source: str, class_index: int) -> np.ndarray:
        """One score per instance, (n,): attention, or what the instance contributes to a class."""
        if source == "attention":
            return self.prediction.attention
        if source == "integrated_gradients":
            return gradients(self.predictor, self.bag, class_index)
        return self.every_score(source)[:, class_index]

    def every_score(self, source: str) -> np.ndarray:
        """What each instance means for each class, (n, k); `source` is a function of `elimipl.explain`."""
        return explanation(source, self.predictor, self.bag)


def true_index(labels: LabelSpace, label: str | None) -> int | None:
    """Column of the true label; None where nobody knows it or the model does not know the class."""
    return labels.index(label) if label in labels.names else None


def analyse(
    view: View,
    sample: Sample | None,
    predictor: Predictor,
    candidates: CandidateSet | None = None,
    true_label: str | None = None,
) -> Analysis:
    """Make the bag as the model's card asks for it, predict, and check whether the picture is in scope."""
    bag = bag_of(view.image, predictor.card.generator, **predictor.card.generator_params)
    with timed("predict", **picture_name(view.image.sha256), **model_name(predictor.card)):
        prediction = predictor.predict(bag)
    verdict = judge(measure_for(bag.generator, view.image).numbers(), predictor, bag, prediction)
    return Analysis(view, sample, bag, predictor, prediction, candidates, verdict, true_label)
