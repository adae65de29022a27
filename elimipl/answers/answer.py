"""The one answer about a picture that commands, pages and reports give alike, and whether to trust it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from elimipl.answers.scope import Check, Verdict, judge
from elimipl.cards.conformal import USUAL_LEVEL

if TYPE_CHECKING:
    from bag_generators.scale import ScaleDecision
    from elimipl.answers.predictor import Instances, Prediction, Predictor
    from elimipl.candidates.labels import LabelSpace

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
    said = f"Answers like this one were right in about {min(99, 100 * chance):.0f} of 100 cases, expected at least"
    passed = chance >= limit
    doubt = "" if passed else f": {prediction.title} is not certain enough on a picture like this"
    return Check(ACCEPTANCE, passed, chance, limit, f"{said} {100 * limit:.0f}{doubt}.")


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
