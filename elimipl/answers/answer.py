"""The one answer about a picture that commands, pages and reports give alike, and whether to trust it.

Six cheap checks of the picture, the bag and the answer come first, each with its reason. Their limits come from what a
model learned from and live on its card (`elimipl.cards.limits`). A failed check says that the picture is unlike that; a
check whose limits the card does not hold is not made, and then nobody says that the picture is in scope.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from elimipl.cards.conformal import USUAL_LEVEL
from elimipl.cards.limits import DRAWN, Limits, relative_entropy
from elimipl.datasets.pictures import PHANTOMS, TILES, Pictures

if TYPE_CHECKING:
    from bag_generators.scale import ScaleDecision
    from elimipl.answers.predictor import Instances, Prediction, Predictor
    from elimipl.candidates.labels import LabelSpace

DRAWINGS_ONLY = "This model has learned from drawn phantoms only."
_FAT, _GLASS = "fat", "glass"


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


@dataclass(frozen=True)
class Verdict:
    """What is known about whether to believe an answer."""

    checks: tuple[Check, ...]
    """Those that were made, in a fixed order."""
    not_checked: tuple[str, ...]
    """Names of the checks for which the model's card has no limits, or the bag no picture that was measured."""
    trained_on: Pictures = TILES
    """What the model knows at all: a picture in the scope of a model of drawings is like those drawings."""
    chance: float | None = None
    """How likely the answer is right (`elimipl.answers.acceptance`); None where the card has no numbers for it."""

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(one for one in self.checks if not one.passed)

    @property
    def in_scope(self) -> bool | None:
        """True when every check was made and passed, False when one failed, None when it is not known."""
        if self.failed:
            return False
        return None if self.not_checked else True


def judge(quality: Mapping[str, float], predictor: Predictor, bag: Instances, prediction: Prediction) -> Verdict:
    """Check a picture by the limits on the model's card: all six for the models that ship.

    `quality` holds the pixel measures by name (`bag_generators.tissue.quality`), `prediction` is the predictor's for
    the bag.
    """
    card = predictor.card
    limits = card.checks
    values = {**quality, "entropy": relative_entropy(prediction.probabilities)}
    if DRAWN in limits.limits and quality:
        values[DRAWN] = limits.drawn(quality)
    if "distance" in limits.limits:
        values["distance"] = limits.distance(bag.features)
    pointless = _pointless(prediction.label, values.get("tissue", 1.0), limits)
    known = {
        name: [one for one in measures if one.name in limits.limits and one.name in values]
        for name, measures in _CHECKS.items()
        if name not in pointless
    }
    made = [_judged(name, measures, values, limits) for name, measures in known.items() if measures]
    if card.pictures == PHANTOMS:
        made = [one if one.passed else replace(one, reason=f"{one.reason} {DRAWINGS_ONLY}") for one in made]
    missing = tuple(name for name, measures in known.items() if not measures)
    return Verdict(tuple(made), missing, card.pictures or TILES, predictor.chance(bag.features))


def _pointless(label: str, tissue: float, limits: Limits) -> tuple[str, ...]:
    """Checks that say nothing about an answer: fat is uneven by nature, and bare glass is neither stained nor sharp."""
    if label == _GLASS and "tissue" in limits.limits and tissue < limits.range_of("tissue")[0]:
        return "tissue", "blur", "colour"
    return ("blur",) if label == _FAT else ()


def _judged(name: str, measures: Sequence[_Measure], values: Mapping[str, float], limits: Limits) -> Check:
    """The outcome by the first measure that fails, else by the first."""

    def fits(measure: _Measure) -> bool:
        low, high = limits.range_of(measure.name)
        return low <= values[measure.name] <= high  # not a number fits nowhere

    passed = all(fits(measure) for measure in measures)
    deciding = next((measure for measure in measures if not fits(measure)), measures[0])
    value, (low, high) = values[deciding.name], limits.range_of(deciding.name)
    limit = high if value > high or math.isinf(low) else low
    return Check(name, passed, value, limit, deciding.sentence(value, limit, limit == low, passed))


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
            _Measure(
                "field",
                "The shorter side of the picture shows {}",
                below="a field this small holds too little tissue to judge by",
                unit="µm",
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
                below="the detail is more even than in the pictures the model has learned from",
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
                above="the colours are more varied than in the pictures the model has learned from",
            ),
            _Measure(
                DRAWN,
                "In colours as pure as computed ones the strong edges are {} times the typical detail",
                above="pure colours in flat areas are usual in drawings, not in tissue",
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


LIKELY = 0.5
"""Below this chance of being right there is no answer."""
ACCEPTANCE = "acceptance"
"""Name of the check whether such an answer is right often enough."""
LABEL_SET = "label_set"
"""Name of the check whether exactly one label is possible."""
SCALE = "scale"
"""Name of the check whether the nuclei bear out the scale that the picture was read at."""

NONE_OF_THESE, NO_ANSWER = "None of these classes", "No answer"
WITHOUT_CHECKS = "Without the checks the model would answer"
_UNREADABLE = {"size", "blur"}
"""Checks without which nobody can tell whether a picture shows one of the classes."""
_FOREIGN = {"tissue", "colour", "distance"}
"""Checks that say that it shows something else."""


@dataclass(frozen=True)
class Answer:
    """What a model says about a picture, what else is possible, and what speaks against believing it."""

    label: str
    probability: float
    label_set: tuple[str, ...] | None
    """The labels possible at the usual level, `label` among them, in the order of the label space; None where that was
    not calibrated."""
    no_answer: bool
    """Whether the set holds every class, so that nothing was decided."""
    verdict: Verdict
    """The checks of the picture, the bag and the probabilities."""
    checks: tuple[Check, ...]
    """The checks of the verdict, and last the one of the label set, where there is one."""
    not_checked: tuple[str, ...]
    """Names of the checks that neither the model's card nor, for a bag without its picture, the bag has numbers for."""
    reliability: str | None
    """How often the model is right when it is this sure; None where that was not counted."""
    label_space: LabelSpace
    """Its names stand in `label`, `label_set` and JSON, its titles in sentences."""
    scale: ScaleDecision | None = None
    """The scale the picture was read at; None of a bag whose picture nobody has."""

    @property
    def declined(self) -> bool:
        """Whether there is no answer: a check of the picture failed, or every label is possible."""
        return self.no_answer or self.verdict.in_scope is False

    @property
    def headline(self) -> str:
        """The answer in a few words; where there is none, whether the picture or the classes are at fault."""
        if not self.declined:
            return f"{self.label_space.title(self.label)}, {100 * self.probability:.0f} %"
        failed = {one.name for one in self.checks if not one.passed}
        return NONE_OF_THESE if failed & _FOREIGN and not failed & _UNREADABLE else NO_ANSWER

    @property
    def trusted(self) -> bool:
        """True only when every check was made and passed, that of a single possible label included."""
        return not self.not_checked and all(one.passed for one in self.checks)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Why not to trust the answer, a sentence each; nothing where it is trusted."""
        missing = (f"Not checked, because there are no numbers for it: {', '.join(self.not_checked)}.",)
        return tuple(one.reason for one in self.checks if not one.passed) + (missing if self.not_checked else ())

    def sentences(self) -> tuple[str, ...]:
        """The answer for a person: label, what else is possible, how reliable that is, what speaks against it."""
        sure = f"{self.label_space.title(self.label)}, {100 * self.probability:.0f} %"
        if self.declined:
            first = f"{self.headline}. {WITHOUT_CHECKS} {sure}."
        else:
            first = f"{sure}: {'every check passed' if self.trusted else 'not to be trusted as it is'}."
        if self.label_set is not None:
            possible = ", ".join(map(self.label_space.title, self.label_set))
            first = f"{first} Possible at {100 * USUAL_LEVEL:.0f} % coverage: {possible}."
        return (first, *(() if self.reliability is None else (self.reliability,)), *self.warnings)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; `label_set`, `in_scope` and `reliability` are null where nobody knows."""
        return {
            "label": self.label,
            "probability": self.probability,
            "label_set": None if self.label_set is None else list(self.label_set),
            "trusted": self.trusted,
            "declined": self.declined,
            "in_scope": self.verdict.in_scope,
            "trained_on": self.verdict.trained_on,
            "checks": [{"name": one.name, "passed": one.passed, "reason": one.reason} for one in self.checks],
            "not_checked": list(self.not_checked),
            "reliability": self.reliability,
            "scale": None if self.scale is None else self.scale.to_dict(),
        }

    def read_at(self, scale: ScaleDecision | None) -> Answer:
        """The same with the scale that its picture was read at: not to be trusted where that is doubted."""
        if scale is None:
            return self
        check = Check(SCALE, not scale.doubted, scale.microns_per_pixel, scale.microns_per_pixel, scale.sentence)
        return replace(self, scale=scale, checks=(*self.checks, check))

    @classmethod
    def of(cls, predictor: Predictor, prediction: Prediction, verdict: Verdict) -> Answer:
        """The answer of a prediction that was made and judged already."""
        possible, counted = prediction.label_set(USUAL_LEVEL), predictor.card.reliability
        rule, last = predictor.card.acceptance, None
        if rule is not None and verdict.chance is not None:
            last = _of_chance(verdict.chance, rule.limit, prediction)
        elif possible is not None:
            last = _of_label_set(possible, prediction)
        return cls(
            label=prediction.label,
            probability=prediction.probability,
            label_set=possible,
            no_answer=(possible is not None and len(possible) == len(prediction.label_space))
            or (verdict.chance is not None and verdict.chance < LIKELY),
            verdict=verdict,
            checks=verdict.checks if last is None else (*verdict.checks, last),
            not_checked=verdict.not_checked if last is not None else (*verdict.not_checked, LABEL_SET),
            reliability=None if counted is None else counted.sentence(prediction.probability),
            label_space=prediction.label_space,
        )


def answer(quality: Mapping[str, float], predictor: Predictor, bag: Instances, prediction: Prediction) -> Answer:
    """Judge a prediction by all checks; `quality` has the pixel measures by name (`bag_generators.tissue.quality`)."""
    return Answer.of(predictor, prediction, judge(quality, predictor, bag, prediction))


def _of_chance(chance: float, limit: float, prediction: Prediction) -> Check:
    said = f"About {min(99, 100 * chance):.0f} of 100 answers like this one are expected to be right"
    passed = chance >= limit
    doubt = "" if passed else f": {prediction.title} is not certain enough on a picture like this"
    return Check(ACCEPTANCE, passed, chance, limit, f"{said}, at least {100 * limit:.0f} are asked for{doubt}.")


def _of_label_set(possible: tuple[str, ...], prediction: Prediction) -> Check:
    start = f"At {100 * USUAL_LEVEL:.0f} % coverage "
    passed = possible == (prediction.label,)
    shown, top = [*map(prediction.label_space.title, possible)], prediction.title
    if passed:
        reason = f"{start}{top} is the only possible label."
    elif len(possible) == len(prediction.label_space):
        reason = f"{start}every label is possible: the model has no answer."
    else:
        reason = f"{start}{', '.join(shown[:-1])} and {shown[-1]} are possible: the model can't decide."
    return Check(LABEL_SET, passed, float(len(possible)), 1.0, reason)
