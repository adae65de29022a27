"""The frozen network behind `deep`: EfficientNet-Lite0, which maps a patch of 56×56 px to 128 numbers.

Batch normalisation is folded into the convolutions, so that the network is a list of convolutions with clipped
activations. What it saw and who owns it is on its card, `assets/encoder/efficientnet_lite0.json`; the file is made
by `scripts/make_encoder.py`.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bag_generators.assets import assets
from bag_generators.errors import InputError
from bag_generators.generators.gathering import Gathering
from bag_generators.storage import ForeignFileError, read_tensors
from bag_generators.threads import one_thread
from bag_generators.validation import Record, Sha256, read_json, validated

if TYPE_CHECKING:
    from torch import Tensor

PATCH = 56
"""Side of a patch in pixels."""
WIDTH = 128
"""Numbers that describe a patch."""
ENCODER = "efficientnet_lite0"
KEY = "encoder"
"""Of the description in its file."""
_STAGES = (
    (3, 1, 1, 16, 1),
    (3, 2, 6, 24, 2),
    (5, 2, 6, 40, 2),
    (3, 2, 6, 80, 3),
    (5, 1, 6, 112, 3),
    (5, 2, 6, 192, 4),
    (3, 1, 6, 320, 1),
)
"""Kernel, stride of the first block, expansion, channels, blocks (Tan & Le 2019, without squeeze and excitation)."""
READ_AFTER = (4, 6)
"""Stages whose mean activation is read, besides that of the last layer."""
_AT_ONCE = 32  # patches: larger batches leave the cache of a CPU and are slower
_AT_ONCE_ON_GPU = 4096
DEVICE = "BAG_GENERATORS_DEVICE"
"""The environment variable that says where to compute: auto (a GPU where there is one), cpu, cuda or mps."""
_RESTORE = "Restore the files in assets/encoder, or make them again with scripts/make_encoder.py."


class EncoderCard(Record):
    """Where the encoder comes from and what its file must be."""

    name: str
    origin: str
    licence: str
    learned_from: str
    projection: str
    likenesses: str
    sha256: Sha256
    likeness_names: tuple[str, ...]


@dataclass(frozen=True)
class _Block:
    """An inverted residual block: names of its tensors, kernel, stride."""

    name: str
    kernel: int
    stride: int
    expands: bool
    ends_stage: int | None


def _blocks() -> tuple[_Block, ...]:
    found: list[_Block] = []
    for stage, (kernel, stride, expansion, _, count) in enumerate(_STAGES, start=1):
        for i in range(count):
            ends = stage if i == count - 1 else None
            found.append(_Block(f"block{len(found)}", kernel, stride if i == 0 else 1, expansion > 1, ends))
    return tuple(found)


BLOCKS = _blocks()


class Encoder:
    """The network with its projection, ready for use by any number of threads."""

    def __init__(self, arrays: dict[str, np.ndarray], card: EncoderCard, device: str = "cpu") -> None:
        import torch

        self.card = card
        self.device = device
        self._at_once = _AT_ONCE if device == "cpu" else _AT_ONCE_ON_GPU
        self.likenesses = arrays.pop("likenesses").astype(np.float64)  # (c, 128) mean patch of known tissues
        self.spread = arrays.pop("spread").astype(np.float64)  # (128,) standard deviation of the projection
        self._tensors = {name: torch.from_numpy(array.astype(np.float32)).to(device) for name, array in arrays.items()}
        self._gathered = Gathering(self._compute, self._at_once)

    def encode(self, patches: np.ndarray) -> np.ndarray:
        """(n, 56, 56, 3) uint8 → (n, 128) float32; a patch gets the same numbers whatever stands beside it.

        On a GPU the patches that several threads bring, of one picture each, are computed together.
        """
        return self._compute(patches) if self.device == "cpu" else self._gathered(patches)

    def _compute(self, patches: np.ndarray) -> np.ndarray:
        import torch

        with torch.inference_mode(), one_thread():
            parts = [
                self._encode(torch.from_numpy(np.ascontiguousarray(patches[i : i + self._at_once])).to(self.device))
                for i in range(0, len(patches), self._at_once)
            ]
            return np.asarray(torch.cat(parts).cpu().numpy())

    def _encode(self, pixels: Tensor) -> Tensor:
        import torch

        x = (pixels.permute(0, 3, 1, 2).float() - 127) / 128  # channels last in memory, as convolutions like it
        x = self._convolve(x, "stem", 3, 2).clamp_(0, 6)
        read = []
        for block in BLOCKS:
            y = self._convolve(x, f"{block.name}.expand").clamp_(0, 6) if block.expands else x
            y = self._convolve(y, f"{block.name}.depthwise", block.kernel, block.stride, depthwise=True).clamp_(0, 6)
            y = self._convolve(y, f"{block.name}.project")
            x = y + x if y.shape == x.shape and block.stride == 1 else y
            if block.ends_stage in READ_AFTER:
                read.append(x.mean((2, 3)))
        read.append(self._convolve(x, "head").clamp_(0, 6).mean((2, 3)))
        return torch.addmm(self._tensors["projection.bias"], torch.cat(read, 1), self._tensors["projection.weight"])

    def _convolve(self, x: Tensor, name: str, kernel: int = 1, stride: int = 1, depthwise: bool = False) -> Tensor:
        """A convolution with TensorFlow's padding, which is uneven where the stride is 2."""
        from torch.nn import functional

        if kernel > 1:
            before, after = _padding(x.shape[-1], kernel, stride)
            x = functional.pad(x, (before, after, before, after))
        weight, bias = self._tensors[f"{name}.weight"], self._tensors[f"{name}.bias"]
        return functional.conv2d(x, weight, bias, stride, groups=x.shape[1] if depthwise else 1)


def _padding(side: int, kernel: int, stride: int) -> tuple[int, int]:
    total = max((-(-side // stride) - 1) * stride + kernel - side, 0)
    return total // 2, total - total // 2


def shipped_encoder() -> Encoder:
    """The encoder that ships, read once per process and device."""
    return _on_device(encoder_device())


@lru_cache(maxsize=2)
def _on_device(device: str) -> Encoder:
    return read_encoder(assets("encoder", f"{ENCODER}.safetensors"), device)


def encoder_device() -> str:
    """Where patches are encoded: the GPU where there is one, unless `BAG_GENERATORS_DEVICE` says otherwise."""
    return _resolved(os.environ.get(DEVICE, "").strip() or "auto")


@lru_cache
def _resolved(wish: str) -> str:
    import torch

    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if wish == "auto":
        return next(kind for kind, found in there.items() if found)
    if not there.get(wish.split(":")[0], False):
        usable = ", ".join(kind for kind, found in there.items() if found)
        raise InputError(f"This computer has no device {wish!r} to encode patches on.", f"Choose auto or {usable}.")
    return wish


def read_encoder(path: Path, device: str = "cpu") -> Encoder:
    """An encoder from its safetensors file and the card beside it; damaged and swapped files are refused."""
    called = f"The encoder's card “{path.stem}.json”"
    card = validated(EncoderCard, read_json(path.with_suffix(".json"), called, _RESTORE), called, _RESTORE)
    try:
        arrays, _ = read_tensors(path, KEY, path.name)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except ForeignFileError:
        raise InputError(f"“{path.name}” is not an encoder.", _RESTORE) from None
    if digest != card.sha256:
        raise InputError(f"The encoder “{path.name}” is not the one its card describes.", _RESTORE)
    return Encoder(arrays, card, device)
