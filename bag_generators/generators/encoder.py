"""The network behind `deep`: EfficientNet-Lite0, adapted to colorectal tissue, read at two scales over whole pictures.

What it learned from and who owns it is on its card, `assets/encoder/efficientnet_lite0.json`; the file is made by
`scripts/adapt_encoder.py` and `scripts/make_encoder.py`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise, product
from typing import Any

import cv2
import numpy as np

from bag_generators.base.assets import assets
from bag_generators.base.errors import InputError
from bag_generators.base.storage import ForeignFileError, read_tensors
from bag_generators.base.threads import one_thread
from bag_generators.base.validation import Record, Sha256, read_json, validated
from bag_generators.regions import edges

CELL = 14
"""Side of a cell in pixels at 0.5 µm per pixel: what one place of the near view's middle maps shows."""
VIEWS = (56, 168)
"""Pixels that the network sees as `SEEN`: near and wide."""
SEEN = 64
WIDTH = 128
"""Numbers that describe a cell in one view."""
STAGES = {4: 16, 5: 16, 6: 32, 8: 32}
"""Stages that are read, 8 being the last layer, with their steps in pixels of the view."""
STRIDE = 32
"""Sides that this divides give the same maps in one piece and in windows."""
CORE, MARGIN = 640, 64
"""Pixels of a view that a window answers for at most, and what it sees beyond them on every side."""
ENCODER = "efficientnet_lite0"
KEY = "encoder"
"""Of the description in its file."""
DEVICE = "BAG_GENERATORS_DEVICE"
"""The environment variable that says where to compute: auto (a GPU where there is one), cpu, cuda or mps."""
_RESTORE = "Restore the files in assets/encoder, or make them again with scripts/make_encoder.py."


class EncoderCard(Record):
    """Where the encoder comes from, what it learned from, and what its file must be."""

    name: str
    origin: str
    licence: str
    learned_from: str
    sources: tuple[str, ...]
    """Credit and licence of what it learned from."""
    projection: str
    likenesses: str
    measured: dict[str, Any]
    """What was measured of it, by name: values with what they were measured on."""
    sha256: Sha256
    likeness_names: tuple[str, ...]


class Encoder:
    """The network with its projections, ready for use by any number of threads."""

    def __init__(self, arrays: Mapping[str, np.ndarray], card: EncoderCard, device: str = "cpu") -> None:
        import torch

        from bag_generators.generators.lite0 import Lite0

        self.card = card
        self.device = device
        network = Lite0(arrays).to(device).to(memory_format=torch.channels_last)
        self.network = network.eval().requires_grad_(False)
        self.likenesses = arrays["likenesses"].astype(np.float64)  # (c, 256) mean cell of known tissues
        self.spread = arrays["spread"].astype(np.float64)  # (256,) standard deviation over cells
        self._bias = np.concatenate([arrays[f"projection.{view}.bias"] for view in VIEWS])  # (256,)
        self._projection = {
            view: {
                stage: torch.from_numpy(arrays[f"projection.{view}.{stage}"].astype(np.float32)).to(device)
                for stage in STAGES
            }
            for view in VIEWS
        }  # (channels, 128) each

    def cells(self, pixels: np.ndarray, grid: tuple[int, int]) -> np.ndarray:
        """(h, w, 3) uint8 at 0.5 µm per pixel → (rows · columns, 256) float32, one row for each cell of the grid.

        The network runs once over the picture at each scale; a cell gets what the maps hold at its place,
        interpolated where they are coarser than the grid and averaged where they are finer. It sees what lies around.
        """
        rows, columns = grid
        read = np.zeros((rows, columns, len(VIEWS) * WIDTH), np.float32)
        for i, view in enumerate(VIEWS):
            part = read[..., i * WIDTH : (i + 1) * WIDTH]
            for stage, places, found in self.maps(pixels, view):
                (top, y), (left, x) = (
                    place_weights(count, side, view, STAGES[stage], some)
                    for count, side, some in zip(grid, pixels.shape[:2], places, strict=True)
                )
                across = np.einsum("jk,ikc->ijc", x, found, optimize=True)
                part[top : top + len(y), left : left + len(x)] += np.einsum("ri,ijc->rjc", y, across, optimize=True)
        return read.reshape(rows * columns, -1) + self._bias

    def maps(self, pixels: np.ndarray, view: int) -> Iterator[tuple[int, tuple[slice, slice], np.ndarray]]:
        """The projected maps of a view, window by window: the stage, which of its rows and columns, (h, w, 128)."""
        import torch

        seen, (height, width) = as_seen(pixels, view)
        with torch.inference_mode(), one_thread():
            for (top, bottom), (left, right) in product(spans(seen.shape[0]), spans(seen.shape[1])):
                y0, y1 = max(0, top - MARGIN), min(seen.shape[0], bottom + MARGIN)
                x0, x1 = max(0, left - MARGIN), min(seen.shape[1], right + MARGIN)
                window = torch.from_numpy(np.ascontiguousarray(seen[y0:y1, x0:x1])).to(self.device)
                maps = self.network.maps(window.permute(2, 0, 1)[None].float())
                for stage, step in STAGES.items():
                    inner = (
                        slice(top // step, -(-min(bottom, height) // step)),
                        slice(left // step, -(-min(right, width) // step)),
                    )
                    own = maps[stage][
                        0,
                        :,
                        inner[0].start - y0 // step : inner[0].stop - y0 // step,
                        inner[1].start - x0 // step : inner[1].stop - x0 // step,
                    ]
                    projected = own.permute(1, 2, 0) @ self._projection[view][stage]
                    yield stage, inner, projected.cpu().numpy()


def seen_side(side: int, view: int) -> int:
    """Pixels of a side at the scale of a view."""
    return max(1, round(side * SEEN / view))


def as_seen(pixels: np.ndarray, view: int) -> tuple[np.ndarray, tuple[int, int]]:
    """A picture at the scale of a view, mirrored at its right and lower edge up to what the network's steps divide.

    Returns it with the height and width that belong to the picture.
    """
    size = [seen_side(side, view) for side in pixels.shape[1::-1]]
    way = cv2.INTER_AREA if view > SEEN else cv2.INTER_CUBIC
    seen = cv2.resize(pixels, size, interpolation=way)
    width, height = size
    right, below = (max(SEEN, -(-side // STRIDE) * STRIDE) - side for side in (width, height))
    return cv2.copyMakeBorder(seen, 0, below, 0, right, cv2.BORDER_REFLECT_101), (height, width)


def spans(side: int) -> list[tuple[int, int]]:
    """What windows answer for along a side that the network's steps divide: as few and even parts as `CORE` allows.

    They are fixed by the size of the picture, so that it always gets the same numbers.

    >>> spans(640), spans(672)
    ([(0, 640)], [(0, 352), (352, 672)])
    """
    return list(pairwise((edges(-(-side // CORE), side // STRIDE) * STRIDE).tolist()))


def place_weights(count: int, side: int, view: int, step: int, places: slice) -> tuple[int, np.ndarray]:
    """How much the places of a map with a `step` count in each of `count` cells along a side of `side` pixels.

    Only cells that these places touch: the number of the first one, and (cells, places) weights. Over all places of
    the side the weights of a cell sum to one.
    """
    last = -(-seen_side(side, view) // step) - 1  # number of the map's last place
    parts = max(1, round(side / count / CELL))  # a cell that is larger is read at several points
    at = (np.arange(count * parts) + 0.5) / (count * parts) * (side * SEEN / view / step) - 0.5  # in places
    near = np.clip(at, 0, last)[:, None] - np.arange(places.start, places.stop)
    weights = np.maximum(0, 1 - np.abs(near)).reshape(count, parts, -1).mean(1)
    touched = np.flatnonzero(weights.any(1))
    if not len(touched):
        return 0, weights[:0].astype(np.float32)
    return int(touched[0]), weights[touched[0] : touched[-1] + 1].astype(np.float32)


def shipped_encoder() -> Encoder:
    """The encoder that ships, read once per process and device.

    That is the GPU where there is one, unless `BAG_GENERATORS_DEVICE` says otherwise.
    """
    return _on_device(_resolved(os.environ.get(DEVICE, "").strip() or "auto"))


@lru_cache(maxsize=2)
def _on_device(device: str) -> Encoder:
    """From its file and the card beside it; that it is the one a model learned with, the model's card says."""
    path, called = assets("encoder", f"{ENCODER}.safetensors"), f"The encoder's card “{ENCODER}.json”"
    card = validated(EncoderCard, read_json(path.with_suffix(".json"), called, _RESTORE), called, _RESTORE)
    try:
        return Encoder(read_tensors(path, KEY, path.name)[0], card, device)
    except ForeignFileError:
        raise InputError(f"“{path.name}” is not an encoder.", _RESTORE) from None


@lru_cache
def _resolved(wish: str) -> str:
    import torch

    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if wish == "auto":
        return next(kind for kind, found in there.items() if found)
    if not there.get(wish.split(":")[0], False):
        usable = ", ".join(kind for kind, found in there.items() if found)
        raise InputError(f"This computer has no device {wish!r} to encode pictures on.", f"Choose auto or {usable}.")
    return wish
