"""Models a visitor trained: kept for the visit, used on the Explore page, taken along as files."""

import io
import zipfile

import streamlit as st

from bag_generators import GENERATORS
from elimipl.cards.finish import Finished
from elimipl.predictor import Predictor
from ui.frame.download import download_button
from ui.frame.log import model_name
from ui.train import texts

MOST_KEPT = 6
_KEPT, _COUNT, _ORIGIN = "trained_models", "trained_count", "model_origin"


def trained_models() -> dict[str, Predictor]:
    """The models of this visit by id, the oldest first."""
    return st.session_state.setdefault(_KEPT, {})


def next_number() -> int:
    """Number of the next model of this visit."""
    st.session_state[_COUNT] = st.session_state.get(_COUNT, 0) + 1
    return st.session_state[_COUNT]


def keep(predictor: Predictor) -> None:
    """Keep a model for this visit; the oldest make room."""
    models = trained_models()
    models[predictor.card.id] = predictor
    while len(models) > MOST_KEPT:
        models.pop(next(iter(models)))


def choose_trained(generator: str) -> Predictor | None:
    """A choice between the shipped models (None) and those of this visit that read bags of `generator`."""
    fitting = {name: model for name, model in trained_models().items() if model.card.generator == generator}
    if not fitting:
        return None
    st.session_state.setdefault(_ORIGIN, "shipped")
    origin = st.segmented_control(
        texts.TRAINED_LABEL,
        options=list(texts.TRAINED_TITLES),
        required=True,
        format_func=texts.TRAINED_TITLES.__getitem__,
        key=_ORIGIN,
    )
    if origin == "shipped":
        return None
    chosen = st.selectbox(texts.WHICH_TRAINED_LABEL, options=list(reversed(fitting)), key=f"trained_{generator}")
    st.caption(texts.trained_about(fitting[chosen].card.pictures))
    return fitting[chosen]


def show_take_along(trained: Finished) -> None:
    """Download the model, or go and use it."""
    card = trained.card
    with st.container(horizontal=True):
        download_button(
            texts.DOWNLOAD_LABEL,
            lambda: model_zip(trained),
            f"{card.id}.zip",
            "application/zip",
            model_name(card),
            icon=":material/download:",
            help=texts.DOWNLOAD_HELP,
        )
        if card.generator not in GENERATORS:
            st.caption(texts.NOT_FOR_PICTURES)
        elif st.button(texts.EXPLORE_LABEL, icon=":material/biotech:", key="to_explore"):
            st.session_state[_ORIGIN] = "trained"
            st.switch_page("app.py", query_params={"generator": GENERATORS[card.generator].title})


def model_zip(trained: Finished) -> bytes:
    """The two files of the model, exactly as they would lie on disk, in one zip; needs no disk."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(trained.files().items()):
            archive.writestr(name, content)
    return buffer.getvalue()
