"""Where candidate sets come from: the data's own, random false positives, three simulated annotators, or doubt."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from bag_generators.base.errors import InputError
from elimipl.candidates.labels import COLON, LESION5, TISSUE7, LabelSpace
from elimipl.datasets.dataset import BagDataset

ANNOTATORS = 3
CRC_MIPL_SIZE = 2.08  # average |S| of the paper's CRC-MIPL (Table 1)
_LOOKS = 8  # times a tile is shown again while the answers miss the true label
_SURE, _DOUBTFUL = -20.0, 40.0  # beyond these the answers no longer change

# How often one class is taken for the other at first sight; the other way round as often unless that is said, too.
# Every other pair: _RARELY.
_RARELY = 0.01
_MOST_MISTAKES = 0.4  # at first sight; what three pathologists name together, as counted for the colon, may be more
_TAKEN_FOR: Mapping[tuple[str, ...], Mapping[tuple[str, str], float]] = {
    TISSUE7.names: {
        ("STR", "MUS"): 0.16,
        ("TUM", "NORM"): 0.14,
        ("DEB", "MUC"): 0.12,
        ("DEB", "STR"): 0.10,
        ("MUC", "NORM"): 0.06,
        ("LYM", "TUM"): 0.06,
        ("LYM", "DEB"): 0.05,
        ("MUC", "STR"): 0.05,
    },
    LESION5.names: {
        ("tubular_adenoma", "villous_adenoma"): 0.16,
        ("serrated_adenoma", "tubular_adenoma"): 0.11,
        ("serrated_adenoma", "villous_adenoma"): 0.11,
        ("adenocarcinoma", "villous_adenoma"): 0.10,
        ("adenocarcinoma", "tubular_adenoma"): 0.06,
        ("healthy", "serrated_adenoma"): 0.08,
    },
    COLON.names: {
        # Counted: how often the other stood beside the final label in the candidate set of three pathologists (4,021
        # colon patches of Chaoyang: normal, serrated, adenoma, adenocarcinoma). An adenoma's grade is not told there:
        # what was taken for adenoma is half low and half high grade here. High grade passes for normal as rarely as
        # carcinoma (our reading).
        ("normal", "low_grade"): 6 / 1111 / 2,
        ("normal", "high_grade"): 6 / 1111 / 2,
        ("normal", "carcinoma"): 1 / 1111,
        ("serrated", "low_grade"): 170 / 842 / 2,
        ("serrated", "high_grade"): 170 / 842 / 2,
        ("serrated", "carcinoma"): 8 / 842,
        ("carcinoma", "normal"): 29 / 1404,
        ("carcinoma", "low_grade"): 25 / 1404,
        ("carcinoma", "serrated"): 22 / 1404,
        ("low_grade", "serrated"): 176 / 664,
        ("low_grade", "normal"): 109 / 664,
        ("low_grade", "carcinoma"): 14 / 664,
        ("high_grade", "serrated"): 176 / 664,
        ("high_grade", "normal"): 29 / 1404,
        # Assumed. Half of what was counted, because hyperplastic polyps, which are serrated there, are normal here:
        ("normal", "serrated"): 369 / 1111 / 2,
        ("serrated", "normal"): 384 / 842 / 2,
        ("low_grade", "high_grade"): 0.25,
        ("high_grade", "carcinoma"): 0.15,
        # Assumed, as in tissue7:
        ("stroma", "muscle"): 0.16,
        ("debris", "mucus"): 0.12,
        ("debris", "stroma"): 0.10,
        ("mucus", "normal"): 0.06,
        ("lymphocytes", "carcinoma"): 0.06,
        ("lymphocytes", "debris"): 0.05,
        ("mucus", "stroma"): 0.05,
        ("fat", "glass"): 0.05,
    },
}


@dataclass(frozen=True, eq=False)
class Crowd:
    """What three annotators said about m tiles, and the candidate sets that follow."""

    votes: np.ndarray  # (3, m, k) bool: the labels each annotator named
    tops: np.ndarray  # (3, m) int64: the label each found most likely, one of the named
    candidates: np.ndarray  # (m, k) bool: S
    doubt: float  # how far below the top label a label may look and still be named

    @property
    def mean_size(self) -> float:
        """Average number of candidate labels."""
        return float(self.candidates.sum(axis=1).mean())


def look_alikes(label_space: LabelSpace) -> np.ndarray | None:
    """Chance that a tile of class y (row) is taken for class c (column), (k, k), 0 where nobody confuses the two.

    None where nothing is known about the classes.
    """
    pairs = _TAKEN_FOR.get(label_space.names)
    if pairs is None:
        return None
    matrix = np.zeros((len(label_space), len(label_space)))
    for (one, other), chance in pairs.items():
        i, j = label_space.index(one), label_space.index(other)
        matrix[i, j], matrix[j, i] = chance, pairs.get((other, one), chance)
    return matrix


def confusion_matrix(label_space: LabelSpace) -> np.ndarray:
    """Chance that a tile of class y (row) looks like class c (column) at first sight, (k, k); rows sum to 1.

    Tissue and lesion classes have look-alikes; in any other label space all mistakes are equally likely.
    """
    k = len(label_space)
    known = look_alikes(label_space)
    if known is None:
        matrix = np.full((k, k), 0.3 / (k - 1))
    else:
        known = known * np.minimum(1.0, _MOST_MISTAKES / known.sum(axis=1, keepdims=True))
        matrix = np.where(known > 0, known, _RARELY)
    np.fill_diagonal(matrix, 0.0)
    np.fill_diagonal(matrix, 1.0 - matrix.sum(axis=1))
    return matrix


def simulate(
    labels: ArrayLike,
    label_space: LabelSpace,
    *,
    target_size: float | None = None,
    seed: int = 0,
) -> Crowd:
    """Let three annotators label m tiles whose true labels are `labels` (m,).

    An annotator's impression of a tile is the log of the confusion row plus standard Gumbel noise, so that
    the top label is c with chance confusion[y, c]. Every label within `doubt` of the top one is named too,
    and `doubt` is solved so that the average |S| meets `target_size` (default: the paper's 2.08, less with
    fewer than five classes). A negative doubt speaks for the true label instead. The label that looks least
    like the tile is named by nobody, so S is always a proper subset. Where S misses the true label the tile
    is shown again, with fresh impressions.
    """
    k = len(label_space)
    truth = _checked_labels(labels, k)
    target = min(CRC_MIPL_SIZE, k / 2) if target_size is None else float(target_size)
    if not 1.0 <= target <= k - 1:
        raise InputError(
            f"Candidate sets of {target:g} labels on average don't exist with {k} classes.",
            f"Choose a size between 1 and {k - 1}.",
        )
    impressions = _impressions(truth, confusion_matrix(label_space), seed)
    doubt = _solve_doubt(impressions, truth, target)
    return _answers(impressions, truth, doubt)


def annotate(label_index: int, label_space: LabelSpace, seed: int = 0) -> Crowd:
    """What the annotators say about one tile, as doubtful as in a whole data set of average |S| = 2.08."""
    truth = _checked_labels([label_index], len(label_space))
    impressions = _impressions(truth, confusion_matrix(label_space), seed)
    return _answers(impressions, truth, _usual_doubt(label_space))


def uniform_false_positives(labels: ArrayLike, k: int, r: int, seed: int = 0) -> np.ndarray:
    """Candidate sets (m, k) of the true label and r other labels drawn at random: |S| = r + 1.

    >>> uniform_false_positives([0, 2], k=5, r=2).sum(axis=1)
    array([3, 3])
    """
    truth = _checked_labels(labels, k)
    if not 0 <= r <= k - 2:
        raise InputError(
            f"{r} false positives don't fit beside one true label of {k} classes.",
            f"Choose 0 to {k - 2}, so that at least one class is no candidate.",
        )
    order = np.random.default_rng(seed).random((len(truth), k))
    order[np.arange(len(truth)), truth] = -1.0
    candidates = np.zeros((len(truth), k), dtype=bool)
    np.put_along_axis(candidates, np.argsort(order, axis=1)[:, : r + 1], True, axis=1)
    return candidates


@lru_cache(maxsize=64)
def _usual_doubt(label_space: LabelSpace) -> float:
    """The doubt that gives the usual |S| on 200 tiles of every class."""
    return simulate(np.repeat(np.arange(len(label_space)), 200), label_space).doubt


def _impressions(truth: np.ndarray, confusion: np.ndarray, seed: int) -> np.ndarray:
    """Scores (looks, 3, m, k) of what each annotator sees at each look; −inf where nobody would name it."""
    m, k = len(truth), len(confusion)
    noise = np.random.default_rng(seed).gumbel(size=(_LOOKS, ANNOTATORS, m, k))
    with np.errstate(divide="ignore"):  # a chance of zero is a label that is never named
        scores = np.log(confusion[truth]) + noise
    overall = scores.mean(axis=1)  # (looks, m, k)
    overall[:, np.arange(m), truth] = np.inf
    unlike = overall.argmin(axis=-1)  # (looks, m)
    look, tile = np.indices(unlike.shape)
    scores[look, :, tile, unlike] = -np.inf
    return np.asarray(scores)


def _answers(impressions: np.ndarray, truth: np.ndarray, doubt: float) -> Crowd:
    """The votes at this doubt, from the first look at which S holds the true label."""
    looks, _, m, _ = impressions.shape
    tile = np.arange(m)
    scores = impressions.copy()
    scores[..., tile, truth] += max(-doubt, 0.0)
    # At the last look everybody sees the truth, so that no confusion matrix can keep it out for ever.
    scores[-1, :, tile, truth] = scores[-1].max(axis=-1).T + 1.0
    tops = scores.argmax(axis=-1)  # (looks, 3, m)
    votes = scores >= scores.max(axis=-1, keepdims=True) - max(doubt, 0.0)  # (looks, 3, m, k)
    candidates = np.stack([two_of_three(votes[look], tops[look]) for look in range(looks)])
    chosen = candidates[:, tile, truth].argmax(axis=0)  # (m,) first look with the truth in S
    return Crowd(
        votes=votes[chosen, :, tile].transpose(1, 0, 2),
        tops=tops[chosen, :, tile].T,
        candidates=candidates[chosen, tile],
        doubt=doubt,
    )


def two_of_three(votes: np.ndarray, tops: np.ndarray) -> np.ndarray:
    """How three crowd workers make a candidate set S of the paper's CRC-MIPL, and a crowd of any size likewise.

    A label named by at least two of the three enters S. If that leaves one label or none, S is each worker's top label
    instead (appendix 3.2). That the top labels *replace* a single agreed label, and don't join it, is our reading: the
    paper doesn't say. Nor does it say that the true label is always in S; `simulate` sees to that by showing a tile
    again until it is.

    With n workers, a label enters that at least two thirds of those name who answered. If that leaves one or none, S is
    every top label of at least a tenth of them (or the most frequent one), so that one joker in a class can't add a
    candidate; up to ten workers that is each worker's top label, as with three.

    `votes` is (n, m, k) bool, no label where somebody did not answer; `tops` (n, m), −1 there. Returns S as (m, k)
    bool, empty where nobody answered.
    """
    answers = (tops >= 0).sum(axis=0)[:, None]  # (m, 1)
    agreed = (3 * votes.sum(axis=0) >= 2 * answers) & (answers > 0)
    first = (tops[..., None] == np.arange(votes.shape[-1])).sum(axis=0)  # (m, k): whose top label it is, counted
    first_choices = (first > 0) & (first >= np.minimum(answers / 10, first.max(axis=1, keepdims=True)))
    return np.where(agreed.sum(axis=1, keepdims=True) > 1, agreed, first_choices)


def krippendorff_alpha(labels: np.ndarray) -> float | None:
    """Krippendorff's α for names: 1 where all agree, 0 where they agree as often as by chance, below 0 where less.

    `labels` is (people, pictures) int, −1 where somebody did not answer. Pictures with one answer say nothing; None
    where no picture has two, or everybody always said the same label, so that there was nothing to agree on.

    >>> krippendorff_alpha(np.array([[0, 0, 1], [0, 1, 1]]))
    0.4444444444444444
    """
    counts = (labels[..., None] == np.arange(max(labels.max(initial=0) + 1, 1))).sum(axis=0)  # (pictures, k)
    counts = counts[counts.sum(axis=1) >= 2]
    per_picture, per_label = counts.sum(axis=1), counts.sum(axis=0)
    n = int(per_picture.sum())
    chance = (n * n - (per_label**2).sum()) / (n * (n - 1)) if n else 0.0
    if chance == 0:
        return None
    differing = per_picture**2 - (counts**2).sum(axis=1)  # ordered pairs of answers that differ
    observed = (differing / (per_picture - 1)).sum() / n
    return float(1 - observed / chance)


def _solve_doubt(impressions: np.ndarray, truth: np.ndarray, target: float) -> float:
    low, high = _SURE, _DOUBTFUL
    best = (np.inf, low)
    for _ in range(40):
        middle = (low + high) / 2
        size = _answers(impressions, truth, middle).mean_size
        best = min(best, (abs(size - target), middle))
        low, high = (middle, high) if size < target else (low, middle)
    return float(best[1])


def _checked_labels(labels: ArrayLike, k: int) -> np.ndarray:
    truth = np.asarray(labels)
    if truth.ndim != 1 or truth.size == 0 or not np.issubdtype(truth.dtype, np.integer):
        raise InputError("The true labels are not a list of class numbers.", "Give one number for each tile.")
    if truth.min() < 0 or truth.max() >= k:
        raise InputError(
            f"The true labels run from {truth.min()} to {truth.max()}, but there are {k} classes.",
            f"Annotators can only be simulated for known labels: use 0 to {k - 1}.",
        )
    return truth.astype(np.int64)


KINDS = ("own", "random", "crowd")


@dataclass(frozen=True)
class Candidates:
    """One way to come by candidate sets.

    `own` leaves the sets of the data as they are, `random` draws the true label and r others, `crowd` asks three
    simulated annotators who name `size` labels on average (None: the paper's 2.08).
    """

    kind: str = "own"
    r: int = 1
    seed: int = 0
    size: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"Candidate sets can't be “{self.kind}”.", f"Choose one of: {', '.join(KINDS)}.")

    @property
    def scheme(self) -> str:
        """In words, for the model card."""
        if self.kind == "random":
            return f"true label and {self.r} random others"
        return "three simulated annotators, two of three" if self.kind == "crowd" else "as in the data set"

    @property
    def drawn_with(self) -> int | None:
        """The seed the sets were drawn with; None where they were not drawn."""
        return None if self.kind == "own" else self.seed

    def given_to(self, dataset: BagDataset) -> BagDataset:
        """The same bags with these candidate sets, drawn once per source picture: its augmented copies share theirs.

        Annotators look at a picture, not at its mirror images; sets drawn per bag would tell a learner more than
        they know.
        """
        if self.kind == "own":
            return dataset
        if (dataset.labels < 0).any():
            raise InputError(
                "Candidate sets can only be made up around known labels.", "Use the candidate sets of the data."
            )
        # Equal pictures in two class folders share a group, but each label needs sets of its own.
        pictures, picture_of = np.unique(
            np.stack([dataset.groups, dataset.labels], axis=1), axis=0, return_inverse=True
        )
        made = self.drawn_around(pictures[:, 1], dataset.label_space)
        return dataset.with_candidates(made[picture_of.reshape(-1)])

    def drawn_around(self, labels: np.ndarray, label_space: LabelSpace) -> np.ndarray:
        """Candidate sets (m, k) for pictures with these true labels; the label alone where the data has its own.

        What can't be drawn is refused, so that a caller can ask before it makes any bags.
        """
        if self.kind == "crowd":
            return simulate(labels, label_space, target_size=self.size, seed=self.seed).candidates
        r = self.r if self.kind == "random" else 0
        return uniform_false_positives(labels, len(label_space), r, self.seed)


def doubtful(
    candidates: ArrayLike,
    pictures: Sequence[str],
    label_space: LabelSpace,
    *,
    seed: int = 0,
    chances: ArrayLike | None = None,
) -> np.ndarray:
    """Candidate sets (m, k) with at most one label added to each, as often as it is confused with those in the set.

    `chances[y, c]` (k, k) is how often c comes up for a picture of class y; by default what is known of the classes of
    `label_space` (`elimipl.candidates.crowd.look_alikes`: counted among pathologists where there are counts, else
    assumed). A set of several labels has no single truth: each of them is taken as equally likely. No more than one is
    added, because in the counts behind the table one patch of 4,021 had two. A set never comes to hold every class.

    `pictures` names the picture behind each bag, source included: the draw depends on that name and `seed` alone, so
    that augmented copies of a picture share their doubt, whichever other bags are there.

    >>> from elimipl.candidates.labels import COLON
    >>> sets = np.eye(12, dtype=bool)[[1] * 1000]
    >>> added = doubtful(sets, [f"tile {i}" for i in range(1000)], COLON) & ~sets
    >>> [name for name, share in zip(COLON.names, added.mean(axis=0)) if share > 0.1]
    ['normal', 'high_grade', 'serrated']
    """
    sets, k = np.asarray(candidates, dtype=bool), len(label_space)
    if sets.ndim != 2 or sets.shape[1] != k or not sets.any(axis=1).all() or len(pictures) != len(sets):
        raise InputError(
            f"Candidate sets of the shape {sets.shape} and {len(pictures)} names of pictures don't fit {k} classes.",
            "Give one filled row of candidates and one name for each bag.",
        )
    table = look_alikes(label_space) if chances is None else np.asarray(chances, dtype=float)
    if table is None:
        raise InputError(
            f"Nothing is known about which classes of “{label_space.id}” get confused.",
            f"Give the chances as {k} rows of {k} numbers.",
        )
    if table.shape != (k, k) or not ((table >= 0).all() and (table.sum(axis=1) <= 1 + 1e-9).all()):
        raise InputError(
            "The chances of doubt are not a table of chances.",
            f"Give {k} rows of {k} numbers from 0 to 1, each with a sum of at most 1.",
        )
    chance = np.where(sets, 0.0, (sets @ table) / sets.sum(axis=1, keepdims=True))
    chance[sets.sum(axis=1) >= k - 1] = 0.0
    drawn = {name: _uniform(f"{seed}/{name}") for name in set(pictures)}
    draw = np.array([drawn[name] for name in pictures])[:, None]
    upper = np.cumsum(chance, axis=1)
    return np.asarray(sets | ((upper - chance <= draw) & (draw < upper)))


def _uniform(name: str) -> float:
    return int.from_bytes(hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()[:6], "big") / 2.0**48
