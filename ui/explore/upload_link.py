"""Links to a view of somebody's own picture: they name it by its hash, and the page waits until it is opened."""

import re

import streamlit as st

from ui.explore import sentences, texts
from ui.explore.kept_pictures import kept_pictures, show_kept, shown_kept
from ui.frame import address

KEY = "picture"
DIGITS = 16
"""Of the sha256 in a link: enough to tell any two pictures apart."""
_WAITS, _OTHER = "link_waits_for", "link_had_other"


def follow_link() -> None:
    """Call when a new upload has been received: show the picture of the link if it is there, else wait for it."""
    state = st.session_state
    address.look_at(KEY, texts.LINK_PICTURE_LABEL, _hash, texts.A_SAMPLE, texts.NOT_A_HASH)
    asked = address.newly_asked(KEY)
    if asked is not None:
        state[_WAITS] = asked[0] if asked else None
        if not asked:  # back in the history, where a sample was shown
            show_kept(None)
    state[_OTHER] = None
    wanted = state.get(_WAITS)
    if wanted is not None:
        found = next((sha256 for sha256 in kept_pictures() if sha256.startswith(wanted)), None)
        if found is not None:
            show_kept(found)
        elif shown_kept() is not None:
            state[_OTHER] = wanted
        else:
            address.settle(KEY)
            return
        state[_WAITS] = None
    own = shown_kept()
    address.hold(KEY, [] if own is None else [own.image.sha256[:DIGITS]])


def is_waiting() -> bool:
    """Whether the link names a picture that this visitor has not opened yet."""
    return st.session_state.get(_WAITS) is not None


def show_waiting() -> None:
    """Say which picture the link was made with, or that another one was opened."""
    if is_waiting():
        st.info(sentences.link_waits(st.session_state[_WAITS]), icon=":material/link:")
        st.button(texts.STOP_WAITING, key="stop-waiting", on_click=_stop_waiting)
    elif (wanted := st.session_state.get(_OTHER)) is not None:
        st.info(sentences.link_had_other(wanted), icon=":material/link_off:")


def _stop_waiting() -> None:
    st.session_state[_WAITS] = None


def _hash(asked: list[str]) -> str:
    if len(asked) != 1 or not re.fullmatch(rf"[0-9a-f]{{{DIGITS},64}}", asked[0]):
        raise ValueError
    return asked[0]
