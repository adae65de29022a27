"""The one place that reads the address: what a link asks for, held against what the page has.

Streamlit fills widgets from the address itself, but it drops what it does not know in silence and trips over empty and
infinite values. So each value is looked at once, before its widget is made. One that does not fit is taken out of the
address, a sentence says so, and the page runs again with the default.
"""

from collections.abc import Callable, Sequence

import streamlit as st

from bag_generators.errors import printable
from ui.frame import texts
from ui.frame.markdown import escape

_PAGE, _LOOKED_AT, _NOTICES, _RUNS_AGAIN = "address_page", "address_looked_at", "address_notices", "address_runs_again"
LONGEST_SHOWN = 40  # characters of a value in a sentence


def start_reading(page: str) -> None:
    """Call first on every page. What was wrong with a link is shown until the page runs for another reason."""
    state = st.session_state
    if state.get(_PAGE) != page:
        state[_PAGE], state[_LOOKED_AT], state[_NOTICES] = page, set(), []
    elif not state.get(_RUNS_AGAIN):
        state[_NOTICES] = []
    state[_RUNS_AGAIN] = False


def show_notices() -> None:
    """What the link asked for in vain, a sentence each."""
    if st.session_state[_NOTICES]:
        st.info("  \n".join(st.session_state[_NOTICES]), icon=":material/link_off:")


def look_at(key: str, label: str, fits: Callable[[list[str]], bool], may_be: str, instead: str) -> None:
    """Check what the address asks for under `key`, once; `may_be` says what fits, `instead` what is shown otherwise."""
    looked_at = st.session_state.setdefault(_LOOKED_AT, set())
    if key in looked_at:
        return
    looked_at.add(key)
    values = st.query_params.get_all(key)
    if values and not fits(values):
        _refuse(key, _notice(label, values, may_be, instead))


def one_name(key: str, label: str, names: Sequence[str]) -> str:
    """The name under a key that belongs to no widget; the first of `names` where there is none or an unknown one."""
    looked_up = st.query_params.get(key, names[0])
    if looked_up in names:
        return looked_up
    _refuse(key, _notice(label, [looked_up], texts.NOT_HERE, escape(names[0])))
    return names[0]


def some_names(key: str, label: str, names: Sequence[str]) -> list[str]:
    """The names under such a key, parted by commas, in the order of `names`."""
    asked = [name for name in st.query_params.get(key, "").split(",") if name]
    if unknown := [name for name in asked if name not in names]:
        _refuse(key, _notice(label, unknown, texts.NOT_HERE, texts.NOTHING), [name for name in asked if name in names])
    return [name for name in names if name in asked]


def write(key: str, value: str) -> None:
    """Put a value under a key that belongs to no widget."""
    st.query_params[key] = value


def everything() -> dict[str, str]:
    """All keys and values of the address as they are now."""
    return st.query_params.to_dict()


def _refuse(key: str, notice: str, kept: Sequence[str] = ()) -> None:
    """Take a value out of the address and run the page again, so that its widget never sees it."""
    if kept:
        st.query_params[key] = ",".join(kept)
    else:
        del st.query_params[key]
    st.session_state[_NOTICES] = [*st.session_state.get(_NOTICES, ()), notice]
    st.session_state[_RUNS_AGAIN] = True
    st.rerun()


def _notice(label: str, values: Sequence[str], may_be: str, instead: str) -> str:
    asked = ", ".join(f"“{escape(_shortened(value))}”" for value in values[:3])
    return texts.link_asks(escape(label), asked if any(values) else "", may_be, instead)


def _shortened(value: str) -> str:
    plain = printable(value)
    return plain if len(plain) <= LONGEST_SHOWN else f"{plain[: LONGEST_SHOWN - 1]}…"
