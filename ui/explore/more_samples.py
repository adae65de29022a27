"""A few more real tiles for the gallery, fetched when a person asks for them."""

import tempfile
from pathlib import Path

import streamlit as st

from bag_generators import InputError
from bag_generators.uploads import read_upload
from ui.explore import sentences, texts
from ui.explore.kept_pictures import KeptPicture, keep
from ui.frame.log import timed
from ui.frame.page import show_error

CLASSES = ("LYM", "MUC", "NORM", "TUM")


def offer_more_samples() -> None:
    """One button. It is the only thing on the page that asks the internet."""
    if st.button(texts.MORE_LABEL, key="more-samples", icon=":material/cloud_download:", help=texts.MORE_HELP):
        try:
            with st.spinner(texts.MORE_WAIT), timed("fetch"):
                _fetch()
        except InputError as error:
            show_error(InputError(texts.MORE_FAILED, error.fix))
            return
        st.rerun()


def _fetch() -> None:
    """One tile of each class, kept for the visit like an upload."""
    from elimipl.data.fetch import DATASETS, LICENCE, fetch_tiles  # what asks the internet is loaded when it is asked

    with tempfile.TemporaryDirectory() as folder:
        for path in fetch_tiles(DATASETS[0], 1, Path(folder), classes=CLASSES):
            label = path.parent.name
            keep(KeptPicture(read_upload(path.read_bytes()), sentences.fetched_title(label, LICENCE), label))
