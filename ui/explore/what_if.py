"""What if some patches were not there? By hand, from the keyboard, or the fewest that change the answer."""

import streamlit as st

from elimipl.explain import rank_agreement
from elimipl.trust.one_bag import smallest_flip
from ui.explore import sentences, texts
from ui.explore.analysis import Analysis
from ui.explore.view_state import bag_key, removed_patches, set_removed


def show_what_if(analysis: Analysis) -> None:
    """The list of removed patches, the button for the fewest, and how attention and influence agree."""
    key = bag_key(analysis)
    removed = removed_patches(analysis)
    listed = f"removed-{key}"
    st.session_state[listed] = list(removed)
    st.multiselect(
        texts.WHAT_IF_LABEL,
        range(len(analysis.bag)),
        key=listed,
        help=texts.WHAT_IF_HELP,
        on_change=_remove_listed,
        args=(listed, key, len(analysis.bag)),
    )
    if st.session_state.pop("all_removed", False):
        st.caption(texts.ALL_REMOVED)
    st.button(texts.FLIP_LABEL, key="flip", icon=":material/swap_horiz:", on_click=_flip, args=(analysis,))
    of_bag, found = st.session_state.get("flip_found", ("", None))
    if of_bag == key + analysis.predictor.card.id:
        st.caption(sentences.flip_sentence(found, len(analysis.bag)))
    influence = analysis.scores("leave_one_out", analysis.prediction.index)
    st.caption(texts.agreement_sentence(rank_agreement(analysis.prediction.attention, influence)))
    st.caption(texts.WHAT_ATTENTION_IS)


def _remove_listed(listed: str, of_bag: str, count: int) -> None:
    chosen = st.session_state[listed]
    st.session_state["all_removed"] = len(chosen) >= count
    set_removed(of_bag, () if len(chosen) >= count else chosen)


def _flip(analysis: Analysis) -> None:
    found = smallest_flip(analysis.predictor, analysis.bag)
    st.session_state["flip_found"] = (bag_key(analysis) + analysis.predictor.card.id, found)
    if found is not None:
        set_removed(bag_key(analysis), found)
