"""What the paper's Figure 2 is about, measured over all training bags of a recording instead of on one sample.

Figure 2 draws, for DEMIPL and for ELIMIPL, the probability of the true label, the average over the candidates and the
average over the non-candidates. The text next to it says that DEMIPL's two averages are close, and that with ELIMIPL
(a) the true label rises, (b) the non-candidates fall and (c) the averages separate. The values themselves are given
only in the picture.

Probabilities sum to one: |S|·candidates + |S̄|·non-candidates = 1. So (b) and (c) are the same statement about a bag,
the candidates' average never exceeds 1/|S|, and it is the same whichever candidate is believed. What tells whether the
true one was found is the average over the *false* candidates.

How far apart the averages can get depends on the head. A softmax can give the candidates everything: 1/|S|. The
authors' softmax of a sigmoid has energies from 0 to 1, so that a candidate has at most e times what a non-candidate
has: (e − 1) / (e·|S| + |S̄|), for two of seven classes .165 instead of .5. Averages are called close by what the head
allows; by 1/|S| they could never be anything else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from elimipl.training.trajectories import Trajectories

NAMES = ("true label", "average candidate", "average false candidate", "average non-candidate")
NOTICEABLE = 0.01  # a change of probability below one point is none
CLOSE = 0.5  # averages are close while their gap is less than this share of the widest that the head allows


def four_probabilities(probabilities: np.ndarray, candidates: np.ndarray, true_index: int) -> np.ndarray:
    """(…, k) probabilities of one bag as (…, 4), in the order of NAMES; NaN where the true label stands alone."""
    values = np.asarray(probabilities, np.float64)
    false = candidates & (np.arange(len(candidates)) != true_index)
    wrong = values[..., false].mean(-1) if false.any() else np.full(values.shape[:-1], np.nan)
    parts = (values[..., true_index], values[..., candidates].mean(-1), wrong, values[..., ~candidates].mean(-1))
    return np.stack(parts, axis=-1)


@dataclass(frozen=True, eq=False)
class FigureTwo:
    """Two methods over the same m bags, and which of the figure's statements hold for most of them."""

    bags: int
    medians: np.ndarray
    """(2, 4) of the first and the second method, in the order of NAMES."""
    gaps: np.ndarray
    """(2,) medians of candidates' average − non-candidates' average."""
    widest: float
    """Median over the bags of the widest gap that the first method's head allows."""
    close: bool
    """Whether the first method's averages are close."""
    rises: float
    """(a) Share of bags whose true label is noticeably more probable with the second method."""
    falls: float
    """(b), and so (c): share of bags whose non-candidates are noticeably less probable with it."""

    @property
    def shown(self) -> bool:
        """Whether most bags show what the figure shows."""
        return self.close and self.rises > 0.5 and self.falls > 0.5


def widest_gap(sizes: np.ndarray, classes: int, head: str) -> np.ndarray:
    """The widest gap between the averages of bags with so many candidates: candidates' − non-candidates'.

    >>> widest_gap(np.array([2, 3]), 7, "softmax").round(3).tolist()
    [0.5, 0.333]
    >>> widest_gap(np.array([2, 3]), 7, "softmax_of_sigmoid").round(3).tolist()
    [0.165, 0.141]
    """
    if head == "softmax_of_sigmoid":
        return np.asarray((math.e - 1) / (math.e * sizes + classes - sizes))
    return np.asarray(1 / sizes)


def figure_two(recorded: Trajectories, first: str, second: str) -> FigureTwo:
    """The figure's statements over all training bags after the last epoch."""
    four = np.stack([_all_bags(recorded, method) for method in (first, second)])
    gaps = four[:, :, 1] - four[:, :, 3]
    members = recorded.all_candidates
    widest = widest_gap(members.sum(axis=1), members.shape[1], recorded.about.configs[first]["head"])
    return FigureTwo(
        bags=four.shape[1],
        medians=np.nanmedian(four, axis=1),
        gaps=np.median(gaps, axis=1),
        widest=float(np.median(widest)),
        close=bool(np.median(gaps[0] / widest) < CLOSE),
        rises=float((four[1, :, 0] - four[0, :, 0] > NOTICEABLE).mean()),
        falls=float((four[0, :, 3] - four[1, :, 3] > NOTICEABLE).mean()),
    )


def median_bag(recorded: Trajectories, first: str, second: str) -> int:
    """The watched bag whose true label gains, from the first method to the second, what it gains in the median bag."""
    median = np.median(np.subtract(*(_all_bags(recorded, method)[:, 0] for method in (second, first))))
    every = range(len(recorded.labels))
    last = recorded.probabilities[:, -1, every, recorded.labels].astype(np.float64)
    gains = last[recorded.method(second)] - last[recorded.method(first)]
    return int(np.abs(gains - median).argmin())


def _all_bags(recorded: Trajectories, method: str) -> np.ndarray:
    """(m, 4) of every training bag after the last epoch."""
    rows = zip(
        recorded.all_probabilities[recorded.method(method)], recorded.all_candidates, recorded.all_labels, strict=True
    )
    return np.array([four_probabilities(row, members, int(label)) for row, members, label in rows])
