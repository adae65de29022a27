"""Results: the paper's tables and figures as they came out here, beside the paper's numbers."""

import streamlit as st

from bag_generators import InputError
from ui.frame.page import show_error, start_page
from ui.results.page import (
    INTRO,
    NO_RESULTS,
    choose,
    load_claims,
    load_records,
    show_accuracies,
    show_claims,
    show_costs,
    show_curves,
    show_table,
)

start_page("Results")
st.markdown(INTRO)
try:
    records = load_records()
    if records is None:
        st.warning(NO_RESULTS, icon=":material/warning:")
    else:
        with st.sidebar:
            choice = choose(records)
        if choice.methods:
            show_accuracies(choice)
            show_curves(choice)
            show_costs(choice)
            show_table(choice)
        else:
            st.info("Choose at least one method.", icon=":material/info:")
        show_claims(load_claims())
except InputError as error:
    show_error(error)
