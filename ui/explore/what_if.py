"""What if some patches were not there? By hand, from the keyboard, or the fewest that change the answer."""

import numpy as np
import streamlit as st

from elimipl.explain import rank_agreement
from elimipl.trust import smallest_flip
from ui.explore import sentences, texts
from ui.explore.analysis import Analysis
from ui.explore.view_state import bag_key, removed_patches, set_removed


def show_what_if(analysis: Analysis) -> None:
    """The list of removed patches, the button for the fewest, and how attention and influence agree."""
    key = bag_key(analysis)
    removed = removed_patches(analysis)
    listed = f"removed-{key}"
    st.session_state[listed] = sorted(set(analysis.blocks[list(removed)].tolist()))
    st.multiselect(
        texts.BLOCKS_LABEL if analysis.in_blocks else texts.WHAT_IF_LABEL,
        range(int(analysis.blocks.max()) + 1),
        key=listed,
        help=f"{texts.WHAT_IF_HELP} {texts.BLOCKS_HELP}" if analysis.in_blocks else texts.WHAT_IF_HELP,
        on_change=_remove_listed,
        args=(listed, key, analysis.blocks, removed),
    )
    if st.session_state.pop("all_removed", False):
        st.caption(texts.ALL_REMOVED)
    st.button(texts.FLIP_LABEL, key="flip", icon=":material/swap_horiz:", on_click=_flip, args=(analysis,))
    of_bag, found = st.session_state.get("flip_found", ("", None))
    if of_bag == key + analysis.predictor.card.id:
        st.caption(sentences.flip_sentence(found, analysis.blocks))
    influence = analysis.scores("leave_one_out", analysis.prediction.index)
    st.caption(texts.agreement_sentence(rank_agreement(analysis.prediction.attention, influence)))
    st.caption(texts.WHAT_ATTENTION_IS)


def _remove_listed(listed: str, of_bag: str, blocks: np.ndarray, removed: tuple[int, ...]) -> None:
    """Blocks that were listed before keep what was drawn of them; new ones go as a whole."""
    before, chosen = set(blocks[list(removed)].tolist()), set(st.session_state[listed])
    gone = set(np.flatnonzero(np.isin(blocks, list(chosen - before))).tolist())
    gone |= {cell for cell in removed if blocks[cell] in chosen}
    everything = len(gone) >= len(blocks)
    st.session_state["all_removed"] = everything
    set_removed(of_bag, () if everything else gone)


def _flip(analysis: Analysis) -> None:
    found = smallest_flip(analysis.predictor, analysis.bag)
    st.session_state["flip_found"] = (bag_key(analysis) + analysis.predictor.card.id, found)
    if found is not None:
        set_removed(bag_key(analysis), found)
