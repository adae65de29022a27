"""What the paper's Figure 2 is about, measured over all bags after every epoch instead of on one sample.

Figure 2 draws, for DEMIPL and for ELIMIPL, the probability of the true label, the average over the candidates and the
average over the non-candidates. The text next to it says that DEMIPL's two averages are close, and that with ELIMIPL
(a) the true label rises, (b) the non-candidates fall and (c) the averages separate. The values themselves are given
only in the picture.

Probabilities sum to one: |S|·candidates + |S̄|·non-candidates = 1. So the candidates' average never exceeds 1/|S|, and
it is the same whichever candidate is believed. What tells whether the true one was found is the average over the
*false* candidates.

How far apart the averages can get depends on the head. A softmax can give the candidates everything: 1/|S|. The
authors' softmax of a sigmoid has energies from 0 to 1, so that a candidate has at most e times what a non-candidate
has: (e − 1) / (e·|S| + |S̄|), for two of seven classes .165 instead of .5. Gaps are measured by what the head allows; by
1/|S| they could never be anything else than close.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

NAMES = ("true label", "average candidate", "average false candidate", "average non-candidate")
STATEMENTS = ("rises", "falls", "apart", "close", "all")
NOTICEABLE = 0.01  # a change of probability below one point is none
WIDER = 0.1  # averages separate where their gap grows by more than this share of the widest that the head allows
CLOSE = 0.5  # averages are close while their gap is less than this share of it


def four_probabilities(probabilities: np.ndarray, candidates: np.ndarray, true_index: int) -> np.ndarray:
    """(…, k) probabilities of one bag as (…, 4), in the order of NAMES; NaN where the true label stands alone."""
    values = np.asarray(probabilities, np.float64)
    false = candidates & (np.arange(len(candidates)) != true_index)
    wrong = values[..., false].mean(-1) if false.any() else np.full(values.shape[:-1], np.nan)
    parts = (values[..., true_index], values[..., candidates].mean(-1), wrong, values[..., ~candidates].mean(-1))
    return np.stack(parts, axis=-1)


def three_probabilities(probabilities: np.ndarray, candidates: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """(m, 3) of m bags: the true label, the average candidate and the average non-candidate."""
    size = candidates.sum(axis=1)
    inside = (probabilities * candidates).sum(axis=1) / size
    outside = (probabilities * ~candidates).sum(axis=1) / (candidates.shape[1] - size)
    return np.stack([probabilities[np.arange(len(labels)), labels], inside, outside], axis=1)


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


def shares_of_bags(first: np.ndarray, second: np.ndarray, widest: np.ndarray) -> np.ndarray:
    """Shares of m bags that show what Figure 2 says of two methods, in the order of STATEMENTS: (t, 5).

    `first` and `second` are (t, m, 3) `three_probabilities` after t epochs; `widest` (m,) what the head allows. (a) the
    true label is more probable with the second method, (b) the non-candidates are less so, (c) the averages are
    further apart; with the first the averages are close; and all of these in the same bag.
    """
    gaps = [(one[..., 1] - one[..., 2]) / widest for one in (first, second)]
    rises = second[..., 0] - first[..., 0] > NOTICEABLE
    falls = first[..., 2] - second[..., 2] > NOTICEABLE
    apart = gaps[1] - gaps[0] > WIDER
    close = gaps[0] < CLOSE
    return np.stack([rises, falls, apart, close, rises & falls & apart & close]).mean(axis=-1).T


@dataclass(frozen=True, eq=False)
class FigureTwo:
    """Two methods over the same bags in several trainings: what Figure 2 says of them, epoch by epoch."""

    shares: np.ndarray
    """(trainings, T + 1, 5) `shares_of_bags`."""

    @property
    def median(self) -> np.ndarray:
        """(T + 1, 5) of the median training."""
        return np.median(self.shares, axis=0)

    @property
    def window(self) -> tuple[int, int] | None:
        """The longest stretch of epochs after which every statement is true of most bags, in the median training."""
        holds = np.concatenate([[False], (self.median[:, :4] > 0.5).all(axis=1), [False]])
        starts, ends = (np.flatnonzero(np.diff(holds.astype(int)) == step) for step in (1, -1))
        if not len(starts):
            return None
        longest = int((ends - starts).argmax())
        return int(starts[longest]), int(ends[longest]) - 1

    @property
    def at_best(self) -> tuple[int, float]:
        """The epoch after which most bags show all of it, and their share, in the median training."""
        epoch = int(self.median[:, 4].argmax())
        return epoch, float(self.median[epoch, 4])

    @property
    def at_the_end(self) -> float:
        """Share of bags that show all of it once both are trained, in the median training."""
        return float(self.median[-1, 4])
