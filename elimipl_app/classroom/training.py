"""Two models learn from the class, on the spot, and show what its doubt cost."""

import streamlit as st

from bag_generators import InputError
from elimipl.classroom.learning import DEFAULT_GENERATOR
from elimipl.classroom.outcome import ClassOutcome, read_outcome
from elimipl.classroom.store.records import ClassSession
from elimipl.classroom.tally import Tally
from elimipl_app.classroom import texts
from elimipl_app.classroom.figures import cost_bars
from elimipl_app.classroom.kept import class_store
from elimipl_app.classroom.worker import ClassTraining, begin, latest
from elimipl_app.inputs import picker
from elimipl_app.server.visitor import visitor
from elimipl_app.shell import charts
from elimipl_app.shell.markdown import escape
from elimipl_app.shell.page import show_error
from elimipl_app.shell.palette import current_palette
from elimipl_app.shell.texts import in_line

POLL_SECONDS = 1.0
MOST_TRIES = 3  # a training that ends the server, for want of memory, say, must not do so for ever


def show_training(session: ClassSession, counted: Tally) -> str:
    """Choose a generator, train, look; the name of the generator."""
    st.subheader("What did the doubt cost?", anchor=False)
    generator = picker.choose_generator("class_generator", default=DEFAULT_GENERATOR)
    run = latest(session)
    if run is None and session.training is not None:
        if session.training.tries < MOST_TRIES:
            _start(session, counted, session.training.generator, session.training.tries + 1)
        else:
            st.warning(texts.CUT_OFF_TOO_OFTEN, icon=":material/warning:")
    if run is not None and run.tries > 1:
        st.info(texts.BEGUN_AGAIN, icon=":material/restart_alt:")
    if run is not None and run.alive:
        st.fragment(_show_progress, run_every=POLL_SECONDS)(run)
    else:
        st.markdown(texts.COST_INTRO)
        if st.button(
            "Train on the class's answers", type="primary", icon=":material/model_training:", key="class-train"
        ):
            _start(session, counted, generator)
        if run is not None and (error := run.progress.error) is not None:
            show_error(error)
    if session.outcome is not None:
        show_outcome(session, read_outcome(session.outcome))
    return generator


def show_outcome(session: ClassSession, outcome: ClassOutcome) -> None:
    """Accuracy and disambiguation of both methods on every kind of labels, and every picture's winner."""
    names = session.label_space.titles
    parts = (
        ("held_out", "Right on pictures nobody voted on"),
        ("disambiguation", "Right among the class's own candidates"),
    )
    for column, (of, heading) in zip(st.columns(2, gap="large"), parts, strict=True):
        with column:
            st.markdown(f"**{heading}**")
            if not any(getattr(fit, of) for fit in outcome.fits):
                st.info(texts.NOT_MEASURED[of], icon=":material/help:")
                continue
            charts.show(cost_bars(outcome, of, current_palette()), f"class-cost-{of}", texts.cost_alt(outcome, of))
    for sentence in texts.cost_sentences(outcome):
        st.markdown(sentence)
    truths = session.shown_truths()
    lines = [
        texts.winner(
            learned.picture,
            escape(names[max(range(len(names)), key=learned.weights.__getitem__)]),
            max(learned.weights),
            None if (truth := truths[learned.picture - 1]) is None else escape(names[truth]),
        )
        for learned in outcome.learned
    ]
    with st.expander("What ELIMIPL made of every picture"):
        st.markdown("\n".join(f"- {line}" for line in lines))
    st.caption(texts.how_trained(outcome))


def _start(session: ClassSession, counted: Tally, generator: str, tries: int = 1) -> None:
    try:
        begin(class_store(), session, visitor(), counted, generator, tries)
    except InputError as error:
        show_error(error)
        return
    st.rerun()


def _show_progress(run: ClassTraining) -> None:
    if not run.alive:
        st.rerun()  # the whole page: the result is in the database
    share = run.progress.done / max(1, run.progress.total)
    bar, stop = st.columns([4, 1], vertical_alignment="center")
    bar.progress(share, in_line(*run.place) or f"{share:.0%} of the trainings")
    stop.button("Stop", icon=":material/stop:", on_click=run.stop, key="class-stop", width="stretch")
