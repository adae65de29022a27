"""Explore: upload a picture, get the class, see and question what the model looked at."""

import streamlit as st

from bag_generators import InputError
from ui.explore.analysis import analyse, true_index
from ui.explore.bag import show_bag, show_bag_alone
from ui.explore.candidates import choose_candidates
from ui.explore.checks import show_checks
from ui.explore.field import choose_field
from ui.explore.method import choose_generator, choose_model
from ui.explore.overlay import show_overlay
from ui.explore.picture import choose_picture
from ui.explore.result import show_result
from ui.explore.take_away import show_take_away
from ui.frame.page import show_error, show_notes, start_page

start_page("Explore")
with st.sidebar:
    picture = choose_picture()
    generator = choose_generator()
    predictor = choose_model(generator)
if picture is not None and predictor is None:
    show_bag_alone(picture.image, generator)
if picture is None or predictor is None:
    st.stop()
with st.sidebar:
    labels = predictor.card.label_space
    candidates = choose_candidates(labels, true_index(labels, picture.sample), picture.sample)

show_notes(picture.image.notes)
try:
    view = choose_field(picture, predictor)
    analysis = analyse(view, picture.sample, predictor, candidates)
except InputError as error:
    show_error(error)
    st.stop()

show_checks(analysis)
with st.container(key="panels"):
    left, right = st.columns([1.15, 1], gap="large")
with left:
    show_overlay(analysis)
with right:
    show_result(analysis)
    show_take_away(analysis)
show_bag(analysis.bag)
