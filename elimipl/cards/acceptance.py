"""When an answer may be trusted: how likely it is right, judged by signs that also hold on pictures from elsewhere.

A model is as sure of itself on a stranger's pictures as on its own, so its probability alone says little there. The
chance of being right is a logistic regression of a few signs of the bag (`elimipl.acceptance`), fitted on pictures of
sources that the models behind it had never seen, and on left-out folds of its own sources.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from bag_generators.validation import STRICT, Positive, Share, Whole

SIGNS = ("certainty", "margin", "agreement", "near", "nearest_alike", "others_away", "style")
"""What the chance depends on; see `elimipl.acceptance.signs`."""
_PerSign = Annotated[tuple[float, ...], Field(min_length=len(SIGNS), max_length=len(SIGNS))]


@dataclass(frozen=True)
class Kept:
    """What became of n pictures: shares of all of them."""

    __pydantic_config__ = STRICT

    n: Whole
    right: float
    trusted: float
    trusted_wrong: float


@dataclass(frozen=True)
class Acceptance:
    """The chance of being right is 1/(1 + exp(−(intercept + Σ weight·(sign − shift)/scale)))."""

    __pydantic_config__ = STRICT

    weights: _PerSign
    shifts: _PerSign
    scales: Annotated[tuple[Positive, ...], Field(min_length=len(SIGNS), max_length=len(SIGNS))]
    intercept: float
    limit: Share
    """The lowest chance with which an answer is trusted."""
    pictures: Whole
    """Rows of the table of known bags in the weights file."""
    fitted_on: str
    left_out: Mapping[str, Kept]
    """By source: what a model without it, judged by what was fitted without it, did on it."""

    def chance(self, signs: tuple[float, ...]) -> float:
        """How likely an answer with these signs is right."""
        terms = zip(self.weights, signs, self.shifts, self.scales, strict=True)
        total = self.intercept + sum(w * (s - shift) / scale for w, s, shift, scale in terms)
        return 1 / (1 + math.exp(-max(-500.0, min(500.0, total))))
