"""The maps side by side, and the choice of the instance to follow."""

from collections.abc import Mapping
from functools import partial

import streamlit as st

from bag_generators import GENERATORS, TissueImage
from ui.figures.attention_map import COLOURS, attention_map
from ui.frame import charts, choices, picker
from ui.frame.markdown import escape
from ui.frame.palette import current_palette
from ui.generators import texts
from ui.generators.bags import Described, linked
from ui.generators.figures.generator_steps import scale_bar

MOST_PILLS = 64
CARD_WIDTH = 214  # px: four beside each other on a wide screen, two on a narrow one


def choose_instance(bags: Mapping[str, Described]) -> tuple[str, int]:
    """The generator to follow step by step and one of its instances: a click in a map, or the keyboard."""
    generator = picker.choose_generator("follow", texts.FOLLOW_LABEL, list(bags))
    bag = bags[generator].bag
    instance = _kept(bags, generator)
    st.session_state["instance"] = instance
    shape: choices.Shape = "pills" if len(bag) <= MOST_PILLS else "list"
    chosen = choices.one_of(texts.INSTANCE_LABEL, range(len(bag)), "instance", shape=shape)
    st.session_state["followed"] = (generator, chosen)
    return generator, chosen


def _kept(bags: Mapping[str, Described], generator: str) -> int:
    """The instance in the address or picked before; after a change of generator, the one at the same place."""
    picked = st.session_state.get("instance")
    before, followed = st.session_state.get("followed", (generator, None))
    if before != generator and followed is not None and followed < len(bags[before].bag):
        picked = linked(bags, before, followed)[generator]
    if picked is None or not 0 <= picked < len(bags[generator].bag):
        return int(bags[generator].attention.argmax())
    return picked


def show_maps(image: TissueImage, bags: Mapping[str, Described], generator: str, instance: int, unit: str) -> None:
    """Attention of every bag on one scale; a click follows that place."""
    palette = current_palette()
    end = max(float(described.scores(unit).max()) for described in bags.values())
    at = linked(bags, generator, instance)
    with st.container(horizontal=True, gap="small"):
        for name, described in bags.items():
            with st.container(width=CARD_WIDTH):
                scores = described.scores(unit)
                mark = ":material/visibility: " if name == generator else ""
                st.markdown(f"{mark}**{GENERATORS[name].title}** · {_shape(described)}")
                charts.show(
                    attention_map(
                        image, described.bag, scores, end, at[name], palette, texts.UNIT_AXIS[unit], described.is_even
                    ),
                    key=f"map-{name}",
                    on_click=partial(_follow_click, name),
                    alt=f"Attention of the {GENERATORS[name].title} bag, highest at instance {scores.argmax()}.",
                )
                st.caption(_answer(described))
    charts.show(
        scale_bar(end, texts.UNIT_AXIS[unit], COLOURS, palette),
        key="scale-bar",
        alt=f"Colour scale of all maps, from 0 to {end:.2f}.",
    )


def choose_unit() -> str:
    """How attention is compared between bags of different sizes."""
    return choices.one_of(
        texts.UNIT_LABEL,
        list(texts.UNIT_TITLES),
        "unit",
        "even",
        texts.UNIT_TITLES.__getitem__,
        help=texts.UNIT_HELP,
    )


def _follow_click(name: str) -> None:
    if (clicked := charts.clicked_instance(f"map-{name}")) is not None:
        st.session_state["follow"], st.session_state["instance"] = name, clicked
        st.session_state["followed"] = (name, clicked)


def _shape(described: Described) -> str:
    n, d = described.bag.features.shape
    return f"{n} × {d} numbers"


def _answer(described: Described) -> str:
    prediction = described.prediction
    if prediction is None:
        return texts.NO_MODEL
    even = f" {texts.EVEN}" if described.is_even else ""
    return f"The model says {escape(prediction.title)} · {prediction.probability:.0%}.{even}"
