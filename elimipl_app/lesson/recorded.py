"""The training runs recorded by `scripts/record_lesson.py` and `scripts/record_attention.py`."""

import json
from pathlib import Path
from typing import Any

import streamlit as st

from bag_generators.base.assets import assets
from elimipl.benchmark.records import FILE, RESULTS, Records

RECORDED_FILE = assets("lessons", "recorded_runs.json")
ATTENTION_FILE = assets("lessons", "attention_runs.json")


class Recording(dict[str, Any]):
    """An entry of a recording, whose own entries are attributes, too. The script that made it says what they are."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def believed(bag: Recording) -> int:
    """The candidate of a training bag that is believed most after training."""
    last: list[float] = bag.weights[-1]
    return last.index(max(last))


def ends_wrong(bag: Recording) -> bool:
    """Whether that is a false positive."""
    return bool(believed(bag) != bag.true)


@st.cache_resource(show_spinner=False)
def recorded_runs() -> Recording:
    """Beliefs and ambiguity."""
    return _read(RECORDED_FILE)


@st.cache_resource(show_spinner=False)
def attention_runs() -> Recording:
    """Attention."""
    return _read(ATTENTION_FILE)


def _read(path: Path) -> Recording:
    found: Recording = json.loads(path.read_bytes(), object_hook=Recording)
    return found


def benchmark_records() -> Records | None:
    """The benchmark's results that are installed, of which the lesson shows Birdsong; None where there are none."""
    path = RESULTS / FILE
    return _records(str(path), path.stat().st_mtime_ns) if path.exists() else None


@st.cache_resource(max_entries=2, show_spinner=False)
def _records(path: str, changed: int) -> Records:
    return Records(Path(path))
