"""The learner's own bag: real tissue composed of patches, or a drawing; its label and its instances are known.

In the address a bag is a number that says nothing of its tissue: a link for a class must not give the answer away.
"""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from bag_generators import GENERATORS, Bag, TissueImage
from bag_generators.tissue.phantom import Phantom, draw, instance_shares
from elimipl.data.crowd import uniform_false_positives
from elimipl.labels import TISSUE7, LabelSpace
from ui.frame.address import Bound
from ui.frame.cached import bag_of
from ui.lesson import kept, texts
from ui.lesson.composed import composed_bag

REAL, DRAWN = "real", "drawn"
VARIANTS = 2  # bags of every tissue
NUMBERS = tuple((5 * i + 3) % (VARIANTS * len(TISSUE7)) for i in range(VARIANTS * len(TISSUE7)))
"""What the bags are called, in the order of the tissues."""
FIRST = NUMBERS[VARIANTS * TISSUE7.index("TUM")]
DEFAULT_CUT = "row"
TOO_MANY = "deep"
"""The generator whose 256 cells nobody marks one by one, and whose truth is not that of a cell alone."""
HALF = 0.5
_FIRST_SEED = 2_000_000


@dataclass(frozen=True, eq=False)
class Case:
    """A bag whose truth is known, and its picture."""

    number: int
    kind: str
    image: TissueImage
    bag: Bag
    shares: np.ndarray
    """(n,): how much of each instance shows the class."""
    true_index: int
    shows_real: bool = False
    labels: LabelSpace = TISSUE7

    @property
    def label(self) -> str:
        return self.labels.names[self.true_index]

    @property
    def place(self) -> int:
        """Position among the recorded bags."""
        return NUMBERS.index(self.number)

    @property
    def truth(self) -> np.ndarray:
        """(n,) bool: the instances of which at least half shows the class, or most of all where none does."""
        return (self.shares >= min(HALF, self.shares.max())) & (self.shares > 0)

    @property
    def partly(self) -> np.ndarray:
        """(n,) bool: the instances that show some of the class, but less than half."""
        return (self.shares > 0) & ~self.truth


def number_choice() -> Bound[int]:
    """Which bag."""
    return kept.choice("picture", texts.PICTURE_LABEL, NUMBERS, FIRST)


def choose_case(shown: bool = True) -> Case:
    """Ask for the kind of bag, the bag, and how a drawing is cut; where not `shown`, take what was chosen before."""
    kind, number = kept.choice("kind", texts.KIND_LABEL, (REAL, DRAWN), REAL), number_choice()
    cuts = [name for name in GENERATORS if name != TOO_MANY]
    cut = kept.choice("cut", texts.CUT_LABEL, cuts, DEFAULT_CUT)
    if shown:
        st.subheader(texts.CASE_HEADING, divider="gray")
        kind.shown_by(st.segmented_control, (REAL, DRAWN), format_func=texts.KIND_TITLES.__getitem__, required=True)
        number.shown_by(st.selectbox, NUMBERS, format_func=lambda one: texts.picture_title(*tissue_of(one)))
        if kind.value() == DRAWN:
            cut.shown_by(
                st.segmented_control, cuts, format_func=lambda name: GENERATORS[name].title, wrap=True,
                required=True, help=texts.cut_help(GENERATORS[name] for name in cuts),
            )  # fmt: skip
    case = make_case(kind.value(), number.value(), cut.value())
    if shown:
        st.caption(f"{texts.case_caption(kind.value(), case.shows_real)} {texts.classes_of(case.labels)}")
    return case


def tissue_of(number: int) -> tuple[str, int]:
    """Tissue and variant, from 1, of a bag."""
    place = NUMBERS.index(number)
    return TISSUE7.names[place // VARIANTS], place % VARIANTS + 1


def make_case(kind: str, number: int, cut: str = DEFAULT_CUT) -> Case:
    """The bag of that number."""
    place = NUMBERS.index(number)
    true_index = place // VARIANTS
    if kind == REAL:
        image, bag, truth, real = composed_bag(place)
        return Case(number, kind, image, bag, truth.astype(float), true_index, real)
    phantom = _drawn(TISSUE7.names[true_index], _FIRST_SEED + place)
    image = TissueImage.from_array(phantom.pixels)
    bag = bag_of(image, cut)
    return Case(number, kind, image, bag, instance_shares(bag, phantom.truth), true_index)


@st.cache_resource(max_entries=32, show_spinner=False)
def _drawn(tissue: str, seed: int) -> Phantom:
    return draw(tissue, seed, background="fat")


def candidates_of(case: Case, r: int, draw: int) -> np.ndarray:
    """The true label and r others drawn at random, (k,) bool."""
    return uniform_false_positives([case.true_index], len(case.labels), r, draw)[0]
