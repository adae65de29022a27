"""One training run looked at after every epoch, for recordings."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch

from elimipl.config import Config
from elimipl.datasets.dataset import BagDataset
from elimipl.model.losses import initial_weights
from elimipl.model.network import build_network
from elimipl.model.scaling import fit_scaler
from elimipl.training.loop import Fitted, fit


def stages(
    dataset: BagDataset, config: Config, epochs: Sequence[int], held_out: BagDataset | None = None
) -> Iterator[tuple[int, Fitted]]:
    """The model before training and after each of `epochs`, which rise: one run, stopped and resumed.

    Resuming is exact, so every stage is what an uninterrupted run has at that epoch. The fitted model of stage 0
    is untrained and believes all candidates alike.
    """
    network = build_network(config, dataset.dim, dataset.n_classes)
    weights = initial_weights(torch.from_numpy(dataset.candidates.copy())).numpy()
    yield 0, Fitted(network, config, fit_scaler(dataset.instances, config.scaling), weights, ())
    heard: list[int] = []
    with tempfile.TemporaryDirectory() as folder:
        for epoch in epochs:
            yield (
                epoch,
                fit(
                    dataset,
                    config,
                    held_out=held_out,
                    on_epoch=lambda report: heard.append(report.epoch),
                    should_stop=lambda last=epoch: heard[-1] >= last,  # type: ignore[misc]
                    checkpoint=Path(folder) / "run.safetensors",
                    resume=True,
                    device="cpu",
                ),
            )
