"""What stands below the first screen, behind tabs: only the open one is made."""

from collections.abc import Callable

import streamlit as st

from bag_generators.field import is_large
from ui.explore import texts
from ui.explore.analysis import Analysis
from ui.explore.bag import show_bag
from ui.explore.patches import show_patches
from ui.explore.sums import show_sums
from ui.explore.tiles import show_tiles
from ui.explore.trust import show_flipping
from ui.explore.what_if import show_what_if


def show_below(analysis: Analysis) -> None:
    """One tab for each question a person may have next."""
    tabs: dict[str, Callable[[Analysis], None]] = {
        texts.PATCHES_TAB: show_patches,
        texts.WHAT_IF_TAB: show_what_if,
        texts.TRUST_TAB: show_flipping,
        texts.SUM_TAB: show_sums,
    }
    whole = analysis.view.picture
    if is_large(whole):
        tabs[texts.TILES_TAB] = show_tiles
    tabs[texts.BAG_TAB] = lambda shown: show_bag(shown.bag)
    for tab, show in zip(st.tabs(list(tabs), key="below", on_change="rerun"), tabs.values(), strict=True):
        if tab.open:
            with tab:
                show(analysis)
