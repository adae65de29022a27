"""Batch: many pictures at once, one row each."""

import streamlit as st

from ui.batch.panel import INTRO, choose_files, show_batch
from ui.explore.method import choose_generator, choose_model
from ui.frame.page import start_page

start_page("Batch")
st.markdown(INTRO)
with st.sidebar:
    predictor = choose_model(choose_generator())
if predictor is None:
    st.stop()
show_batch(choose_files(), predictor)
