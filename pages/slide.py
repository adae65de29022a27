"""Slide: zoom into a whole slide, have a model map it, measure regions."""

import streamlit as st

from bag_generators import InputError
from elimipl_app.inputs.method import choose_generator, choose_model
from elimipl_app.shell.page import show_error, start_page
from elimipl_app.slide.mapping import list_maps, show_maps
from elimipl_app.slide.seen import show_slide
from elimipl_app.slide.sources import choose_slide, offer_demo

start_page("Slide", compact=True)
st.markdown(
    "Zoom into a whole slide or a large picture, have a model map it, and measure regions of your own. "
    "A map shows what the model says about each place; it is not a segmentation."
)
with st.sidebar:
    offered = choose_slide()
    predictor = choose_model(choose_generator())
if offered is None:
    offer_demo()
    st.stop()
try:
    chosen, maps = show_maps(offered.open(), predictor)
except InputError as error:
    show_error(error)
    st.stop()
show_slide(chosen, maps)
list_maps()
