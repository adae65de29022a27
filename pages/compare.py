"""Compare models: the paper's Figure 2, recorded epoch by epoch, for any two methods."""

import streamlit as st

from bag_generators import InputError
from elimipl_app.compare import texts
from elimipl_app.compare.page import choose_comparison, show_comparison, show_live, show_verdict
from elimipl_app.shell.page import show_error, start_page

start_page("Compare models")
st.markdown(texts.INTRO)
try:
    with st.sidebar:
        comparison = choose_comparison()
    if comparison is not None:
        st.caption(texts.about(comparison.recorded.about))
        show_verdict(comparison)
        show_comparison(comparison)
        show_live(comparison)
except InputError as error:
    show_error(error)
