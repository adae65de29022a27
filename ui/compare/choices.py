"""What to compare: a recording, a bag, two methods."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from elimipl.training.figure_two import median_bag
from elimipl.training.trajectories import Trajectories, read_trajectories, recordings
from ui.compare import texts
from ui.frame import choices, picker

FIRST, SECOND = "DEMIPL", "ELIMIPL"  # what Figure 2 compares
NEAREST_TO_THE_PAPER = "tissue-row-authors"


@dataclass(frozen=True, eq=False)
class Comparison:
    """One bag of a recording and the two methods to look at."""

    recorded: Trajectories
    bag: int
    left: str
    right: str

    @property
    def true_index(self) -> int:
        return int(self.recorded.labels[self.bag])

    @property
    def candidates(self) -> np.ndarray:
        return self.recorded.candidates[self.bag]

    @property
    def top(self) -> float:
        """Where the scale of probabilities ends for this recording: the authors' head reaches no more than a third."""
        return float(np.ceil(10 * self.recorded.probabilities.max()) / 10)

    def probabilities(self, method: str) -> np.ndarray:
        """(T + 1, k) of this bag."""
        return self.recorded.probabilities[self.recorded.method(method), :, self.bag]

    def attention(self, method: str, epoch: int) -> np.ndarray:
        """(n,) of this bag after an epoch."""
        rows = self.recorded.instances(self.bag)
        return self.recorded.attention[self.recorded.method(method), epoch, rows].astype(np.float64)


@st.cache_resource(max_entries=8, show_spinner=False)
def recording(name: str) -> Trajectories:
    """A recording that ships; read-only, so all visitors share it."""
    return read_trajectories(recordings()[name])


def choose_comparison() -> Comparison | None:
    """None where no recording is installed; that is said."""
    names = list(recordings())
    if not names:
        st.warning(texts.NO_RECORDINGS, icon=":material/warning:")
        return None
    st.subheader(texts.DATA_HEADING, divider="gray")
    name = choices.one_of(
        texts.DATA_HEADING,
        names,
        "compare_data",
        NEAREST_TO_THE_PAPER if NEAREST_TO_THE_PAPER in names else names[-1],
        lambda one: recording(one).about.title,
        shape="list",
        label_hidden=True,
    )
    recorded = recording(name)
    st.subheader(texts.BAG_HEADING, divider="gray")
    space = recorded.label_space
    bag = choices.one_of(
        texts.BAG_HEADING,
        range(len(recorded.labels)),
        f"compare_bag_{name}",
        median_bag(recorded, FIRST, SECOND),
        lambda number: texts.bag_title(number, space.titles[recorded.labels[number]]),
        shape="pills",
        label_hidden=True,
    )
    others = [space.titles[c] for c in np.flatnonzero(recorded.candidates[bag]) if c != recorded.labels[bag]]
    st.caption(texts.candidates_told(space.titles[recorded.labels[bag]], others))
    st.caption(texts.BAG_RULE)
    st.subheader("Methods", divider="gray")
    methods = recorded.about.methods
    left, right = (
        picker.choose_method(f"compare_{label.lower()}", methods, label, start)
        for label, start in (("Left", FIRST), ("Right", SECOND))
    )
    return Comparison(recorded, bag, left, right)
