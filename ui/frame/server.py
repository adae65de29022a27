"""What is set once for the whole server by the page that comes first: one thread per computation, little garbage."""

import gc
import sys

import cv2
import streamlit as st
import torch
from threadpoolctl import threadpool_limits

SECONDS_BETWEEN_COLLECTIONS = 10.0


def prepare_server() -> None:
    """Call on every page; what has been done is not done again."""
    _use_one_thread_per_computation()
    _freeze_what_is_loaded(len(sys.modules))
    _collect_garbage()


@st.cache_resource(show_spinner=False)
def _use_one_thread_per_computation() -> threadpool_limits:
    """Bags are tiny, and thread barriers cost more than the arithmetic; parallelism goes across visitors.

    The limits last as long as the object that is returned.
    """
    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    return threadpool_limits(limits=1)


@st.cache_resource(max_entries=1, show_spinner=False)
def _freeze_what_is_loaded(modules: int) -> None:
    """Take what has been loaded out of the garbage collector's sight: looking through modules holds up all visitors.

    It is done again when more modules have been loaded, as on the first visit to another page.
    """
    gc.collect()  # so that no garbage is kept
    gc.freeze()


@st.cache_resource(max_entries=1, ttl=SECONDS_BETWEEN_COLLECTIONS, show_spinner=False)
def _collect_garbage() -> None:
    """Give memory back now and then. Streamlit would do so after every run of a page (runner.postScriptGC), and among
    many visitors everybody waits for that.
    """
    gc.collect()
