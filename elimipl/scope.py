"""Whether a prediction counts: six cheap checks of the picture, the bag and the answer, each with its reason.

The limits come from the tiles a model learned from (`derive_thresholds`) and live in its card. A failed check
says that the picture is unlike those tiles; the prediction stays what it is, but should be shown as unreliable.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from bag_generators.errors import InputError

if TYPE_CHECKING:
    from bag_generators import Bag
    from elimipl.dataset import BagDataset
    from elimipl.predictor import Prediction, Predictor

RARE = 0.02
"""Share of the training tiles beyond the value that the limit of a pixel measure starts from."""
VERY_RARE = 0.005
"""The same for the training bags, distance and entropy."""
SLACK = 1.1
"""How much further a picture may be off than the value each limit of a pixel measure starts from."""
_SIZE_FACTOR, _ASPECT_FACTOR, _GRAIN_FACTOR, _PURITY_FACTOR, _DISTANCE_FACTOR = 2.0, 1.5, 1.5, 1.5, 1.25

_Range = tuple[float, float]
"""The lowest and the highest value that pass; minus or plus infinity where there is no limit."""


@dataclass(frozen=True)
class Check:
    """One question to a picture and its answer, for a person."""

    name: str
    """“size”, “tissue”, “blur”, “colour”, “distance” or “entropy”."""
    passed: bool
    value: float
    """What was measured: of a check with several measures the first that fails, else the first."""
    limit: float
    """What the value is compared with."""
    reason: str
    """A sentence: what was measured, what was expected and, for a failed check, what that means."""


def check(quality: Mapping[str, float], predictor: Predictor, bag: Bag, prediction: Prediction) -> tuple[Check, ...]:
    """The checks whose limits the model's card holds, in a fixed order: six for the models that ship.

    `quality` holds the pixel measures by name (`tissue.quality`), `prediction` is the predictor's for the
    bag. A card without limits gives no checks: nothing is known then, which is not the same as in scope.
    """
    limits, typical = _read(predictor)
    values = {**quality, "entropy": relative_entropy(prediction.probabilities)}
    if typical is not None:
        values["distance"] = typical.distance(_summary(bag.features))
    return tuple(
        _judge(name, measures, values, limits)
        for name, every in _CHECKS.items()
        if (measures := [measure for measure in every if measure.name in limits])
    )


def in_scope(checks: Iterable[Check]) -> bool:
    """Whether every check passed."""
    return all(one.passed for one in checks)


def derive_thresholds(
    qualities: Sequence[Mapping[str, float]], dataset: BagDataset, predictor: Predictor
) -> dict[str, Any]:
    """What belongs into `Card.checks`: limits and bag statistics, plain JSON values of less than 20 KB.

    `qualities` are the pixel measures of the training tiles (none: the checks of pixels are left out), `dataset`
    the training bags. A few tiles of every collection are blurred, empty or stained oddly: a limit starts from the
    value that `RARE` of the tiles don't reach and leaves `SLACK`. Pictures may be half to twice as large as the
    tiles, half again as long as wide, half again as grainy and half again as pure in colour (scanners differ in
    that). The distance may exceed that of nearly all training bags by a quarter. The entropy may lie halfway
    between the most undecided training bags and pure guessing, because a model is surer of the bags it has learned
    from than of any others.
    """
    summaries = [_summary(dataset.bag(i)) for i in range(len(dataset))]
    typical = _Typical.of(summaries)
    distances = [typical.distance(summary) for summary in summaries]
    entropies = [relative_entropy(one.probabilities) for one in predictor.predict_dataset(dataset)]
    limits = _pixel_limits(qualities) if qualities else {}
    limits["distance"] = (-math.inf, _DISTANCE_FACTOR * float(np.quantile(distances, 1 - VERY_RARE)))
    limits["entropy"] = (-math.inf, (1 + float(np.quantile(entropies, 1 - VERY_RARE))) / 2)
    return {
        "limits": {name: [_plain(low), _plain(high)] for name, (low, high) in limits.items()},
        "bag_centre": [_plain(value) for value in typical.centre],
        "bag_spread": [_plain(value) for value in typical.spread],
    }


def relative_entropy(probabilities: np.ndarray) -> float:
    """Entropy of (k,) probabilities, from 0 (certain) to 1 (all classes alike).

    >>> relative_entropy(np.array([0.5, 0.5, 0.0, 0.0]))
    0.5
    """
    likely = probabilities[probabilities > 0]
    return float(-(likely * np.log(likely)).sum() / math.log(len(probabilities)))


@dataclass(frozen=True, eq=False)
class _Typical:
    """Mean and standard deviation of the training bags' summaries."""

    centre: np.ndarray  # (2d,) float64
    spread: np.ndarray  # (2d,) float64, never 0

    @classmethod
    def of(cls, summaries: Sequence[np.ndarray]) -> _Typical:
        spread = np.std(summaries, axis=0)
        return cls(np.mean(summaries, axis=0), np.where(spread > 1e-9, spread, 1.0))

    def distance(self, summary: np.ndarray) -> float:
        """Root mean square of the summary's standard scores: 1 for an average training bag."""
        return float(np.sqrt(np.square((summary - self.centre) / self.spread).mean()))


def _summary(features: np.ndarray) -> np.ndarray:
    """A bag as one vector, (2d,): the mean of its (n, d) instances and their standard deviation."""
    values = features.astype(np.float64)
    return np.concatenate([values.mean(axis=0), values.std(axis=0)])


def _pixel_limits(qualities: Sequence[Mapping[str, float]]) -> dict[str, _Range]:
    def quantile(name: str, share: float) -> float:
        return float(np.quantile([one[name] for one in qualities], share))

    def at_least(name: str, slack: float = SLACK) -> _Range:
        return quantile(name, RARE) / slack, math.inf

    side = quantile("shorter_side", 0.5)
    return {
        "shorter_side": (side / _SIZE_FACTOR, side * _SIZE_FACTOR),
        "aspect": (-math.inf, quantile("aspect", 1) * _ASPECT_FACTOR),
        "tissue": at_least("tissue"),
        "sharpness": (at_least("sharpness")[0], quantile("sharpness", 1) * _GRAIN_FACTOR),
        "unevenness": (-math.inf, quantile("unevenness", 1 - RARE) * SLACK),
        "stain_colour": at_least("stain_colour"),
        "third_colour": at_least("third_colour", _PURITY_FACTOR),
    }


def _judge(name: str, measures: Sequence[_Measure], values: Mapping[str, float], limits: Mapping[str, _Range]) -> Check:
    """The verdict by the first measure that fails, else by the first."""

    def fits(measure: _Measure) -> bool:
        low, high = limits[measure.name]
        return low <= values[measure.name] <= high  # not a number fits nowhere

    passed = all(fits(measure) for measure in measures)
    deciding = next((measure for measure in measures if not fits(measure)), measures[0])
    value, (low, high) = values[deciding.name], limits[deciding.name]
    limit = high if value > high or math.isinf(low) else low
    return Check(name, passed, value, limit, deciding.sentence(value, limit, limit == low, passed))


def _read(predictor: Predictor) -> tuple[dict[str, _Range], _Typical | None]:
    """The limits and bag statistics on a card; damaged ones are refused by the card's name."""
    stored, known = predictor.card.checks, {measure.name for every in _CHECKS.values() for measure in every}
    try:
        limits = {name: _as_range(*pair) for name, pair in stored.get("limits", {}).items()}
        typical = None
        if "distance" in limits:
            centre, spread = (np.array(stored[name], np.float64) for name in ("bag_centre", "bag_spread"))
            if centre.shape != (2 * predictor.card.dim,) or spread.shape != centre.shape or not (spread > 0).all():
                raise ValueError
            typical = _Typical(centre, spread)
        if not limits.keys() <= known:
            raise ValueError
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
        raise InputError(
            f"The checks in “{predictor.card.id}.json” are damaged.", "Restore the file or train the model again."
        ) from None
    return limits, typical


def _as_range(low: float | None, high: float | None) -> _Range:
    return -math.inf if low is None else float(low), math.inf if high is None else float(high)


def _plain(value: float) -> float | None:
    """A number with five significant digits as JSON knows it; it has no infinity."""
    return float(f"{value:.5g}") if math.isfinite(value) else None


@dataclass(frozen=True)
class _Measure:
    """One number of a check and how to speak of it."""

    name: str
    states: str
    """What was measured, with the value in the place of {}."""
    below: str = ""
    """What a value below its lowest limit means."""
    above: str = ""
    """What a value above its highest limit means."""
    unit: str = ""
    """Follows the limit; “%” also multiplies both numbers by 100."""

    def sentence(self, value: float, limit: float, is_lowest: bool, passed: bool) -> str:
        """What was measured, what was expected and, where it failed, what that means."""
        factor = 100 if self.unit == "%" else 1
        shown, expected = _in_digits(factor * value, factor * limit)
        unit = f" {self.unit}" if self.unit else ""
        start = f"{self.states.format(shown + unit)}, expected at {'least' if is_lowest else 'most'} {expected}{unit}"
        return f"{start}." if passed else f"{start}: {self.below if is_lowest else self.above}."


_CHECKS: Mapping[str, tuple[_Measure, ...]] = MappingProxyType(
    {
        "size": (
            _Measure(
                "shorter_side",
                "The shorter side of the picture measures {}",
                below="enlarged to what the model reads, it lacks the detail the model has learned",
                above="shrunk to what the model reads, cells look smaller than it has learned; "
                "choose a smaller field of view",
                unit="px",
            ),
            _Measure(
                "aspect",
                "The longer side of the picture is {} times the shorter one",
                above="squeezed into the square the model reads, the tissue is distorted",
            ),
        ),
        "tissue": (
            _Measure(
                "tissue", "{} of the picture is not bare glass", below="there is too little tissue to judge", unit="%"
            ),
        ),
        "blur": (
            _Measure(
                "sharpness",
                "A typical pixel differs from its neighbours by {} grey levels",
                below="the picture is out of focus, magnified too far or largely empty",
                above="the picture is grainier than any tile the model has learned from",
            ),
            _Measure(
                "unevenness",
                "The strong edges are {} times the typical detail",
                above="flat areas between sharp outlines are usual in drawings and on empty slides, not in tissue",
            ),
        ),
        "colour": (
            _Measure(
                "stain_colour",
                "{} of what is not glass is pink to violet, as haematoxylin and eosin make it",
                below="it has another stain, or it is no stained section",
                unit="%",
            ),
            _Measure(
                "third_colour",
                "Beyond the mixtures of two dyes the colours vary by {} in optical density",
                below="colours as pure as these are usually drawn or computed, for instance by stain normalisation",
            ),
        ),
        "distance": (
            _Measure(
                "distance",
                "The instances are {} times as unusual as those of an average training picture",
                above="the model has learned from nothing like them",
            ),
        ),
        "entropy": (
            _Measure(
                "entropy",
                "The model is {} undecided, where 0 % is certain and 100 % a mere guess",
                above="it can hardly tell the classes apart here",
                unit="%",
            ),
        ),
    }
)
"""The measures of each check by its name, in the order they are shown and judged."""


def _in_digits(value: float, limit: float) -> tuple[str, str]:
    """Both numbers with as few digits as it takes to tell them apart, at least two significant ones."""
    for digits in (2, 3, 4, 6):
        texts = _significant(value, digits), _significant(limit, digits)
        if texts[0] != texts[1]:
            break
    return texts


def _significant(value: float, digits: int) -> str:
    """A number with `digits` significant digits, more before the point where there are more.

    >>> _significant(223.6, 2), _significant(99.7, 2), _significant(1.0, 2), _significant(0.00123, 2)
    ('224', '100', '1.0', '0.0012')
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:.0f}"
    before_the_point = math.floor(math.log10(abs(value))) + 1
    return f"{value:.{min(max(digits - before_the_point, 0), 6)}f}"
