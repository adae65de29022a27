"""The followed place: its patch and words in every bag, and the steps of one generator."""

from collections.abc import Mapping

import streamlit as st

from bag_generators import GENERATORS, TissueImage
from ui.frame import charts
from ui.frame.palette import current_palette
from ui.generators import texts
from ui.generators.bags import Described, linked
from ui.generators.in_words import in_words
from ui.generators.maps import CARD_WIDTH
from ui.generators.stations import station_figures, stations_of


def show_same_place(image: TissueImage, bags: Mapping[str, Described], generator: str, instance: int) -> None:
    """The patch of each generator at the followed place, and what its numbers say."""
    st.subheader(texts.SAME_PLACE_HEADING, divider="gray")
    at = linked(bags, generator, instance)
    with st.container(horizontal=True, gap="small"):
        for name, described in bags.items():
            with st.container(width=CARD_WIDTH):
                _show_patch(image, described, GENERATORS[name].title, at[name])


def _show_patch(image: TissueImage, described: Described, title: str, instance: int | None) -> None:
    if instance is None:
        st.markdown(f"**{title}** {texts.NOT_SEEN}.")
        return
    attention = described.attention[instance]
    rank = int((described.attention > attention).sum()) + 1
    st.markdown(f"**{title}**, instance {instance}")
    st.image(
        described.bag.regions.crop(image, instance),
        width="stretch" if described.bag.generator in ("row", "kmeansseg") else 150,
        alt=f"Patch of instance {instance} of the {title} bag.",
    )
    st.caption(f"Attention {attention:.3f}, rank {rank} of {len(described.bag)}. {in_words(described.bag, instance)}")


def show_steps(image: TissueImage, described: Described, instance: int) -> None:
    """How the chosen generator came to the numbers of this instance."""
    bag = described.bag
    title = GENERATORS[bag.generator].title
    st.subheader(f"{texts.HOW_HEADING}: {title}, instance {instance}", divider="gray")
    drawn = station_figures(stations_of(image, bag), bag, instance, current_palette())
    with st.container(horizontal=True, gap="small"):
        for number, (text, figure) in enumerate(zip(texts.STEP_TITLES[bag.generator], drawn, strict=True), start=1):
            with st.container(width=CARD_WIDTH):
                st.markdown(text)
                charts.show(
                    figure,
                    key=f"station-{number}",
                    alt=f"Step {number}: {text.replace('*', '')}.",
                )
    if bag.generator == "row":
        st.caption(texts.WRAPPED_ROW)
