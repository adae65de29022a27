"""From a fitted network to a model that can be used, kept and shown: the one way for commands, pages and scripts.

Measure and calibrate on held-out bags, derive the limits of the scope checks, write all of it on the card.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from bag_generators.base.errors import InputError
from bag_generators.base.storage import pack_tensors
from elimipl.answers.acceptance import KnownBags
from elimipl.answers.predictor import Predictor
from elimipl.candidates.crowd import Candidates
from elimipl.cards.calibration import Calibration, Reliability, calibrate, count_reliability, temper
from elimipl.cards.card import Acceptance, Accuracy, CandidateScheme, Card, TrainingData, Trust, check_id, usual_id
from elimipl.cards.conformal import (
    CANDIDATE_SETS,
    Conformal,
    fit_conformal,
    left_out_members,
    measure_coverage,
)
from elimipl.cards.files import model_files, sha256_of, write_model
from elimipl.cards.limits import Limits, derive_limits
from elimipl.datasets.dataset import BagDataset
from elimipl.datasets.pictures import NO_PICTURES, PHANTOMS, pictures_of
from elimipl.datasets.shipped import generator_files, picture_qualities
from elimipl.training.loop import Fitted

LEFT_OUT = "each tenth of them left out in turn"


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What fitted models said about m bags they had not learned from."""

    probabilities: np.ndarray  # (m, k) as the head gives them
    labels: np.ndarray  # (m,) −1 = unknown
    called: str
    """What the bags are, as the end of a sentence."""
    candidates: np.ndarray | None = None  # (m, k) bool
    groups: np.ndarray | None = None  # (m,) equal for outputs about the same picture

    def where(self, chosen: np.ndarray) -> HeldOut:
        """The outputs for some of the bags."""
        return replace(
            self,
            probabilities=self.probabilities[chosen],
            labels=self.labels[chosen],
            candidates=None if self.candidates is None else self.candidates[chosen],
            groups=None if self.groups is None else self.groups[chosen],
        )

    def tempered(self, temperature: float) -> HeldOut:
        """The same with calibrated probabilities."""
        return replace(self, probabilities=temper(self.probabilities, temperature))


@dataclass(frozen=True, eq=False)
class Measured:
    """What was measured for a card; what is unknown is None."""

    accuracy: Accuracy | None = None
    calibration: Calibration | None = None
    conformal: Conformal | None = None
    conformal_by_candidates: Conformal | None = None
    reliability: Reliability | None = None

    def entries(self) -> dict[str, Any]:
        """The entries of the card by name."""
        return dict(vars(self))


def measure_model(
    outputs: HeldOut,
    accuracy: Accuracy | None = None,
    reported: HeldOut | None = None,
    shared_threshold: bool = False,
) -> Measured:
    """Calibrate and fit label sets on `outputs`, and measure them on `reported`: bags that nothing is fitted on.

    Without `reported` the coverage is that of left-out tenths of `outputs`, and accuracy and reliability are those on
    `outputs`. Without any true label there are label sets by candidates only, and nobody knows their coverage.
    With a `shared_threshold`, which takes `reported`, label sets are smaller and keep their promise on average over
    the classes only (`elimipl.cards.conformal`).
    """
    known = outputs.where(outputs.labels >= 0)
    calibration = calibrate(known.probabilities, known.labels, outputs.called) if len(known.labels) else None
    temperature = 1.0 if calibration is None else calibration.temperature
    outputs, known = outputs.tempered(temperature), known.tempered(temperature)
    seen = known if reported is None else reported.where(reported.labels >= 0).tempered(temperature)
    if accuracy is None and len(seen.labels):
        right = seen.probabilities.argmax(axis=1) == seen.labels
        accuracy = Accuracy(float(right.mean()), len(right), seen.called)
    return Measured(
        accuracy,
        calibration,
        _sets(known, known.labels, seen, reported is None, shared_threshold) if len(known.labels) else None,
        _sets_by_candidates(outputs, seen, reported is None),
        count_reliability(seen.probabilities, seen.labels, seen.called) if len(seen.labels) else None,
    )


def _sets(outputs: HeldOut, labels: np.ndarray, seen: HeldOut, are_same: bool, shared: bool = False) -> Conformal:
    """Label sets fitted by `labels`, true or not, with their coverage of the true labels of `seen`."""
    fitted = fit_conformal(outputs.probabilities, labels, outputs.called, outputs.groups, shared)
    if not len(seen.labels):
        return fitted
    if not are_same:
        coverage = measure_coverage(fitted.members(seen.probabilities), seen.labels, seen.called)
    else:
        known = outputs.labels >= 0
        members = left_out_members(outputs.probabilities, labels, outputs.groups)[known]
        coverage = measure_coverage(members, outputs.labels[known], f"{seen.called}, {LEFT_OUT}")
    return replace(fitted, coverage=coverage)


def _sets_by_candidates(outputs: HeldOut, seen: HeldOut, are_same: bool) -> Conformal | None:
    """None where every candidate set holds one label, which is the true one, or all, which says nothing."""
    if outputs.candidates is None or not (outputs.candidates.sum(axis=1) > 1).any():
        return None
    outputs = outputs.where(outputs.candidates.sum(axis=1) < outputs.candidates.shape[1])
    if outputs.candidates is None or not len(outputs.candidates):
        return None
    assumed = np.where(outputs.candidates, outputs.probabilities, -1.0).argmax(axis=1)  # the most probable of each
    return replace(_sets(outputs, assumed, seen, are_same), fitted_by=CANDIDATE_SETS)


HELD_OUT = "held-out bags of other pictures than the training bags"


@dataclass(frozen=True, eq=False)
class Finished:
    """A model ready for use, and the content of its weights file."""

    fitted: Fitted
    predictor: Predictor
    weights: bytes

    @property
    def card(self) -> Card:
        """What is known about the model."""
        return self.predictor.card

    def with_trust(self, trust: Trust) -> Finished:
        """The same model, with what was measured about its explanations on the card."""
        known = self.predictor
        return replace(self, predictor=known.with_card(replace(known.card, trust=trust)))

    def files(self) -> dict[str, bytes]:
        """What `save` would write, by file name, without a disk."""
        return model_files(self.card, self.weights)

    def save(self, folder: Path) -> Path:
        """Write `<id>.safetensors` and `<id>.json`, each all or nothing, the card last; returns its path."""
        return write_model(self.card, self.weights, folder)


def save_model(
    fitted: Fitted,
    folder: str | Path,
    training: BagDataset,
    *,
    held_out: BagDataset | None = None,
    model_id: str = "",
) -> Path:
    """Write a fitted model's two files, weights and card; `Predictor.load(id, folder)` brings it back.

    `training` are the bags it was fitted on: the card says what they are. Accuracy and calibration are measured on the
    `held_out` bags, if there are any. The id is made of classes, generator and method unless one is given. Returns the
    card's path, which ends in the id and “.json”.
    """
    if model_id:
        check_id(model_id)
    if fitted.weights.shape != training.candidates.shape or fitted.network.dim != training.dim:
        raise InputError(
            f"The model was not fitted on these {len(training)} bags of {training.dim} features and "
            f"{training.n_classes} classes.",
            "Give the bags that were given to fit.",
        )
    finished = finish(
        fitted, training, Candidates(), created_by="elimipl.save_model", held_out=held_out, model_id=model_id
    )
    return finished.save(Path(folder))


def finish(
    fitted: Fitted,
    training: BagDataset,
    candidates: Candidates,
    *,
    created_by: str,
    held_out: BagDataset | None = None,
    measured: Measured | None = None,
    qualities: Sequence[Mapping[str, float]] = (),
    name: str = "",
    model_id: str = "",
    known: KnownBags | None = None,
    acceptance: Acceptance | None = None,
) -> Finished:
    """The model that was fitted on `training`, whose candidate sets came from `candidates`.

    Accuracy, calibration, label sets and reliability are those on the `held_out` bags, or what was `measured` elsewhere
    (`elimipl.cards.finish`). `qualities` are the pixel measures of the training pictures (default: those that are
    known, `elimipl.datasets.shipped`). Limits come from the first bag of every picture, not from augmented copies.
    `known` bags and the rule of `acceptance` say when to trust an answer (`elimipl.answers.acceptance`).
    """
    weights = pack_tensors({**_arrays(fitted), **({} if known is None else known.arrays())})
    card = _described(fitted, training, candidates, created_by, name, model_id, sha256_of(weights))
    if measured is None:
        measured = Measured() if held_out is None else measure_on(fitted, held_out)
    card = replace(card, **measured.entries(), acceptance=acceptance)
    predictor = Predictor.from_fitted(fitted, card, known)
    if card.pictures != NO_PICTURES:
        limits = _limits(predictor, training, qualities)
        predictor = predictor.with_card(replace(card, checks=limits))
    return Finished(fitted, predictor, weights)


def measure_on(
    fitted: Fitted, held_out: BagDataset, called: str = HELD_OUT, test: BagDataset | None = None
) -> Measured:
    """What is measured on bags the model has not learned from; by candidate sets alone where no label is known.

    With `test` bags of another source, those: `held_out` bags then only calibrate.
    """
    reported = None if test is None else _outputs(fitted, test, f"the bags of {test.source or 'another data set'}")
    return measure_model(_outputs(fitted, held_out, called), reported=reported)


def _outputs(fitted: Fitted, bags: BagDataset, called: str) -> HeldOut:
    return HeldOut(fitted.predict(bags).probabilities, bags.labels, called, bags.candidates, bags.groups)


def _described(
    fitted: Fitted,
    training: BagDataset,
    candidates: Candidates,
    created_by: str,
    name: str,
    model_id: str,
    sha256: str,
) -> Card:
    """The card as far as fitted model and data know it themselves."""
    pictures = pictures_of(training.generator, training.source)
    labels, space = training.labels, training.label_space
    return Card(
        id=model_id or usual_id(pictures, space, training.generator, fitted.config.method),
        method=fitted.config.method,
        generator=training.generator,
        generator_params=dict(training.params),
        # The classes of phantoms are named after tissue, but they are drawings of it.
        label_space=replace(space, id="phantoms", source=training.source) if pictures == PHANTOMS else space,
        dim=training.dim,
        config=fitted.config.to_dict(),
        training_data=TrainingData(
            name=name or space.id,
            counts={c: len(np.unique(training.groups[labels == i])) for i, c in enumerate(space.names)},
            bags=len(training),
            licence=training.licence,
            source=training.source,
        ),
        candidates=CandidateScheme(
            candidates.scheme, float(training.candidates.sum(axis=1).mean()), candidates.drawn_with
        ),
        seed=fitted.config.seed,
        accuracy=None,
        calibration=None,
        sha256=sha256,
        versions={"python": platform.python_version(), **{one: version(one) for one in ("torch", "numpy")}},
        created_by=created_by,
        generator_files=generator_files(training.generator),
        pictures=pictures,
    )


def _limits(predictor: Predictor, training: BagDataset, qualities: Sequence[Mapping[str, float]]) -> Limits:
    first = np.unique(training.groups, return_index=True)[1]
    originals = training.subset(np.sort(first))
    return derive_limits(
        qualities or picture_qualities(originals),
        [originals.bag(i) for i in range(len(originals))],
        [one.probabilities for one in predictor.predict_dataset(originals)],
    )


def _arrays(fitted: Fitted) -> dict[str, np.ndarray]:
    """Everything of a fitted model that is a number: the network's parameters and the feature scaling."""
    fitted.check_saveable()
    network = {f"network.{name}": value.cpu().numpy() for name, value in fitted.network.state_dict().items()}
    scaler = fitted.scaler
    return network | {
        "scaler.shift": scaler.shift,
        "scaler.scale": scaler.scale,
        "scaler.limit": np.array([scaler.limit]),
    }
