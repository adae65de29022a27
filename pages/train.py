"""Train: candidate sets in, a model out, and everything in between in view."""

import streamlit as st

from bag_generators import InputError
from elimipl_app.runs.worker import make_plan
from elimipl_app.shell.page import show_error, start_page
from elimipl_app.train.data import choose_data, show_data
from elimipl_app.train.live import show_training
from elimipl_app.train.settings import DEFAULT_METHOD, choose_crowd, choose_method, choose_settings
from elimipl_app.train.what_if import show_what_if

start_page("Train")
st.markdown(
    "Train a model on bags whose labels are only **candidate sets**, and watch it find out which candidate is true. "
    "Here are bags of the paper's seven tissues, real and drawn, of digits, and any label space in a file of your own. "
    "Nothing you do here changes the models that ship, or anybody else's."
)
plan, method = None, DEFAULT_METHOD
try:
    with st.sidebar:
        data = choose_data()
        if data is not None:
            show_data(data)
            candidates = choose_crowd(data)
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
