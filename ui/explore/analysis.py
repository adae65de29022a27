"""Everything the page knows about one field of view, gathered once and handed to every panel."""

from dataclasses import dataclass

import numpy as np

from bag_generators import Bag, TissueImage
from bag_generators.tissue.phantom import instance_truth
from bag_generators.tissue.quality import measure
from bag_generators.tissue.samples import Sample
from elimipl.labels import LabelSpace
from elimipl.predictor import Prediction, Predictor
from elimipl.scope import Verdict, judge
from ui.frame.cached import bag_of, explanation
from ui.frame.log import model_name, picture_name, timed


@dataclass(frozen=True, eq=False)
class View:
    """The part of a picture the model sees, and where its upper left corner lies in the whole (px)."""

    image: TissueImage
    x: int = 0
    y: int = 0


@dataclass(frozen=True, eq=False)
class Analysis:
    """One field of view, its bag, what the crowd and the model say about it, and whether to believe it."""

    view: View
    sample: Sample | None
    bag: Bag
    predictor: Predictor
    prediction: Prediction
    candidates: np.ndarray
    """(k,) bool"""
    verdict: Verdict

    @property
    def image(self) -> TissueImage:
        return self.view.image

    @property
    def labels(self) -> LabelSpace:
        return self.prediction.label_space

    @property
    def true_index(self) -> int | None:
        return true_index(self.labels, self.sample)

    @property
    def truth(self) -> np.ndarray | None:
        """Which instances carry the class, (n,) bool; known for phantoms only."""
        mask = self.sample.truth() if self.sample else None
        if mask is None or mask.shape != self.bag.regions.shape:
            return None
        return instance_truth(self.bag, mask)

    def scores(self, source: str, class_index: int) -> np.ndarray:
        """One score per instance, (n,): attention, or what the instance contributes to a class."""
        if source == "attention":
            return self.prediction.attention
        return explanation(source, self.predictor, self.bag)[:, class_index]


def true_index(labels: LabelSpace, sample: Sample | None) -> int | None:
    """Column of the true label; None where nobody knows it or the model does not know the class."""
    if sample is None or sample.label not in labels.names:
        return None
    return labels.index(sample.label)


def analyse(view: View, sample: Sample | None, predictor: Predictor, candidates: np.ndarray) -> Analysis:
    """Make the bag as the model's card asks for it, predict, and check whether the picture is in scope."""
    bag = bag_of(view.image, predictor.card.generator, **predictor.card.generator_params)
    with timed("predict", **picture_name(view.image.sha256), **model_name(predictor.card)):
        prediction = predictor.predict(bag)
    verdict = judge(measure(view.image).numbers(), predictor, bag, prediction)
    return Analysis(view, sample, bag, predictor, prediction, candidates, verdict)
