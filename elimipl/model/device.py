"""Where tensors live."""

from __future__ import annotations

import torch

from bag_generators.base.errors import InputError


def resolve_device(name: str, dtype: str = "float32") -> torch.device:
    """`auto` takes CUDA, then Apple's MPS, then the CPU; anything else is taken at its word, or refused."""
    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        return torch.device(next(kind for kind, there in available.items() if there and _computes(kind, dtype)))
    kind = name.split(":")[0]
    if not available.get(kind, False):
        usable = ", ".join(kind for kind, there in available.items() if there)
        raise InputError(f"This computer has no device {name!r} for training.", f"Choose auto or one of {usable}.")
    if not _computes(kind, dtype):
        raise InputError(f"The device {name!r} can't compute in {dtype}.", "Choose dtype='float32' or device='cpu'.")
    return torch.device(name)


def _computes(kind: str, dtype: str) -> bool:
    return kind != "mps" or dtype != "float64"
