"""Batch: many pictures at once, one row each."""

import streamlit as st

from elimipl_app.batch.panel import INTRO, choose_files, show_batch
from elimipl_app.inputs.method import choose_generator, choose_model
from elimipl_app.shell.page import start_page

start_page("Batch", compact=True)
st.markdown(INTRO)
with st.sidebar:
    predictor = choose_model(choose_generator())
if predictor is None:
    st.stop()
show_batch(choose_files(), predictor)
