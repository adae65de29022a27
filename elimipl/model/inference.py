"""What a trained network says about bags."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from bag_generators.base.errors import InputError
from bag_generators.base.threads import one_thread
from elimipl.datasets.dataset import InstanceTable
from elimipl.model.batching import Bags, StreamedBags
from elimipl.model.network import Network
from elimipl.model.scaling import Scaler

_BAGS_AT_ONCE = 256


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a method says about m bags with N instances altogether."""

    probabilities: np.ndarray  # (m, k) float64, as the head gives them; rows sum to one
    attention: np.ndarray | None = None  # (N,) float64, sums to one in each bag; of networks only
    embeddings: np.ndarray | None = None  # (m, l) float64, z of eq. 4; of networks, where it was asked for

    def accuracy(self, labels: np.ndarray) -> float | None:
        """Share of bags whose most probable class is the label; −1 labels don't count, None if all are."""
        return share_correct(self.probabilities, labels)


def infer(
    network: Network, scaler: Scaler, instances: InstanceTable, sizes: np.ndarray, *, embeddings: bool = False
) -> Predictions:
    """Predict bags given as (N, d) unscaled instances, one bag after the other, and (m,) sizes."""
    if instances.ndim != 2 or instances.shape[1] != network.dim:
        raise InputError(
            f"The model reads instances of {network.dim} features, but these have shape {instances.shape}.",
            "Use bags made by the generator the model was trained on.",
        )
    weight = network.embed.weight
    lengths = torch.from_numpy(np.asarray(sizes, np.int64)).to(weight.device)
    bags = StreamedBags(lengths, weight.dtype, weight.device, instances, scaler)
    return infer_packed(network, bags, embeddings=embeddings)


def infer_packed(network: Network, bags: Bags, *, embeddings: bool = False) -> Predictions:
    """Predict bags whose batches come standardised and on the network's device."""
    if network.training:
        network.eval()
    probabilities, attention, z = [], [], []
    with torch.no_grad(), one_thread():
        for batch in bags.batches(_BAGS_AT_ONCE):
            out = network(batch.x, batch.bag_of, batch.bags)
            probabilities.append(out.energies.double().softmax(1))
            attention.append(out.attention)
            if embeddings:
                known = out.embeddings is not None
                z.append(out.embeddings if known else network.embeddings(batch.x, batch.bag_of, batch.bags))
    found = [torch.cat(parts).double().cpu().numpy() for parts in (probabilities, attention, z) if parts]
    return Predictions(*found)


def share_correct(scores: np.ndarray, labels: np.ndarray) -> float | None:
    """Share of rows whose largest score stands at the label, over the rows with a known label."""
    known = labels >= 0
    return float((scores[known].argmax(1) == labels[known]).mean()) if known.any() else None
