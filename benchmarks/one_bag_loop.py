"""The comparison of the training benchmark: ELIMIPL trained as the authors do, one bag per step, in plain torch.

Written from the description of the method, without any of the shortcuts of `elimipl`: a module per layer, dropout by
`nn.Dropout`, the loss as printed, `torch.optim.SGD` with Nesterov momentum, weights updated after the loss.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from elimipl.dataset import BagDataset


class OneBagNetwork(nn.Module):
    """One bag in, class probabilities out: shared gate, MLP score, softmax of a clamped sigmoid."""

    def __init__(self, dim: int, hidden: int, n_classes: int) -> None:
        super().__init__()
        self.hidden = hidden
        self.embed = nn.Sequential(nn.Linear(dim, hidden), nn.Dropout(0.5), nn.ReLU())
        self.gate = nn.Linear(hidden, n_classes)
        self.score = nn.Sequential(nn.Linear(n_classes, 128), nn.ReLU(), nn.Linear(128, 1))
        self.classifier = nn.Linear(hidden, n_classes)

    def forward(self, bag: Tensor) -> Tensor:
        """(n, d) → (1, k)."""
        h = self.embed(bag)
        gate = self.gate(h)
        scores = self.score(torch.tanh(gate) * torch.sigmoid(gate))  # (n, 1)
        attention = torch.softmax(scores.t() / self.hidden**0.5, dim=1)  # (1, n)
        votes = torch.sigmoid(self.classifier(attention @ h))
        return torch.softmax(votes.clamp(1e-5, 1 - 1e-5) if self.training else votes, dim=1)


@dataclass(frozen=True)
class OneBagRun:
    """What a run of the loop showed."""

    network: OneBagNetwork
    mean: np.ndarray
    std: np.ndarray
    steps: int
    seconds: float
    processor_seconds: float

    @torch.no_grad()
    def accuracy(self, dataset: BagDataset) -> float:
        """Share of right predictions, bag by bag."""
        self.network.eval()
        right = 0
        for i in range(len(dataset)):
            bag = torch.tensor((dataset.bag(i) - self.mean) / self.std, dtype=torch.float32)
            right += int(self.network(bag).argmax()) == dataset.labels[i]
        return right / len(dataset)


def train(
    dataset: BagDataset,
    epochs: int,
    hidden: int = 512,
    lr: float = 0.01,
    mu: float = 10.0,
    gamma: float = 10.0,
    seed: int = 0,
    steps: int | None = None,
) -> OneBagRun:
    """Train for `epochs`, or only the first `steps` of them, on one thread."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    mean, std = dataset.instances.mean(0), dataset.instances.std(0)
    bags = [torch.tensor((dataset.bag(i) - mean) / std, dtype=torch.float32) for i in range(len(dataset))]
    candidates = torch.tensor(dataset.candidates, dtype=torch.float32)
    weights = candidates / candidates.sum(1, keepdim=True)
    network = OneBagNetwork(dataset.dim, hidden, dataset.n_classes)
    optimizer = torch.optim.SGD(network.parameters(), lr=lr, momentum=0.9, weight_decay=1e-4, nesterov=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    limit = epochs * len(bags) if steps is None else steps
    done = 0
    began, began_processor = time.perf_counter(), time.process_time()
    for epoch in range(1, epochs + 1):
        rho = (epochs - epoch + 1) / epochs
        for i in torch.randperm(len(bags)).tolist()[: limit - done]:
            s, w = candidates[i : i + 1], weights[i : i + 1]
            p = network(bags[i])
            mapping = -(w * torch.log(p)).sum()
            sparsity = torch.norm(p * s, p=1)
            inhibition = -((1 - s) * torch.log(1 - p)).sum()
            loss = mapping + mu * sparsity + gamma * inhibition
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                q = p * s
                weights[i : i + 1] = rho * w + (1 - rho) * q / q.sum()
            done += 1
        if done == limit:
            break
        schedule.step()
    seconds, processor_seconds = time.perf_counter() - began, time.process_time() - began_processor
    return OneBagRun(network, mean, std, done, seconds, processor_seconds)
