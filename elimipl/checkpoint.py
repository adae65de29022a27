"""The state of an unfinished training run on disk: one safetensors file, replaced atomically, no code inside.

Orders and dropout are drawn anew from (seed, epoch), so parameters, momentum and disambiguation weights after a
whole number of epochs are all there is to keep.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes
from torch import Tensor

from bag_generators.errors import InputError
from elimipl.config import Config
from elimipl.dataset import BagDataset
from elimipl.network import Network
from elimipl.reports import EpochReport

_METADATA_KEY = "elimipl.checkpoint"


def save(
    path: Path,
    config: Config,
    dataset: BagDataset,
    network: Network,
    optimizer: torch.optim.Optimizer,
    weights: Tensor,
    history: Sequence[EpochReport],
) -> None:
    """Write the state after the last epoch of `history`; a crash at any moment leaves the old file or the new one."""
    described = {
        "config": config.to_dict(),
        "data": fingerprint(dataset),
        "history": [
            {key: value for key, value in asdict(report).items() if key != "snapshot"} for report in history
        ],
    }
    content = to_bytes(
        {
            name: tensor.detach().contiguous().cpu()
            for name, tensor in _tensors(network, optimizer, weights).items()
        },
        metadata={_METADATA_KEY: json.dumps(described)},
    )
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise InputError(
            f"The checkpoint could not be written to “{path}” ({error.strerror}).",
            "Choose a folder that you may write to and that has space left.",
        ) from None


def load(
    path: Path,
    config: Config,
    dataset: BagDataset,
    network: Network,
    optimizer: torch.optim.Optimizer,
    weights: Tensor,
) -> list[EpochReport]:
    """Put the saved state into a fresh run of the same config and bags; returns the epochs it has behind it."""
    try:
        with safe_open(path, framework="pt") as file:
            described = json.loads((file.metadata() or {})[_METADATA_KEY])
            saved = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        history = [EpochReport(**report) for report in described["history"]]
        _check_same_run(path, config, described["config"], dataset, described["data"])
        _tensors(network, optimizer, weights)
    except (OSError, SafetensorError, KeyError, TypeError, json.JSONDecodeError):
        raise InputError(
            f"“{path}” is not a readable checkpoint of this program.", "Start again without resuming."
        ) from None
    with torch.no_grad():
        for name, tensor in _tensors(network, optimizer, weights).items():
            tensor.copy_(saved[name])
    return history


def fingerprint(dataset: BagDataset) -> str:
    """sha256 of everything training reads from a data set."""
    digest = hashlib.sha256()
    for array in (dataset.offsets, dataset.candidates, dataset.instances):
        digest.update(repr((array.shape, array.dtype.str)).encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _tensors(network: Network, optimizer: torch.optim.Optimizer, weights: Tensor) -> dict[str, Tensor]:
    """Every tensor of the state by name; momentum that no step has made yet is created as zero."""
    tensors = {"disambiguation": weights}
    for name, parameter in network.named_parameters():
        tensors[f"network.{name}"] = parameter
        if optimizer.defaults["momentum"]:
            state = optimizer.state[parameter]
            if state.get("momentum_buffer") is None:
                state["momentum_buffer"] = torch.zeros_like(parameter)
            tensors[f"momentum.{name}"] = state["momentum_buffer"]
    return tensors


def _check_same_run(
    path: Path, config: Config, saved_config: dict, dataset: BagDataset, saved_data: str
) -> None:
    for name, value in config.to_dict().items():
        if saved_config.get(name) != value:
            raise InputError(
                f"The checkpoint “{path}” was trained with {name}={saved_config.get(name)!r}, not {value!r}.",
                "Resume with the same settings, or start again without resuming.",
            )
    if fingerprint(dataset) != saved_data:
        raise InputError(
            f"The checkpoint “{path}” was trained on other bags.",
            "Resume with the same bags, or start again without resuming.",
        )
