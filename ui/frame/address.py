"""The one place that reads the address: what a link asks for, held against what the page has.

Streamlit fills widgets from the address itself, but it drops what it does not know in silence and trips over empty and
infinite values. So each value is looked at once, before its widget is made. One that does not fit is taken out of the
address, a sentence says so, and the page runs again with the default. Keys that the page never reads are named, too.
"""

from collections.abc import Callable, Sequence

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state.common import user_key_from_element_id

from bag_generators.errors import printable
from ui.frame import texts
from ui.frame.link_keys import unknown_keys
from ui.frame.markdown import escape

_PAGE, _LOOKED_AT, _NOTICES, _RUNS_AGAIN = "address_page", "address_looked_at", "address_notices", "address_runs_again"
_FOLLOWED, _FIRST_PAGE = "address_followed", "address_first_page"
LONGEST_SHOWN = 40  # characters of a value in a sentence
MOST_NAMED = 3  # values or keys in a sentence


def start_reading(page: str) -> None:
    """Call first on every page. What was wrong with a link is shown until the page runs for another reason."""
    state = st.session_state
    if state.get(_PAGE) != page:
        state[_FIRST_PAGE] = _PAGE not in state
        state[_PAGE], state[_LOOKED_AT], state[_NOTICES] = page, set(), []
        state[_FOLLOWED] = set()
        _drop_unknown_keys(page)
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
        _refuse(key, refusal_notice(label, values, may_be, instead))


def newly_asked(key: str) -> list[str] | None:
    """What the address asks for under `key` when a page is opened, or after the browser's back and forward buttons.

    None at all other times: a person who has chosen since knows better, also one whose choice reaches a server that
    was started again and has not shown the page yet. No values mean the default.
    """
    followed = st.session_state.setdefault(_FOLLOWED, set())
    context = get_script_run_ctx()
    by_history = context is not None and context.is_history_navigation
    if not by_history and (key in followed or _brought_along(key)):
        return None
    values = list(st.query_params.get_all(key))
    return values if values or by_history else None


def settle(key: str) -> None:
    """Call when what the address asked for is done: not before, for a run that is broken off would lose it."""
    st.session_state.setdefault(_FOLLOWED, set()).add(key)


def _brought_along(key: str) -> bool:
    """Whether the browser sent the value of this widget with the first page of a visit, as it does to a new server."""
    context = get_script_run_ctx()
    if context is None or not st.session_state.get(_FIRST_PAGE):
        return False
    sent = list(context.session_state._state._new_widget_state)
    return any(user_key_from_element_id(name) == key for name in sent)


def hold(key: str, values: Sequence[str]) -> None:
    """Let the address say what is chosen; nothing stands for the default."""
    settle(key)
    if list(st.query_params.get_all(key)) == list(values):
        return
    if values:
        st.query_params[key] = list(values)
    else:
        del st.query_params[key]


def one_name(key: str, label: str, names: Sequence[str]) -> str:
    """The name under a key that belongs to no widget; the first of `names` where there is none or an unknown one."""
    looked_up = st.query_params.get(key, names[0])
    if looked_up in names:
        return looked_up
    _refuse(key, refusal_notice(label, [looked_up], texts.NOT_HERE, escape(names[0])))
    return names[0]


def some_names(key: str, label: str, names: Sequence[str]) -> list[str]:
    """The names under such a key, parted by commas, in the order of `names`."""
    asked = [name for name in st.query_params.get(key, "").split(",") if name]
    if unknown := [name for name in asked if name not in names]:
        _refuse(
            key,
            refusal_notice(label, unknown, texts.NOT_HERE, texts.NOTHING),
            [name for name in asked if name in names],
        )
    return [name for name in names if name in asked]


def write(key: str, value: str) -> None:
    """Put a value under a key that belongs to no widget."""
    st.query_params[key] = value


def everything() -> dict[str, str]:
    """All keys and values of the address as they are now."""
    return st.query_params.to_dict()


def _drop_unknown_keys(page: str) -> None:
    """Take the keys that nothing on the page reads out of the address, and say so."""
    unknown = unknown_keys(page, list(st.query_params))
    for key in unknown:
        del st.query_params[key]
    if unknown:
        st.session_state[_NOTICES] = [unknown_notice(unknown)]


def _refuse(key: str, notice: str, kept: Sequence[str] = ()) -> None:
    """Take a value out of the address and run the page again, so that its widget never sees it."""
    if kept:
        st.query_params[key] = ",".join(kept)
    else:
        del st.query_params[key]
    st.session_state[_NOTICES] = [*st.session_state.get(_NOTICES, ()), notice]
    st.session_state[_RUNS_AGAIN] = True
    st.rerun()


def refusal_notice(label: str, values: Sequence[str], may_be: str, instead: str) -> str:
    """The sentence on values that do not fit: `may_be` says what would, `instead` what is shown."""
    asked = ", ".join(f"“{escape(_shortened(value))}”" for value in values[:MOST_NAMED])
    return texts.link_asks(escape(label), asked if any(values) else "", may_be, instead)


def unknown_notice(keys: Sequence[str]) -> str:
    """The sentence on keys that no widget reads, which names a few of them where there are many."""
    named = ", ".join(f"“{escape(_shortened(key))}”" for key in keys[:MOST_NAMED])
    return texts.link_sets(named, len(keys), len(keys) - MOST_NAMED)


def _shortened(value: str) -> str:
    plain = printable(value)
    return plain if len(plain) <= LONGEST_SHOWN else f"{plain[: LONGEST_SHOWN - 1]}…"
