"""The training runs recorded by `scripts/record_lesson.py`."""

from collections.abc import Mapping

import streamlit as st

from bag_generators.assets import assets
from bag_generators.validation import Record, read_json, validated

RECORDED_FILE = assets("lessons", "recorded_runs.json")
_REPAIR = "Get the project's files again, or record them anew with “python scripts/record_lesson.py”."

Numbers = tuple[float, ...]


class WatchedBag(Record):
    """What a model made of one bag at each of the kept epochs."""

    name: str
    true: int
    truth: tuple[int, ...]  # 1 for instances that carry the class
    attention: tuple[Numbers, ...]
    probabilities: tuple[Numbers, ...]
    pixels: tuple[Numbers, ...] = ()  # of digits only


class AttentionRun(Record):
    """A training whose attention was watched."""

    about: str
    epochs: tuple[int, ...]
    held_out_accuracy: Numbers
    labels: tuple[str, ...]
    bags: tuple[WatchedBag, ...]


class BelievedBag(Record):
    """The disambiguation weights of one training bag, from before the first epoch to after the last."""

    name: str
    true: int
    candidates: tuple[int, ...]
    weights: tuple[Numbers, ...]


class BeliefRun(Record):
    """A training whose disambiguation weights were watched."""

    about: str
    labels: tuple[str, ...]
    rho: Numbers
    disambiguation_accuracy: Numbers
    bags: tuple[BelievedBag, ...]


class AmbiguityRun(Record):
    """Accuracies of each method by the number of false positives: one list for each r, one number for each seed."""

    about: str
    r: tuple[int, ...]
    classes: int
    accuracy: Mapping[str, tuple[Numbers, ...]]


class RecordedRuns(Record):
    """Everything the lesson shows of trainings."""

    digits: AttentionRun
    weights: BeliefRun
    phantoms: Mapping[str, AttentionRun]
    accuracy_by_r: AmbiguityRun


@st.cache_resource(show_spinner=False)
def recorded_runs() -> RecordedRuns:
    """All recorded runs. A file that is missing or damaged is an `InputError`."""
    called = "The list of recorded runs “recorded_runs.json”"
    return validated(RecordedRuns, read_json(RECORDED_FILE, called, _REPAIR), called, _REPAIR)
