"""The bag itself: what the model was given, one row per instance and one column per feature."""

import pandas as pd
import streamlit as st

from bag_generators import Bag, InputError, TissueImage
from ui.explore import texts
from ui.figures.tissue import add_outlines, picture_figure
from ui.frame import charts
from ui.frame.cached import bag_of
from ui.frame.page import show_error
from ui.frame.palette import current_palette

BAG_HEIGHT = 430  # screen px
MOST_ROWS = 512  # of the table: every row is sent to the browser


def bag_table(bag: Bag) -> pd.DataFrame:
    """Instances as rows (the index is the number of the instance on the page), features by their names."""
    table = pd.DataFrame(bag.features[:MOST_ROWS], columns=list(bag.feature_names))
    table.index.name = "instance"
    return table


def show_bag(bag: Bag) -> None:
    """The table and its size."""
    count, dimensions = bag.features.shape
    first = f", the first {MOST_ROWS} shown" if count > MOST_ROWS else ""
    st.caption(f"{texts.BAG_HEADING}: {count} instances × {dimensions} features{first}")
    st.dataframe(bag_table(bag), key="bag", alt=f"Table of {count} instances with {dimensions} features each.")


def show_bag_alone(image: TissueImage, generator: str) -> None:
    """The picture with its instances outlined and their numbers, where there is no model to read them."""
    try:
        bag = bag_of(image, generator)
    except InputError as error:
        show_error(error)
        return
    figure = picture_figure(image).update_layout(height=BAG_HEIGHT)
    add_outlines(figure, bag, current_palette())
    charts.show(figure, key="bag-alone", alt=texts.outlined_alt(len(bag)))
    show_bag(bag)
