"""What a visitor trains: the one run on a page, found again after a reload, and the models that came out."""

import io
import zipfile
from collections.abc import Callable

import streamlit as st
from streamlit.runtime import exists, get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx

from bag_generators import GENERATORS
from elimipl import jobs
from elimipl.answers.predictor import Predictor
from elimipl.cards.finish import Finished
from elimipl_app.runs.worker import Plan, TrainingRun
from elimipl_app.server.log import model_name
from elimipl_app.server.visitor import KeptForVisitors, visitor
from elimipl_app.shell.download import download_button

POLL_SECONDS = 0.5
_RUN = "train_run"


def current_run(key: str = _RUN) -> TrainingRun | None:
    """The visitor's latest run, over or not; after a reload the one of the visit before."""
    if key not in st.session_state:
        run: TrainingRun | None = next(iter(jobs.SERVER.of(visitor(), key)), None)
        if run is not None and not run.is_watched():  # else another tab has it
            run.watched_by(visitor_check())
            count_from(run.number)
            st.session_state[key] = run
    return st.session_state.get(key)


def start_run(plan: Plan, key: str = _RUN) -> TrainingRun:
    """Start training; a run of this visitor that is still going on in the same place ends."""
    before = current_run(key)
    if before is not None:
        before.stop()
    run = TrainingRun(plan, next_number(), visitor_check(), visitor(), key)
    st.session_state[key] = jobs.SERVER.start(run)
    return run


def visitor_check() -> Callable[[], bool]:
    """A question that any thread may ask: is the tab this page was drawn in still connected?

    Hidden tabs stay connected, closed ones don't. A heartbeat from the page would not do: browsers let the
    timers of hidden tabs sleep.
    """
    context = get_script_run_ctx()
    if context is None or not exists():
        return lambda: True
    runtime, session = get_instance(), context.session_id
    return lambda: bool(runtime.is_active_session(session))


MOST_KEPT = 6
MOST_VISITORS = 32  # whose models wait for a reload
DOWNLOAD_HELP = "A zip of two files: the weights (safetensors) and the card (JSON) that says how they came about."
TRAINED_TITLES = {"shipped": "Shipped", "trained": "Trained by you"}
_KEPT, _COUNT, _ORIGIN = "trained_models", "trained_count", "model_origin"


def trained_models() -> dict[str, Predictor]:
    """The models of this visit, and of the one before a reload, by id, the oldest first."""
    _recall()
    return st.session_state[_KEPT]


def next_number() -> int:
    """Number of the next model of this visit."""
    _recall()
    st.session_state[_COUNT] += 1
    return st.session_state[_COUNT]


def count_from(number: int) -> None:
    """Go on counting behind a model that a visit before this one made."""
    _recall()
    st.session_state[_COUNT] = max(number, st.session_state[_COUNT])


def keep(predictor: Predictor) -> None:
    """Keep a model for this visit; the oldest make room."""
    models = trained_models()
    models[predictor.card.id] = predictor
    while len(models) > MOST_KEPT:
        models.pop(next(iter(models)))
    _recall()


def _recall() -> None:
    """Begin a visit with what this browser has left from the one before, and leave what it has for the next."""
    state = st.session_state
    if _KEPT not in state:
        models, state[_COUNT] = _left_behind().of(visitor()) or ({}, 0)
        state[_KEPT] = dict(models)
    state.setdefault(_COUNT, 0)
    if state[_KEPT]:
        _left_behind().keep(visitor(), (dict(state[_KEPT]), state[_COUNT]))


@st.cache_resource(show_spinner=False)
def _left_behind() -> KeptForVisitors[tuple[dict[str, Predictor], int]]:
    return KeptForVisitors(MOST_VISITORS)


def choose_trained(generator: str) -> Predictor | None:
    """A choice between the shipped models (None) and those of this visit that read bags of `generator`."""
    fitting = {name: model for name, model in trained_models().items() if model.card.generator == generator}
    if not fitting:
        return None
    st.session_state.setdefault(_ORIGIN, "shipped")
    origin = st.segmented_control(
        "Models",
        options=list(TRAINED_TITLES),
        required=True,
        format_func=TRAINED_TITLES.__getitem__,
        key=_ORIGIN,
    )
    if origin == "shipped":
        return None
    chosen = st.selectbox(
        "Which one",
        options=list(reversed(fitting)),
        format_func=lambda name: f"{name}: {fitting[name].card.training_data.name}",
        key=f"trained_{generator}",
    )
    pictures = fitting[chosen].card.pictures or "data of an unknown kind"
    st.caption(f"Trained by you on {pictures}; gone ten minutes after the tab is closed.")
    return fitting[chosen]


def show_take_along(trained: Finished) -> None:
    """Download the model, or go and use it."""
    card = trained.card
    with st.container(horizontal=True):
        download_button(
            "Download the model",
            lambda: model_zip(trained),
            f"{card.id}.zip",
            "application/zip",
            model_name(card),
            icon=":material/download:",
            help=DOWNLOAD_HELP,
        )
        if card.generator not in GENERATORS:
            st.caption("This model reads digits, not tissue, so the Explore page can't use it.")
        elif st.button("Use it on the Explore page", icon=":material/biotech:", key="to_explore"):
            st.session_state[_ORIGIN] = "trained"
            st.switch_page("app.py", query_params={"generator": GENERATORS[card.generator].title})


def model_zip(trained: Finished) -> bytes:
    """The two files of the model, exactly as they would lie on disk, in one zip; needs no disk."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(trained.files().items()):
            archive.writestr(name, content)
    return buffer.getvalue()
