"""The limits on a model's card: within them a picture, its bag and the answer are like those of the training.

They are derived once, from what the model learned from, and read by `elimipl.answers.answer`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from bag_generators.base.errors import InputError
from bag_generators.base.validation import STRICT, Positive
from elimipl.datasets.pictures import FIELD, PIXEL_MEASURES

RARE = 0.02
"""Share of the training pictures beyond the value that the limit of a pixel measure starts from."""
VERY_RARE = 0.005
"""The same for the training bags, distance and entropy."""
SLACK = 1.1
"""How much further a picture may be off than the value each limit of a pixel measure starts from."""
_SIZE_FACTOR, _ASPECT_FACTOR, _GRAIN_FACTOR, _PURITY_FACTOR, _DISTANCE_FACTOR = 2.0, 1.5, 1.5, 1.5, 1.25
_SELDOM = 0.05
DRAWN = "drawn"
"""The unevenness of a picture whose colours are as pure as computed ones, else 0: drawings have flat, pure areas."""
MEASURES = PIXEL_MEASURES | {FIELD, DRAWN, "distance", "entropy"}

Range = tuple[float | None, float | None]
"""The lowest and the highest value that pass; None where there is no limit."""


@dataclass(frozen=True)
class Limits:
    """A range for each measure, and the mean and standard deviation of the training bags' summaries.

    Without ranges nothing is known, which is not the same as in scope.
    """

    __pydantic_config__ = STRICT

    limits: Mapping[str, Range] = field(default_factory=dict)
    bag_centre: tuple[float, ...] = ()
    bag_spread: tuple[Positive, ...] = ()
    pure_below: float | None = None
    """Colours that leave the mixtures of two dyes by less than this are purer than those of the training pictures."""

    def __post_init__(self) -> None:
        for name in self.limits.keys() - MEASURES:
            raise InputError(f"Nothing called “{name}” is measured.", f"Limits are for: {', '.join(sorted(MEASURES))}.")
        if len(self.bag_centre) != len(self.bag_spread):
            raise InputError("The statistics of the training bags are damaged.", "Give as many spreads as means.")

    def fit(self, dim: int) -> bool:
        """Whether these are limits for bags of `dim` features."""
        return len(self.bag_centre) == 2 * dim or ("distance" not in self.limits and not self.bag_centre)

    def range_of(self, name: str) -> tuple[float, float]:
        """The lowest and the highest value of a measure, infinite where there is no limit."""
        low, high = self.limits[name]
        return -math.inf if low is None else low, math.inf if high is None else high

    def drawn(self, quality: Mapping[str, float]) -> float:
        """The measure `DRAWN` of a picture with these pixel measures."""
        if self.pure_below is None or quality["third_colour"] >= self.pure_below:
            return 0.0
        return quality["unevenness"]

    def distance(self, features: np.ndarray) -> float:
        """Root mean square of the standard scores of a bag's summary: 1 for an average training bag."""
        return _distance(bag_summary(features), np.array(self.bag_centre), np.array(self.bag_spread))


def with_pixel_limits(limits: Limits, qualities: Sequence[Mapping[str, float]]) -> Limits:
    """The same limits for bags and answers, with those for pixels derived from these measures (`derive_limits`)."""
    kept = {name: limits.limits[name] for name in ("distance", "entropy")}
    pixels = {name: (_short(low), _short(high)) for name, (low, high) in _pixel_limits(qualities).items()}
    pure_below = _short(_quantile(qualities, "third_colour", RARE) / _PURITY_FACTOR)
    return replace(limits, limits={**pixels, **kept}, pure_below=pure_below)


def derive_limits(
    qualities: Sequence[Mapping[str, float]], bags: Sequence[np.ndarray], probabilities: Sequence[np.ndarray]
) -> Limits:
    """Limits from the training: less than 20 KB as JSON.

    `qualities` are the pixel measures of the training pictures (none: the checks of pixels are left out), `bags` the
    (n_i, d) instances of each picture's bag, `probabilities` the model's answers, (k,) each. A few pictures of every
    collection are blurred, empty or stained oddly: a limit starts from the value that `RARE` of them don't reach and
    leaves `SLACK`. Pictures may be half to twice as large as those, half again as long as wide and half again as grainy
    (scanners differ in that). Where the pictures were measured at the scale the generator keeps, they may have any
    shape and size from half of those. How even the detail is is limited on both sides: that tells drawings from tissue,
    whichever was learned from. Pure colours alone are no fault, since stain normalisation makes them so; together with
    detail as uneven as in few training pictures they are.
    The distance may exceed that of nearly all training bags by a quarter. The entropy may lie halfway between the
    most undecided training bags and pure guessing, because a model is surer of the bags it has learned from.
    """
    summaries = np.array([bag_summary(bag) for bag in bags])
    centre, spread = summaries.mean(axis=0), summaries.std(axis=0)
    spread = np.where(spread > 1e-9, spread, 1.0)
    distances = [_distance(one, centre, spread) for one in summaries]
    entropies = [relative_entropy(one) for one in probabilities]
    without_pixels = Limits(
        {
            "distance": (None, _short(_DISTANCE_FACTOR * float(np.quantile(distances, 1 - VERY_RARE)))),
            "entropy": (None, _short((1 + float(np.quantile(entropies, 1 - VERY_RARE))) / 2)),
        },
        tuple(float(f"{value:.5g}") for value in centre),
        tuple(float(f"{value:.5g}") for value in spread),
    )
    return with_pixel_limits(without_pixels, qualities) if qualities else without_pixels


def bag_summary(features: np.ndarray) -> np.ndarray:
    """A bag as one vector, (2d,): the mean of its (n, d) instances and their standard deviation."""
    values = features.astype(np.float64)
    return np.concatenate([values.mean(axis=0), values.std(axis=0)])


def relative_entropy(probabilities: np.ndarray) -> float:
    """Entropy of (k,) probabilities, from 0 (certain) to 1 (all classes alike).

    >>> relative_entropy(np.array([0.5, 0.5, 0.0, 0.0]))
    0.5
    """
    likely = probabilities[probabilities > 0]
    return float(-(likely * np.log(likely)).sum() / math.log(len(probabilities)))


def _distance(one: np.ndarray, centre: np.ndarray, spread: np.ndarray) -> float:
    return float(np.sqrt(np.square((one - centre) / spread).mean()))


def _pixel_limits(qualities: Sequence[Mapping[str, float]]) -> dict[str, Range]:
    def quantile(name: str, share: float) -> float:
        return _quantile(qualities, name, share)

    def at_least(name: str) -> float:
        return quantile(name, RARE) / SLACK

    if all(FIELD in one for one in qualities):
        size: dict[str, Range] = {FIELD: (quantile(FIELD, 0.5) / _SIZE_FACTOR, None)}
    else:
        side = quantile("shorter_side", 0.5)
        size = {
            "shorter_side": (side / _SIZE_FACTOR, side * _SIZE_FACTOR),
            "aspect": (None, quantile("aspect", 1) * _ASPECT_FACTOR),
        }
    return {
        **size,
        "tissue": (at_least("tissue"), None),
        "sharpness": (at_least("sharpness"), quantile("sharpness", 1) * _GRAIN_FACTOR),
        "unevenness": (at_least("unevenness"), quantile("unevenness", 1 - RARE) * SLACK),
        "stain_colour": (at_least("stain_colour"), None),
        "third_colour": (None, quantile("third_colour", 1) * SLACK),
        DRAWN: (None, quantile("unevenness", 1 - _SELDOM) * SLACK),
    }


def _quantile(qualities: Sequence[Mapping[str, float]], name: str, share: float) -> float:
    return float(np.quantile([one[name] for one in qualities], share))


def _short(value: float | None) -> float | None:
    """Five significant digits are enough, and keep the card short."""
    return None if value is None else float(f"{value:.5g}")
