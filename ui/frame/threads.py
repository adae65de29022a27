"""One thread per small computation: bags are tiny, and thread barriers cost more than the arithmetic."""

import cv2
import streamlit as st
import torch
from threadpoolctl import threadpool_limits


@st.cache_resource(show_spinner=False)
def one_thread_each() -> threadpool_limits:
    """Set once for the whole server; parallelism goes across visitors. The limits last as long as the object."""
    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    return threadpool_limits(limits=1)
