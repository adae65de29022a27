"""What a student sees, on a phone: one picture at a time, then what the class said."""

from collections.abc import Collection

import streamlit as st

from bag_generators import InputError
from elimipl.classroom.outcome import read_outcome
from elimipl.classroom.store.records import Ballot, ClassSession
from elimipl_app.classroom import texts
from elimipl_app.classroom.kept import class_store, network_address
from elimipl_app.classroom.results import show_votes
from elimipl_app.classroom.training import show_outcome
from elimipl_app.server.visitor import visitor
from elimipl_app.shell.markdown import escape, option_text
from elimipl_app.shell.page import show_error

WATCH_SECONDS = 4.0
# Nothing but the picture and the labels, however small the screen.
STYLE = """<style>
[data-testid="stSidebar"], [data-testid="stExpandSidebarButton"], [data-testid="stHeader"] {display: none}
div.stMainBlockContainer {padding: .6rem .9rem 2rem .9rem; max-width: 42rem}
div.stMainBlockContainer > [data-testid="stVerticalBlock"] {gap: .6rem}
.st-key-head h1 {font-size: 1.2rem; padding: 0}
.st-key-class-picture img {width: 100%; max-height: 36vh; object-fit: contain; border-radius: .4rem}
</style>"""
_AT, _NOT_SENT = "class_at", "class_not_sent"


def show_student(entered: str) -> None:
    """The class that a link or code leads to, as its students see it."""
    st.html(STYLE)
    store = class_store()
    session, number = store.join(entered, visitor(), network_address())
    _watch(session.id, (session.opened, session.revealed, session.outcome is not None))
    if session.opened:
        st.subheader("What the class said", anchor=False)
        show_votes(session, store.opened_votes(session.id, visitor()), key="student")
        if session.outcome is not None:
            show_outcome(session, read_outcome(session.outcome))
    else:
        _show_ballot(session)
    st.caption(f"You are student {number}. Nobody sees your answers before the teacher opens all of them.")


@st.fragment(run_every=WATCH_SECONDS)
def _watch(session: int, stage: tuple[bool, bool, bool]) -> None:
    """Run the page again when the teacher has opened the votes, revealed the truth, trained or deleted the class."""
    try:
        changed = class_store().stage(session) != stage
    except InputError:
        changed = True
    if changed:
        st.rerun()


def _show_ballot(session: ClassSession) -> None:
    answered = class_store().own_votes(session.id, visitor())
    numbers = [picture.number for picture in session.pictures]
    at = st.session_state.get(f"{_AT}_{session.id}") or _next_open(numbers, answered, 0)
    st.markdown(f"**Picture {at} of {len(numbers)}** · {len(answered)} answered")
    if len(answered) == len(numbers):
        st.success(texts.ALL_DONE, icon=":material/check_circle:")
    with st.container(key="class-picture"):
        png = class_store().picture(session.id, at)
        st.image(png, width="stretch", alt=texts.picture_alt(at), output_format="PNG")  # sent as it is, not packed anew
    _show_form(session, at, answered)
    with st.container(horizontal=True):
        st.button("Back", key="class-back", on_click=_go, args=(session, at - 1), disabled=at == 1)
        st.button("Next", key="class-next", on_click=_go, args=(session, at + 1), disabled=at == len(numbers))
    if meanings := texts.meanings(session.label_space):
        with st.expander("What the labels mean"):
            st.markdown(meanings)


def _show_form(session: ClassSession, at: int, answered: dict[int, Ballot]) -> None:
    labels, before = session.label_space, answered.get(at)
    options = list(range(len(labels)))

    def title(number: int) -> str:
        return option_text(texts.label_title(labels, number))

    with st.form(f"ballot-{at}", border=False):
        st.pills(
            "What is it most likely?",
            options,
            default=before.top if before else None,
            format_func=title,
            key=f"class_top_{session.id}_{at}",
        )
        st.pills(
            "What else could it be?",
            options,
            selection_mode="multi",
            default=[number for number in before.named if number != before.top] if before else None,
            format_func=lambda number: option_text(labels.titles[number]),
            help="Tick every label you would not bet against.",
            key=f"class_also_{session.id}_{at}",
        )
        st.form_submit_button(
            "Send",
            type="primary",
            icon=":material/send:",
            width="stretch",
            key=f"class-send-{at}",
            on_click=_send,
            args=(session, at, {*answered, at}),
        )
    if before is not None:
        named = ", ".join(escape(labels.titles[number]) for number in before.named)
        st.caption(f"Kept: most likely {escape(labels.titles[before.top])}; possible {named}. Send again to change it.")
    if (error := st.session_state.pop(_NOT_SENT, None)) is not None:
        show_error(error)


def _send(session: ClassSession, at: int, answered: Collection[int]) -> None:
    """Vote and turn to the next picture, before the page is drawn: a class votes within seconds."""
    top, also = (st.session_state[f"class_{name}_{session.id}_{at}"] for name in ("top", "also"))
    try:
        if top is None:
            raise InputError("Nothing was sent.", "Choose what it is most likely.")
        class_store().vote(session.id, visitor(), at, sorted({top, *also}), top)
    except InputError as error:
        st.session_state[_NOT_SENT] = error
    else:
        _go(session, _next_open([picture.number for picture in session.pictures], answered, at))


def _go(session: ClassSession, number: int) -> None:
    st.session_state[f"{_AT}_{session.id}"] = number


def _next_open(numbers: list[int], answered: Collection[int], after: int) -> int:
    """The next picture without an answer, from the beginning again after the last; the same one when all are done."""
    later = [number for number in (*numbers[after:], *numbers[:after]) if number not in answered]
    return later[0] if later else (after or numbers[0])
