"""Parts of a bag: what a model says when some of it is missing.

What goes is a block of instances at a time, as the bag's regions say (`Regions.blocks`): cells that have seen their
neighbours go together with them, instances of other generators one by one.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch

from bag_generators.base.errors import InputError
from bag_generators.base.threads import one_thread
from elimipl.answers.predictor import Instances, Predictor
from elimipl.cards.calibration import temper
from elimipl.model.attention import attention_pool

_ROWS_AT_ONCE = 200_000
_MARKS_AT_ONCE = 4_000_000


def blocks_of(bag: Instances) -> np.ndarray:
    """(n,) int from 0: which block of its bag each instance goes with; each its own where the bag has no regions."""
    regions = getattr(bag, "regions", None)
    return np.arange(len(bag.features)) if regions is None else np.asarray(regions.blocks)


class BagParts:
    """A bag of b blocks that was read once, to be asked about any of its parts."""

    def __init__(self, predictor: Predictor, bag: Instances, blocks: np.ndarray | None = None) -> None:
        """`blocks` (n,) takes the place of the bag's own."""
        predictor.check_fits(bag.generator, bag.params, bag.features.shape[1])
        self._predictor, self._features = predictor, bag.features
        chosen = blocks_of(bag) if blocks is None else blocks
        self.block_of = np.unique(chosen, return_inverse=True)[1].ravel()
        self._count = int(self.block_of.max()) + 1
        if predictor.network.is_local:
            self._scores, self._votes = self._read_blocks()

    def __len__(self) -> int:
        return self._count

    def instances(self, blocks: Iterable[int]) -> np.ndarray:
        """The numbers of the instances in some blocks, in order."""
        return np.flatnonzero(np.isin(self.block_of, list(blocks)))

    def means(self, scores: np.ndarray) -> np.ndarray:
        """Scores of instances, (n,) or (n, k), as means of blocks, (b,) or (b, k)."""
        total = np.zeros((len(self), *scores.shape[1:]))
        np.add.at(total, self.block_of, scores)
        return (total.T / np.bincount(self.block_of)).T

    def probabilities(self, kept: np.ndarray) -> np.ndarray:
        """Calibrated probabilities (m, k) of parts: `kept` (m, b) bool says which blocks each holds."""
        if kept.ndim != 2 or kept.shape[1] != len(self) or not kept.any(axis=1).all():
            raise InputError(
                f"Marks of the shape {kept.shape} don't make parts of a bag of {len(self)} blocks.",
                "Give a row for each part, and keep at least one block in it.",
            )
        if self._predictor.network.is_local:
            steps = np.array_split(kept, -(-kept.size // _MARKS_AT_ONCE))
            return np.concatenate([self._pooled(step) for step in steps if len(step)])
        return self._read_again(kept)

    def without_each(self) -> np.ndarray:
        """Calibrated probabilities (b, k) of the bag without each of its blocks, of which it has several."""
        step = max(1, _MARKS_AT_ONCE // len(self))
        starts = range(0, len(self), step)
        each = np.arange(len(self))
        return np.concatenate([self.probabilities(each[start : start + step, None] != each) for start in starts])

    def along(self, orders: np.ndarray, steps: np.ndarray) -> np.ndarray:
        """Calibrated probabilities (m, s, k) with the first `steps` (s,) blocks of each of the orders (m, b) gone."""
        turns = np.argsort(orders, axis=1)  # when each block goes
        at_once = max(1, _MARKS_AT_ONCE // turns[0].size)
        marks = ((turn, steps[i : i + at_once]) for turn in turns for i in range(0, len(steps), at_once))
        found = np.concatenate([self.probabilities(turn >= some[:, None]) for turn, some in marks])
        return found.reshape(len(orders), len(steps), -1)

    def _read_blocks(self) -> tuple[torch.Tensor, torch.Tensor]:
        """A block as one instance: the log-sum-exp of its scores (b,), and its votes (b, k) weighed by attention.

        Any bag of whole blocks gets the same from these as from all its instances (eq. 3 and 4).
        """
        scores, votes = self._predictor.instance_logits(self._features)
        block_of = torch.from_numpy(self.block_of)
        with one_thread():
            peak = scores.new_full((len(self),), -torch.inf).scatter_reduce(0, block_of, scores, "amax")
            total = scores.new_zeros(len(self)).index_add(0, block_of, (scores - peak[block_of]).exp())
            pooled, _ = attention_pool(scores, votes, block_of, len(self))
            return peak + total.log(), pooled

    def _pooled(self, kept: np.ndarray) -> np.ndarray:
        network = self._predictor.network
        with torch.no_grad(), one_thread():
            attention = self._scores.masked_fill(~torch.from_numpy(kept), -torch.inf).softmax(1)  # (m, b)
            raw = network.energies(attention @ self._votes).softmax(1)
        return temper(raw.numpy(), self._predictor.card.temperature)

    def _read_again(self, kept: np.ndarray) -> np.ndarray:
        """Part by part, of a network that reads an instance together with its bag."""
        found = []
        at_once = max(1, _ROWS_AT_ONCE // len(self.block_of))
        for start in range(0, len(kept), at_once):
            instances = kept[start : start + at_once][:, self.block_of]  # (parts, n)
            rows = np.nonzero(instances)[1]
            found.append(self._predictor.probabilities(self._features[rows], instances.sum(axis=1)))
        return np.concatenate(found)
