"""The learner's own picture: a phantom, so that its label and its instances are known."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from bag_generators import GENERATORS, Bag, TissueImage
from bag_generators.tissue.phantom import Phantom, instance_truth
from elimipl.data.crowd import uniform_false_positives
from elimipl.data.phantoms import redraw
from elimipl.labels import TISSUE7, LabelSpace
from ui.frame import choices, picker
from ui.frame.cached import bag_of
from ui.lesson import texts
from ui.lesson.recorded import recorded_runs

VARIANTS = (1, 2)
TISSUES = ("TUM", *(name for name in TISSUE7.names if name != "TUM"))
"""The tissue the lesson begins with comes first."""


@dataclass(frozen=True, eq=False)
class Case:
    """A picture whose truth is known, cut into instances."""

    name: str
    image: TissueImage
    bag: Bag
    truth: np.ndarray
    """(n,) bool: which instances carry the class"""
    true_index: int
    labels: LabelSpace = TISSUE7

    @property
    def label(self) -> str:
        return self.labels.names[self.true_index]


def choose_case() -> Case:
    """Ask for the tissue, one of two drawings of it, and the way it is cut."""
    st.subheader(texts.CASE_HEADING, divider="gray")
    tissue = choices.one_of(texts.TISSUE_LABEL, TISSUES, "tissue", shape="list")
    variant = choices.one_of(texts.VARIANT_LABEL, VARIANTS, "drawing", 1)
    cut = picker.choose_generator("cut", texts.CUT_LABEL, default="row", help=texts.cut_help(GENERATORS.values()))
    return make_case(tissue, variant, cut)


def make_case(tissue: str, variant: int, cut: str) -> Case:
    """The drawing of a tissue that the recorded runs were watched on."""
    recorded = recorded_runs().phantoms
    bags = recorded.get(cut, next(iter(recorded.values()))).bags  # all were recorded on the same drawings
    name = [bag.name for bag in bags if TISSUE7.names[bag.true] == tissue][variant - 1]
    phantom = _drawn(name)
    image = TissueImage.from_array(phantom.pixels)
    bag = bag_of(image, cut)
    return Case(name, image, bag, instance_truth(bag, phantom.truth), TISSUE7.index(tissue))


@st.cache_resource(max_entries=32, show_spinner=False)
def _drawn(name: str) -> Phantom:
    return redraw(name)


def candidates_of(case: Case, r: int, draw: int) -> np.ndarray:
    """The true label and r others drawn at random, (k,) bool."""
    return uniform_false_positives([case.true_index], len(case.labels), r, draw)[0]
