"""What a trained network says about bags."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch

from bag_generators.errors import InputError
from elimipl.model.network import Network
from elimipl.training.batching import PackedBags
from elimipl.training.scaling import Scaler

_BAGS_AT_ONCE = 256


@dataclass(frozen=True, eq=False)
class Outputs:
    """Predictions for m bags with N instances altogether."""

    probabilities: np.ndarray  # (m, k) float64, as the head gives them
    attention: np.ndarray  # (N,) float64, sums to one in each bag
    logits: np.ndarray  # (m, k) float64, the linear classifier's outputs

    def accuracy(self, labels: np.ndarray) -> float | None:
        """Share of bags whose most probable class is the label; −1 labels don't count, None if all are."""
        return share_correct(self.probabilities, labels)


def infer(network: Network, scaler: Scaler, instances: np.ndarray, sizes: np.ndarray) -> Outputs:
    """Predict bags given as (N, d) unscaled instances, one bag after the other, and (m,) sizes."""
    if instances.ndim != 2 or instances.shape[1] != network.dim:
        raise InputError(
            f"The model reads instances of {network.dim} features, but these have shape {instances.shape}.",
            "Use bags made by the generator the model was trained on.",
        )
    place = network.embed.weight
    scaled = scaler.transform(instances, str(place.dtype).removeprefix("torch."))
    bags = PackedBags.pack(scaled, np.asarray(sizes, np.int64), place.dtype, place.device)
    return infer_packed(network, bags)


def infer_packed(network: Network, bags: PackedBags) -> Outputs:
    """Predict bags that are standardised and on the network's device already."""
    parts = []
    with torch.no_grad(), one_thread():
        for batch in bags.batches(_BAGS_AT_ONCE):
            out = network(batch.x, batch.bag_of, batch.members.stop - batch.members.start)
            parts.append((out.energies.double().softmax(1), out.attention.double(), out.logits.double()))
    probabilities, attention, logits = (torch.cat(column).cpu().numpy() for column in zip(*parts, strict=True))
    return Outputs(probabilities, attention, logits)


def share_correct(scores: np.ndarray, labels: np.ndarray) -> float | None:
    """Share of rows whose largest score stands at the label, over the rows with a known label."""
    known = labels >= 0
    return float((scores[known].argmax(1) == labels[known]).mean()) if known.any() else None


@contextmanager
def one_thread() -> Iterator[None]:
    """Run torch on one thread: bags are small, and sums then come out the same on every machine setting."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
