"""Explore: choose a picture, choose a generator, see the bag."""

import streamlit as st

from ui import wording
from ui.bag_view import show_bag
from ui.generator_panel import choose_generator
from ui.page import start_page
from ui.picture_panel import choose_picture

start_page("Explore")
with st.sidebar:
    image, sample = choose_picture()
    generator = choose_generator()
    outlined = st.toggle(wording.OUTLINE_LABEL, value=True, key="outlines", bind="query-params")
if image is not None:
    show_bag(image, generator, outlined)
