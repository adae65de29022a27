"""Every bad input with what must come of it: one row each, read by the tests and by `scripts/make_bad_inputs.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from scripts.bad_inputs import conversions, damaged, foreign, hostile, metadata, scenes


class Outcome(Enum):
    """What becomes of an input."""

    REFUSED = "refused by the loader"
    UNFIT = "opens, but no generator takes it"
    NOTED = "opens with a note"
    DOUBTED = "opens; the result is marked unreliable"
    TAKEN = "opens without a word"


@dataclass(frozen=True)
class BadInput:
    """One file: its name, how it is made, what becomes of it and what the person reads (a part of the sentence)."""

    name: str
    make: Callable[[], bytes]
    outcome: Outcome
    says: str = ""


def _rows(outcome: Outcome, group: dict[str, tuple[Callable[[], bytes], str]]) -> list[BadInput]:
    return [BadInput(name, make, outcome, says) for name, (make, says) in group.items()]


INPUTS: tuple[BadInput, ...] = (
    *_rows(Outcome.REFUSED, foreign.FILES),
    *_rows(Outcome.REFUSED, damaged.FILES),
    *_rows(Outcome.REFUSED, hostile.FILES),
    *_rows(Outcome.REFUSED, conversions.REFUSED),
    *_rows(Outcome.REFUSED, metadata.REFUSED),
    *_rows(Outcome.UNFIT, conversions.UNFIT),
    *_rows(Outcome.NOTED, conversions.NOTED),
    *_rows(Outcome.NOTED, metadata.NOTED),
    *_rows(Outcome.TAKEN, conversions.TAKEN),
    *_rows(Outcome.TAKEN, metadata.TAKEN),
    *_rows(Outcome.DOUBTED, scenes.FILES),
)
