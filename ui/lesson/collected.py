"""What the learner has seen, counted for tasks such as “try all four”; it stands in the address as `seen`."""

import re

import streamlit as st

from ui.frame import address, texts
from ui.lesson.texts import SEEN_LABEL

_SLOT, _KEY = "lesson-seen", "seen"
_WORD = re.compile(r"[a-z0-9_ ]{1,30}\.[a-z0-9_ ]{1,30}")
MOST = 60


def read_collected() -> None:
    """Take over what a link says was seen; call once a run, first."""
    address.look_at(_KEY, SEEN_LABEL, _fits, texts.NOT_HERE, texts.NOTHING)
    asked = address.newly_asked(_KEY)
    if asked is not None:
        st.session_state[_SLOT] = [word for word in ",".join(asked).split(",") if word]
    _hold()


def collected(name: str, item: object) -> int:
    """Add to what the learner has seen; how many different things of that name it is now."""
    seen = st.session_state.setdefault(_SLOT, [])
    word = f"{name}.{item}"
    if word not in seen:
        st.session_state[_SLOT] = [*seen, word][-MOST:]
    _hold()
    return count_collected(name)


def count_collected(name: str) -> int:
    """How many different things of that name the learner has seen."""
    return sum(word.startswith(f"{name}.") for word in st.session_state.get(_SLOT, ()))


def _hold() -> None:
    seen = st.session_state.get(_SLOT, [])
    address.hold(_KEY, [",".join(seen)] if seen else [])


def _fits(asked: list[str]) -> bool:
    words = ",".join(asked).split(",")
    return len(words) <= MOST and all(_WORD.fullmatch(word) for word in words)
