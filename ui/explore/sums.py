"""How the patches add up to the scores of the first and the second choice."""

import streamlit as st

from ui.explore import sentences
from ui.explore.analysis import Analysis
from ui.explore.figures.flipping import running_sum_figure
from ui.explore.view_state import PREDICTED, RUNNER_UP, class_index
from ui.frame import charts
from ui.frame.palette import current_palette


def show_sums(analysis: Analysis) -> None:
    """Two running sums side by side; each ends at the logit of its class."""
    contributions = analysis.every_score("contribution")
    with st.container(key="panels-sums"):
        columns = st.columns(2)
    for choice, column in zip((PREDICTED, RUNNER_UP), columns, strict=True):
        index = class_index(analysis, choice)
        name, own = analysis.labels.titles[index], contributions[:, index]
        with column:
            charts.show(
                running_sum_figure(own, name, current_palette()),
                key=f"sum-{choice}",
                alt=sentences.contribution_sentence(name, own),
            )
            st.caption(sentences.contribution_sentence(name, own))
