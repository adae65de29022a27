"""Steps 4 and 7: the predicted class with its bars, and what happens to them when instances are removed."""

import streamlit as st

from elimipl.explain import rank_agreement, without_instances
from elimipl.predictor import Prediction
from ui.explore import texts
from ui.explore.analysis import Analysis
from ui.figures.bars import class_bars, outside_mass, three_bars
from ui.frame import charts, choices
from ui.frame.markdown import escape
from ui.frame.palette import current_palette


@st.fragment
def show_result(analysis: Analysis) -> None:
    """The answer, its bars and the what-if; changing what is removed reruns only this part."""
    candidates = analysis.candidates
    removed = _removed(analysis)
    shown = without_instances(analysis.predictor, analysis.bag, removed) if removed else analysis.prediction
    _show_answer(shown, analysis)
    before = analysis.prediction.probabilities if removed else None
    palette = current_palette()
    charts.show(
        class_bars(shown.probabilities, analysis.labels, candidates, palette, analysis.true_index, before),
        key="class-bars",
        alt=texts.bars_alt(analysis.labels.names, shown.probabilities),
    )
    _show_figure_two(shown, analysis)
    _ask_what_if(analysis)


def _show_answer(shown: Prediction, analysis: Analysis) -> None:
    space, index, true_index = shown.label_space, shown.index, analysis.true_index
    mark = texts.SCOPE_BADGES[analysis.verdict.in_scope]
    st.subheader(f"{escape(shown.label)} · {shown.probability:.0%}{mark}", anchor=False)
    membership = "a candidate label" if analysis.candidates[index] else "**not** a candidate label"
    verdict = ""
    if true_index is not None:
        verdict = " The true label is " + (
            "the same." if true_index == index else f"{escape(space.names[true_index])}."
        )
    st.caption(f"{escape(space.descriptions[index])} It is {membership}.{verdict}")
    mass = outside_mass(shown.probabilities, analysis.candidates)
    st.markdown(f"**{mass:.1%}** {texts.OUTSIDE_LABEL}", help=texts.OUTSIDE_HELP)


def _show_figure_two(shown: Prediction, analysis: Analysis) -> None:
    raw = choices.switch(texts.RAW_LABEL, "raw", help=texts.RAW_HELP)
    probabilities = shown.raw if raw else shown.probabilities
    charts.show(
        three_bars(probabilities, analysis.candidates, current_palette(), analysis.true_index),
        key="figure-two",
        alt=texts.three_bars_alt(probabilities, analysis.candidates, analysis.true_index),
    )


def _ask_what_if(analysis: Analysis) -> None:
    with st.expander(texts.WHAT_IF_HEADING, expanded=bool(_removed(analysis)), icon=":material/remove_circle:"):
        st.pills(
            texts.WHAT_IF_LABEL,
            options=range(len(analysis.bag.features)),
            selection_mode="multi",
            key="removed",
            help=texts.WHAT_IF_HELP,
        )
        if len(st.session_state.get("removed", [])) >= len(analysis.bag.features):
            st.caption(texts.ALL_REMOVED)
        influence = analysis.scores("leave_one_out", analysis.prediction.index)
        agreement = rank_agreement(analysis.prediction.attention, influence)
        st.caption(texts.agreement_sentence(agreement))
        st.caption(texts.WHAT_ATTENTION_IS)


def _removed(analysis: Analysis) -> list[int]:
    """Instances taken out; those of another bag, or all of them, count as none."""
    count = len(analysis.bag.features)
    chosen = [index for index in st.session_state.get("removed") or [] if index < count]
    return chosen if len(chosen) < count else []
