"""The teacher's screen: the invitation, votes as they come, and what became of them."""

import io
import time
from collections.abc import Callable
from urllib.parse import urlsplit

import segno
import streamlit as st

from bag_generators import InputError
from elimipl.classroom.store.classes import as_shown
from elimipl.classroom.store.records import ClassSession
from elimipl.classroom.tally import tally
from elimipl_app.classroom import texts
from elimipl_app.classroom.doors import RETURN_KEY
from elimipl_app.classroom.figures import answer_bars
from elimipl_app.classroom.kept import class_store
from elimipl_app.classroom.results import show_confusions, show_files, show_sets, show_votes
from elimipl_app.classroom.training import show_training
from elimipl_app.server.visitor import visitor
from elimipl_app.shell import charts
from elimipl_app.shell.page import show_error
from elimipl_app.shell.palette import current_palette

LIVE_SECONDS = 2.0
_DOOR_ERROR = "class_door_error"
_LOCAL = {"localhost", "127.0.0.1", "::1"}


def show_teacher(session: ClassSession) -> None:
    """The class that this browser opened."""
    with st.sidebar:
        _show_controls(session)
    invitation, room = st.columns([1, 2.6], gap="large")
    with invitation:
        _show_invitation(session)
    with room:
        _show_gate(session)
        st.fragment(_show_live, run_every=None if session.opened else LIVE_SECONDS)(session)
    if session.opened:
        ballots = class_store().votes(session.id, visitor())
        counted = tally(ballots, len(session.pictures), len(session.label_space))
        show_sets(session, counted)
        show_confusions(session, counted)
        generator = show_training(session, counted)
        show_files(session, ballots, counted, generator)


def _show_invitation(session: ClassSession) -> None:
    """The square to scan, the code to type, the link, and how phones get to reach it."""
    url = urlsplit(st.context.url or "")  # this page as the teacher's browser reached it
    link = f"{url.scheme or 'http'}://{url.netloc or 'localhost:8501'}{url.path or '/class'}?join={session.link_key}"
    square = io.BytesIO()
    segno.make(link, error="m", micro=False).save(square, kind="png", scale=8, border=3)  # white in every theme
    st.subheader("Join here", anchor=False)
    st.image(square.getvalue(), width=230, alt=f"QR code of {link}")
    st.markdown(f"## :primary[{as_shown(session.code)}]")
    st.code(link, language=None, wrap_lines=True)
    if urlsplit(link).hostname in _LOCAL:
        with st.expander("Phones can't reach this address yet", icon=":material/wifi_off:"):
            st.markdown(texts.SAFELY)


def _show_controls(session: ClassSession) -> None:
    st.subheader(texts.TITLE, divider="gray", anchor=False)
    until = time.strftime("%d %B at %H:%M", time.localtime(session.expires))
    st.caption(f"Everything is deleted on {until}, or when you say so.")
    _show_door(session)
    if RETURN_KEY not in st.session_state and st.button(
        "Make a key to come back", icon=":material/key:", key="class-new-key"
    ):
        _do(lambda: st.session_state.update({RETURN_KEY: class_store().renew_key(session.id, visitor())}))
    if (key := st.session_state.get(RETURN_KEY)) is not None:
        said = f"Key to come back to the class {as_shown(session.code)} as its teacher. Keep it to yourself.\n\n{key}\n"
        st.download_button(
            "Save the key to come back", said, "class-key.txt", "text/plain",
            help=texts.KEY_HELP, icon=":material/key:", on_click="ignore", key="class-key",
        )  # fmt: skip
    with st.popover("Delete the class", icon=":material/delete:"):
        sure = st.button("Delete it for everybody, now", type="primary", key="class-delete")
    if sure and _do(lambda: class_store().delete(session.id, visitor())):
        st.session_state.pop(RETURN_KEY, None)
        st.session_state["class_deleted"] = True
        st.rerun()


def _show_door(session: ClassSession) -> None:
    """Who may come in, and who has to leave."""
    # As the class is, whatever another tab showed when it was last looked at.
    key = f"class_joining_{session.id}"
    st.session_state[key] = session.joining
    st.toggle("Others may join", key=key, on_change=_change_door, args=(session.id, key))
    if (error := st.session_state.pop(_DOOR_ERROR, None)) is not None:
        show_error(error)
    with st.popover("Remove seats", icon=":material/person_remove:", on_change="rerun", key="class-seats"):
        seats = class_store().seats(session.id, visitor())
        st.caption(texts.REMOVE_ABOUT)

        def seat(number: int) -> str:
            answers = seats.get(number, 0)
            return f"Student {number}, {answers} answer{'' if answers == 1 else 's'}"

        chosen = st.multiselect("Students", list(seats), format_func=seat, key="class_seats")
        some = st.button("Remove these", disabled=not chosen, key="class-remove")
        idle = st.button("Remove all without an answer", disabled=all(seats.values()), key="class-remove-idle")
    if (some or idle) and _do(lambda: class_store().remove_seats(session.id, visitor(), None if idle else chosen)):
        st.rerun()


def _change_door(session: int, key: str) -> None:
    try:
        class_store().let_join(session, visitor(), bool(st.session_state[key]))
    except InputError as error:
        st.session_state[_DOOR_ERROR] = error


def _show_gate(session: ClassSession) -> None:
    """Voting, or looking at the votes: one of the two."""
    label, opens = ("Go on voting", False) if session.opened else ("End voting and open the votes", True)
    with st.container(horizontal=True):
        pressed = st.button(
            label, type="primary" if opens else "secondary", key="class-gate", icon=":material/how_to_vote:"
        )
        revealing = (
            session.opened
            and any(truth is not None for truth in session.truths())
            and st.button(
                "Hide the true labels" if session.revealed else "Reveal the true labels", help=texts.REVEAL_HELP,
                key="class-reveal", icon=":material/visibility_off:" if session.revealed else ":material/key:",
            )
        )  # fmt: skip
    if pressed and _do(lambda: class_store().open_votes(session.id, visitor(), opens)):
        st.rerun()
    if revealing and _do(lambda: class_store().reveal(session.id, visitor(), not session.revealed)):
        st.rerun()


def _show_live(session: ClassSession) -> None:
    """How many have answered what, read anew every time."""
    try:
        ballots = class_store().votes(session.id, visitor())
        students = len(class_store().seats(session.id, visitor()))
    except InputError as error:
        show_error(error)
        return
    counted = tally(ballots, len(session.pictures), len(session.label_space))
    finished = int(((counted.tops >= 0).all(axis=1)).sum()) if len(counted.tops) else 0
    with st.container(horizontal=True):
        st.metric("Students", students, width=130)
        st.metric("Answers", len(ballots), width=130)
        st.metric("Finished", f"{finished} / {students}", width=150)
    if session.opened:
        show_votes(session, ballots, key="teacher")
        return
    st.markdown("**The votes, live**")
    if st.toggle(
        "Show the votes on this screen",
        help="Students who see the screen see them, too. What a phone shows does not change.",
        key="class_show_votes",
    ):
        show_votes(session, ballots, key="teacher")
    else:
        said = ", ".join(map(str, counted.answers.tolist()))
        charts.show(
            answer_bars(counted.answers.tolist(), students, current_palette()),
            "class-answers",
            f"Answers to each picture, of {students} students: {said or 'none'}.",
        )


def _do(change: Callable[[], object]) -> bool:
    """Change something, or say why it could not be changed."""
    try:
        change()
    except InputError as error:
        show_error(error)
        return False
    return True
