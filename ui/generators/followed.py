"""The followed place: its patch and words in every bag, and the steps of one generator."""

from collections.abc import Mapping, Sequence

import streamlit as st

from bag_generators import GENERATORS, Bag, TissueImage
from bag_generators.generator import Step
from bag_generators.registry import steps_of
from ui.figures.tissue import is_wide, patch_picture
from ui.frame import charts
from ui.frame.markdown import escape
from ui.frame.palette import current_palette
from ui.generators import texts
from ui.generators.bags import Described, linked
from ui.generators.figures.generator_steps import feature_bars, step_figure
from ui.generators.maps import CARD_WIDTH


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
        patch_picture(image, described.bag, instance),
        width="stretch" if is_wide(described.bag, instance) else 150,
        alt=f"Patch of instance {instance} of the {title} bag.",
    )
    words = GENERATORS[described.bag.generator].in_words(described.bag, instance)
    st.caption(f"Attention {attention:.3f}, rank {rank} of {len(described.bag)}. {escape(words)}")


def show_steps(image: TissueImage, described: Described, instance: int) -> None:
    """How the chosen generator came to the numbers of this instance."""
    bag = described.bag
    generator, palette = GENERATORS[bag.generator], current_palette()
    st.subheader(f"{texts.HOW_HEADING}: {generator.title}, instance {instance}", divider="gray")
    drawn = [(step.title, step_figure(step.drawing, palette)) for step in _steps(_key(bag), image, bag, instance)]
    numbers = feature_bars(bag.features[instance], bag.feature_names, palette)
    drawn.append((texts.numbers_step(len(bag.feature_names)), numbers))
    with st.container(horizontal=True, gap="small"):
        for number, (title, figure) in enumerate(drawn, start=1):
            with st.container(width=CARD_WIDTH):
                st.markdown(f"**{number}** {title}")
                charts.show(figure, key=f"station-{number}", alt=f"Step {number}: {title}.")
    if generator.remark:
        st.caption(generator.remark)


@st.cache_resource(max_entries=64, show_spinner=False)
def _steps(bag_key: str, _image: TissueImage, _bag: Bag, instance: int) -> Sequence[Step]:
    return steps_of(_image, _bag, instance)


def _key(bag: Bag) -> str:
    return f"{bag.image_sha256} {bag.generator} {sorted(bag.params.items())}"
