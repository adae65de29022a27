"""The training runs recorded by `scripts/record_lesson.py` and `scripts/record_attention.py`."""

from collections.abc import Mapping
from pathlib import Path

import streamlit as st

from bag_generators.base.assets import assets
from bag_generators.base.validation import Record
from elimipl.benchmark.records import FILE, RESULTS, Records

RECORDED_FILE = assets("lessons", "recorded_runs.json")
ATTENTION_FILE = assets("lessons", "attention_runs.json")

Numbers = tuple[float, ...]


class BelievedBag(Record):
    """The disambiguation weights of one training bag, from before the first epoch to after the last."""

    name: str
    true: int
    candidates: tuple[int, ...]
    weights: tuple[Numbers, ...]

    @property
    def believed(self) -> int:
        """The candidate that is believed most after training."""
        return self.weights[-1].index(max(self.weights[-1]))

    @property
    def ends_wrong(self) -> bool:
        return self.believed != self.true


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
    """What the lesson shows of beliefs and of ambiguity."""

    weights: BeliefRun
    accuracy_by_r: AmbiguityRun


class ContrastedModel(Record):
    """One of two models over all held-out bags; a number for each seed, and the AUROCs of all bags in deciles."""

    accuracy_whole: Numbers
    """On whole tiles, or on bags of one digit."""
    accuracy: Numbers
    """On composed bags."""
    auroc: Numbers
    deciles: Numbers


class Contrast(Record):
    """A model that learned from plain bags beside one that learned from composed bags, both on composed bags."""

    bags: int
    """Held-out composed bags, over all seeds."""
    whole: int
    plain: ContrastedModel
    composed: ContrastedModel


class WatchedBag(Record):
    """A held-out bag that is shown."""

    name: str
    true: int
    truth: tuple[int, ...]  # 1 for instances that carry the class
    pixels: tuple[Numbers, ...] = ()  # of digits only


class WatchedModel(Record):
    """What one model made of the held-out bags at each of the kept epochs."""

    accuracy: Numbers
    auroc: Numbers
    attention: tuple[tuple[Numbers, ...], ...]  # epoch, bag, instance
    probabilities: tuple[tuple[Numbers, ...], ...]


class WatchedRun(Record):
    """Two trainings whose attention was watched."""

    epochs: tuple[int, ...]
    labels: tuple[str, ...]
    bags: tuple[WatchedBag, ...]
    models: Mapping[str, WatchedModel]


class Anatomy(Record):
    """Equations 1 and 2 in numbers, for every shown bag and instance."""

    l: int  # noqa: E741 the paper's name
    w: Numbers
    h: tuple[tuple[Numbers, ...], ...]
    tanh: tuple[tuple[Numbers, ...], ...]
    sigmoid: tuple[tuple[Numbers, ...], ...]
    xi: tuple[Numbers, ...]


class AttentionRuns(Record):
    """What the lesson shows of attention."""

    about: str
    about_digits: str
    cuts: Mapping[str, Contrast]
    digits: Contrast
    watched: Mapping[str, WatchedRun]
    origins: tuple[tuple[str, ...], ...]
    """Of every instance of the shown bags: the tile in the published data, and the number of the patch."""
    anatomy: Mapping[str, Anatomy]


@st.cache_resource(show_spinner=False)
def recorded_runs() -> RecordedRuns:
    """Beliefs and ambiguity."""
    return RecordedRuns.model_validate_json(RECORDED_FILE.read_bytes())


@st.cache_resource(show_spinner=False)
def attention_runs() -> AttentionRuns:
    """Attention."""
    return AttentionRuns.model_validate_json(ATTENTION_FILE.read_bytes())


def benchmark_records() -> Records | None:
    """The benchmark's results that are installed, of which the lesson shows Birdsong; None where there are none."""
    path = RESULTS / FILE
    return _records(str(path), path.stat().st_mtime_ns) if path.exists() else None


@st.cache_resource(max_entries=2, show_spinner=False)
def _records(path: str, changed: int) -> Records:
    return Records(Path(path))
