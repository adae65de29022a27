"""Streamlit collects garbage after every run of a page; most of what it looks through are modules, which stay."""

import gc
import sys

import streamlit as st


def spare_what_stays() -> None:
    """Take what has been loaded out of the collector's sight. Looking through it holds up all visitors after every run.

    Done again when more has been loaded, as on the first visit to another page; otherwise it costs nothing.
    """
    _freeze(len(sys.modules))


@st.cache_resource(max_entries=1, show_spinner=False)
def _freeze(modules: int) -> None:
    gc.collect()  # so that no garbage is kept
    gc.freeze()
