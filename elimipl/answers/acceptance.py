"""Signs of whether an answer is right, read from a bag and the bags a model has learned from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch

from bag_generators.base.threads import one_thread
from elimipl.model.network import Network
from elimipl.model.scaling import Scaler

NEIGHBOURS = 5
_SMALL = 1e-6


@dataclass(frozen=True, eq=False)
class KnownBags:
    """Bags that a model has learned from, as vectors, with the classes each may be of."""

    embeddings: np.ndarray  # (p, l) z of eq. 4
    means: np.ndarray  # (p, d) mean of the scaled instances
    meant: np.ndarray  # (p, k) bool

    def arrays(self) -> dict[str, np.ndarray]:
        """As they lie in a weights file."""
        return {f"known.{name}": values.astype(np.float32) for name, values in vars(self).items()}

    @classmethod
    def of(cls, arrays: Mapping[str, np.ndarray]) -> KnownBags:
        """From what `arrays` gave."""
        embeddings, means, meant = (arrays[f"known.{name}"] for name in ("embeddings", "means", "meant"))
        return cls(embeddings.astype(np.float64), means.astype(np.float64), meant > 0)


@dataclass(frozen=True, eq=False)
class BagReading:
    """One bag as the network reads it."""

    probabilities: np.ndarray  # (k,) as the head gives them
    agreement: float
    """Share of the attention on instances whose own vote is the answer."""
    embedding: np.ndarray  # (l,)
    mean: np.ndarray  # (d,)


def read_bag(network: Network, scaler: Scaler, features: np.ndarray) -> BagReading:
    """What the signs need of a bag of (n, d) instances."""
    x = torch.from_numpy(scaler.transform(features)).to(network.embed.weight.dtype)
    bag_of = torch.zeros(len(x), dtype=torch.int64)
    with torch.no_grad(), one_thread():
        scores, votes = network.read(x, bag_of, 1)
        attention = network.attention_logits(scores).softmax(0)
        raw = network.energies((attention @ votes)[None]).softmax(1)[0]
        embedding = network.embeddings(x, bag_of, 1)[0]
    answer = int(raw.argmax())
    agreement = float(attention[votes.argmax(1) == answer].sum())
    return BagReading(raw.double().numpy(), agreement, embedding.double().numpy(), x.mean(0).numpy())


def signs(reading: BagReading, known: KnownBags) -> tuple[float, ...]:
    """In the order of `elimipl.cards.card.SIGNS`, each larger where an answer is more likely to be right."""
    ranked = np.sort(reading.probabilities)[::-1]
    answer = int(reading.probabilities.argmax())
    away = np.sqrt(np.square(known.embeddings - reading.embedding).mean(1))  # (p,)
    alike = known.meant[:, answer]
    nearest, of_answer, of_others = (_nearest(part) for part in (away, away[alike], away[~alike]))
    style = _nearest(np.sqrt(np.square(known.means - reading.mean).mean(1)))
    return (
        float(np.log(max(ranked[0], _SMALL) / max(1 - ranked[0], _SMALL))),
        float(np.log(max(ranked[0], _SMALL) / max(ranked[1], _SMALL))),
        reading.agreement,
        -float(np.log(nearest + _SMALL)),
        -float(np.log((of_answer + _SMALL) / (nearest + _SMALL))),
        float(np.log((of_others + _SMALL) / (of_answer + _SMALL))),
        -float(np.log(style + _SMALL)),
    )


def _nearest(distances: np.ndarray) -> float:
    """Mean distance of the nearest few; large where there is none."""
    if not len(distances):
        return 1e3
    count = min(NEIGHBOURS, len(distances))
    return float(np.partition(distances, count - 1)[:count].mean())
