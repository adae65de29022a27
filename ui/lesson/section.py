"""A real picture in the place of the learner's bag: re-stained colon tissue, of which nobody knows the label.

The learner names the labels that it could have. Only what a learning machine is given can be shown of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from bag_generators import Bag, TissueImage
from bag_generators.tissue.samples import list_samples
from ui.frame.cached import bag_of
from ui.frame.markdown import escape
from ui.lesson import kept, sentences, texts

OWN_BAG = "bag"
CUT = "deep"


@dataclass(frozen=True, eq=False)
class Section:
    """A field of the section as a bag, and where it is from."""

    image: TissueImage
    bag: Bag
    credit: str


def choose_section() -> Section | None:
    """Ask for the picture of a step that needs no truth; None for the learner's own bag."""
    samples = {sample.id: sample for sample in list_samples() if sample.kind == "restained"}
    chosen = kept.show_choice(
        "field", texts.FIELD_LABEL, (OWN_BAG, *samples), OWN_BAG,
        lambda name: texts.FIELD_OWN_BAG if name == OWN_BAG else samples[name].title, shape="list", width=340,
    )  # fmt: skip
    if chosen == OWN_BAG:
        return None
    image = samples[chosen].load()
    return Section(image, bag_of(image, CUT), samples[chosen].credit)


def name_candidates(names: Sequence[str]) -> np.ndarray:
    """The labels that the learner finds possible, (k,) bool."""
    named = kept.numbers("named", texts.NAMED_LABEL, len(names))
    ticked = named.shown_by(
        st.pills, range(len(names)), selection_mode="multi", format_func=names.__getitem__, wrap=True
    )
    if not ticked:
        st.info(texts.NAME_SOME, icon=":material/touch_app:")
    return np.isin(np.arange(len(names)), ticked)


def show_origin(section: Section) -> None:
    """What the picture is, and whose."""
    st.caption(sentences.section_caption(escape(section.credit)))
