"""Train: candidate sets in, a model out, and everything in between in view."""

import streamlit as st

from bag_generators import InputError
from ui.frame.page import show_error, start_page
from ui.train import texts
from ui.train.controls import show_training
from ui.train.data import choose_data, show_data
from ui.train.plan import make_plan
from ui.train.settings import DEFAULT_METHOD, choose_candidates, choose_method, choose_settings
from ui.train.what_if import show_what_if

start_page("Train")
st.markdown(texts.INTRO)
plan, method = None, DEFAULT_METHOD
try:
    with st.sidebar:
        data = choose_data()
        if data is not None:
            show_data(data)
            candidates = choose_candidates(data)
            method = choose_method()
            config, share, pace = choose_settings(method, data.dataset)
    if data is None:
        st.info("Upload a .zip of class folders or a bag file to begin.", icon=":material/upload_file:")
    else:
        plan = make_plan(f"{method} on {data.title}", data.dataset, candidates, config, share, pace, data.qualities)
except InputError as error:
    show_error(error)
show_training(plan)
show_what_if(method)
