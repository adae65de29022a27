"""The votes of a class as tables, and what follows from them: candidate sets, agreement, who is taken for whom."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from elimipl.candidates.crowd import krippendorff_alpha, two_of_three
from elimipl.classroom.store.records import Ballot


@dataclass(frozen=True, eq=False)
class Tally:
    """What n students said of m pictures with k labels."""

    votes: np.ndarray  # (n, m, k) bool: the labels named
    tops: np.ndarray  # (n, m) int64: the label found most likely; −1 where there is no answer

    @cached_property
    def answers(self) -> np.ndarray:
        """How many answered each picture, (m,)."""
        return np.asarray((self.tops >= 0).sum(axis=0))

    @cached_property
    def named(self) -> np.ndarray:
        """How many named each label, (m, k)."""
        return np.asarray(self.votes.sum(axis=0))

    @cached_property
    def first(self) -> np.ndarray:
        """How many found each label most likely, (m, k)."""
        return np.asarray((self.tops[..., None] == np.arange(self.votes.shape[2])).sum(axis=0))

    @cached_property
    def candidates(self) -> np.ndarray:
        """The candidate sets by the paper's rule, (m, k) bool; empty where nobody answered."""
        return two_of_three(self.votes, self.tops)

    @cached_property
    def alpha(self) -> float | None:
        """Krippendorff's α of the labels found most likely."""
        return krippendorff_alpha(self.tops)

    def of_some(self, most: int, seed: int) -> "Tally":
        """The answers of at most so many students for each picture, drawn at random."""
        order = np.random.default_rng(seed).random(self.tops.shape)
        order[self.tops < 0] = 2.0  # last
        kept = (order.argsort(axis=0).argsort(axis=0) < most) & (self.tops >= 0)
        return Tally(self.votes & kept[..., None], np.where(kept, self.tops, -1))

    def taken_for(self, truths: Sequence[int | None]) -> np.ndarray:
        """Share of the answers to pictures of class y (row) that name label c, (k, k); NaN in rows without answers."""
        k = self.votes.shape[2]
        known = np.array([-1 if truth is None else truth for truth in truths])
        shares = np.full((k, k), np.nan)
        for label in range(k):
            answers = self.answers[known == label].sum()
            if answers:
                shares[label] = self.named[known == label].sum(axis=0) / answers
        return shares

    def confusions(self, truths: Sequence[int | None]) -> list[tuple[int, int, float]]:
        """The three commonest mistakes: true label, other label, share of the answers that name it."""
        shares = np.nan_to_num(self.taken_for(truths))
        np.fill_diagonal(shares, 0.0)
        order = np.argsort(-shares, axis=None, kind="stable")[:3]
        pairs = [(int(at // len(shares)), int(at % len(shares))) for at in order]
        return [(true, other, float(shares[true, other])) for true, other in pairs if shares[true, other] > 0]


def tally(ballots: Sequence[Ballot], pictures: int, labels: int) -> Tally:
    """The tables of the votes; students without a vote have no row."""
    row_of = {student: row for row, student in enumerate(sorted({ballot.student for ballot in ballots}))}
    votes = np.zeros((len(row_of), pictures, labels), dtype=bool)
    tops = np.full((len(row_of), pictures), -1)
    for ballot in ballots:
        row, column = row_of[ballot.student], ballot.picture - 1
        votes[row, column, list(ballot.named)] = True
        tops[row, column] = ballot.top
    return Tally(votes, tops)
