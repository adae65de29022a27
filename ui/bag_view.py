"""The picture with its instances outlined, beside the bag as a table."""

import streamlit as st

from bag_generators import InputError, TissueImage
from ui import wording
from ui.bag_table import bag_table
from ui.cached import bag_of
from ui.figures.tissue import WHOLE_FIGURE, add_hover_targets, add_outlines, picture_figure
from ui.page import escape, show_error
from ui.palette import current_palette


def show_bag(image: TissueImage, generator: str, outlined: bool) -> None:
    """Everything below the controls; a picture the generator can't use becomes a sentence."""
    for note in image.notes:
        st.info(escape(note), icon=":material/info:")
    try:
        bag = bag_of(image, generator)
    except InputError as error:
        show_error(error)
        return
    palette = current_palette()
    left, right = st.columns([1, 1], gap="large")
    with left:
        figure = picture_figure(image, palette)
        if outlined:
            add_outlines(figure, bag, palette)
        add_hover_targets(figure, bag)
        st.plotly_chart(
            figure,
            theme=None,
            config=WHOLE_FIGURE,
            key="picture",
            alt=f"The tissue picture, {image.width} by {image.height} pixels, cut into {len(bag.features)} instances.",
        )
        st.caption(f"{image.width} × {image.height} px · {wording.EXPECTED_SCALE}")
    with right:
        st.subheader(wording.BAG_HEADING)
        count, dimensions = bag.features.shape
        st.caption(f"{count} instances × {dimensions} features")
        st.dataframe(bag_table(bag), key="bag", alt=f"Table of {count} instances with {dimensions} features each.")
