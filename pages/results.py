"""Results: answers first, then the paper's tables and figures as they came out here, beside the paper's numbers."""

import streamlit as st

from bag_generators import InputError
from elimipl_app.results.answers import show_answers, show_forest
from elimipl_app.results.crowd import show_crowd
from elimipl_app.results.page import (
    INTRO,
    NO_RESULTS,
    choose,
    load_results,
    show_accuracies,
    show_claims,
    show_costs,
    show_curves,
    show_table,
)
from elimipl_app.shell.page import show_error, start_page

start_page("Results")
st.markdown(INTRO)
try:
    results = load_results()
    if results is None:
        st.warning(NO_RESULTS, icon=":material/warning:")
    else:
        with st.sidebar:
            choice = choose(results[0])
        show_forest(results[0])
        show_answers(results[0])
        if choice.methods:
            show_accuracies(choice)
            show_curves(choice)
            show_costs(choice)
            show_table(choice)
        else:
            st.info("Choose at least one method.", icon=":material/info:")
        show_claims(results[1])
    show_crowd()
except InputError as error:
    show_error(error)
