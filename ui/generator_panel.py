"""Where a person chooses how the picture becomes a bag."""

import streamlit as st

from bag_generators import GENERATORS
from ui import wording


def choose_generator() -> str:
    """Name of the chosen generator."""
    st.subheader(wording.GENERATOR_HEADING)
    chosen = st.segmented_control(
        wording.GENERATOR_HEADING,
        options=list(GENERATORS),
        default="sbn",
        required=True,
        format_func=lambda name: GENERATORS[name].title,
        key="generator",
        bind="query-params",
        label_visibility="collapsed",
    )
    st.caption(GENERATORS[chosen].summary)
    return chosen
