"""Compare models: the paper's Figure 2, recorded epoch by epoch, for any two methods."""

import streamlit as st

from bag_generators import InputError
from elimipl_app.compare import texts
from elimipl_app.compare.page import choose_comparison, show_comparison, show_live, show_verdict
from elimipl_app.shell.page import show_error, start_page

start_page("Compare models")
st.markdown(
    "Two methods, the same bag, the same candidate labels. A good one lifts the **true label** away from the other "
    "candidates and presses the **non-candidates** down: nobody told it which candidate is true, but everybody agrees "
    "on what the bag is not."
)
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
