"""Whether a recording shows what the paper's Figure 2 shows, over all its training bags, and where others stand."""

import streamlit as st

from elimipl.training.figure_two import FigureTwo, figure_two
from elimipl.training.trajectories import recordings
from ui.compare import texts
from ui.compare.choices import Comparison, recording


def show_verdict(comparison: Comparison) -> None:
    """The answer, its numbers beside the paper's words, and the same for every recording."""
    left, right = comparison.left, comparison.right
    found = _found(comparison.recorded.about.id, left, right)
    st.subheader(texts.VERDICT_TITLES[found.shown], divider="gray", anchor=False, help=texts.VERDICT_HELP)
    for holds, statement in texts.statements(found, left, right):
        st.markdown(f":{'green' if holds else 'red'}[:material/{'check' if holds else 'close'}:] {statement}")
    about = comparison.recorded.about
    if about.configs[right]["head"] == "softmax_of_sigmoid":
        st.caption(texts.narrow_head(len(about.label_space)))
    with st.expander(texts.medians_title(found.bags), icon=":material/table_chart:"):
        st.markdown(texts.medians_table(found, left, right))
        st.caption(f"{texts.PAPER_VALUES} {texts.SAME_STATEMENT}")
        st.markdown(f"**The same question for every recording** ({left} → {right})")
        known = [name for name in recordings() if {left, right} <= set(recording(name).about.methods)]
        every = [(recording(name).about, _found(name, left, right)) for name in known]
        st.markdown(texts.overview_table(every, right))


@st.cache_resource(max_entries=256, show_spinner=False)
def _found(name: str, left: str, right: str) -> FigureTwo:
    return figure_two(recording(name), left, right)
