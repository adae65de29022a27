"""Slide: zoom into a whole slide, have a model map it, measure regions."""

import streamlit as st

from bag_generators import InputError
from ui.explore.method import choose_generator, choose_model
from ui.frame.page import show_error, start_page
from ui.slide import texts
from ui.slide.mapping import list_maps, show_maps
from ui.slide.seen import show_slide
from ui.slide.sources import choose_slide, offer_demo

start_page("Slide", compact=True)
st.markdown(texts.INTRO)
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
