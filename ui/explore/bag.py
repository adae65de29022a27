"""The bag itself: what the model was given, one row per instance and one column per feature."""

import pandas as pd
import streamlit as st

from bag_generators import Bag
from ui.explore import texts


def bag_table(bag: Bag) -> pd.DataFrame:
    """Instances as rows (the index is the number of the instance on the page), features by their names."""
    table = pd.DataFrame(bag.features, columns=list(bag.feature_names))
    table.index.name = "instance"
    return table


def show_bag(bag: Bag) -> None:
    """The table, folded away until somebody wants it."""
    count, dimensions = bag.features.shape
    with st.expander(f"{texts.BAG_HEADING}: {count} instances × {dimensions} features", icon=":material/table_rows:"):
        st.dataframe(bag_table(bag), key="bag", alt=f"Table of {count} instances with {dimensions} features each.")
