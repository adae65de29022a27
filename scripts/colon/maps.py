"""The maps of a model of cells, by name: what `elimipl.explain.first_map` can show."""

from __future__ import annotations

import numpy as np
import torch

from elimipl.training.loop import Fitted
from scripts.colon.readings import Readings

MAPS = ("attention", "vote", "contribution", "attention of the answer")


def maps_of(fitted: Fitted, cells: Readings, name: str) -> list[np.ndarray]:
    """One score for each cell of every picture."""
    return [_map(fitted, features.astype(np.float32), name) for features in cells.features]


def _map(fitted: Fitted, features: np.ndarray, name: str) -> np.ndarray:
    network = fitted.network
    x = torch.from_numpy(fitted.scaler.transform(features)).to(network.embed.weight.dtype)
    with torch.no_grad():
        scores, votes = network.read(x, torch.zeros(len(x), dtype=torch.int64), 1)
        attention = network.attention_logits(scores).softmax(0)
        answer = int((attention @ votes).argmax())
        found = {
            "attention": attention,
            "vote": votes.softmax(1)[:, answer],
            "contribution": attention * votes[:, answer],
            "attention of the answer": attention * votes.softmax(1)[:, answer],
        }[name]
    return np.asarray(found.numpy(), np.float64)
