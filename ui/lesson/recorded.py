"""The training runs recorded by `scripts/record_lesson.py`."""

import json
from typing import Any

import streamlit as st

from bag_generators import InputError
from bag_generators.assets import assets

RECORDED_FILE = assets("lessons", "recorded_runs.json")
PARTS = ("digits", "weights", "phantoms", "accuracy_by_r")


@st.cache_resource(show_spinner=False)
def recorded_runs() -> dict[str, Any]:
    """All recorded runs. A file that is missing or damaged is an `InputError`."""
    try:
        runs = json.loads(RECORDED_FILE.read_text(encoding="utf-8"))
        return {part: runs[part] for part in PARTS}
    except (OSError, ValueError, KeyError):
        raise InputError(
            "The recorded runs of the lesson are missing or damaged.",
            "Get the project's files again, or record them anew with “python scripts/record_lesson.py”.",
        ) from None
