"""EfficientNet-Lite0 and the reading of cells word by word: one kernel place, one cell at a time."""

import cv2
import numpy as np

BLOCKS = ((1, 3, 1, 1), (2, 3, 2, 2), (2, 5, 2, 3), (3, 3, 2, 4), (3, 5, 1, 5), (4, 5, 2, 6), (1, 3, 1, 7))
"""How many, kernel, stride of the first, stage."""


def convolved(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, stride: int, depthwise: bool) -> np.ndarray:
    """(c, h, w) → (o, ⌈h/stride⌉, ⌈w/stride⌉) with zeros around, the odd one behind, as TensorFlow does."""
    kernel = weight.shape[-1]
    height, width = (-(-side // stride) for side in x.shape[1:])
    pads = [max((out - 1) * stride + kernel - side, 0) for out, side in zip((height, width), x.shape[1:], strict=True)]
    x = np.pad(x, ((0, 0), *((pad // 2, pad - pad // 2) for pad in pads)))
    out = np.zeros((len(weight), height, width)) + bias[:, None, None]
    for i in range(kernel):
        for j in range(kernel):
            seen = x[:, i : i + height * stride : stride, j : j + width * stride : stride][:, :height, :width]
            out += (
                weight[:, 0, i, j, None, None] * seen
                if depthwise
                else np.einsum("oc,chw->ohw", weight[:, :, i, j], seen)
            )
    return out


def maps(layers: dict[str, np.ndarray], pixels: np.ndarray) -> dict[int, np.ndarray]:
    """(h, w, 3) in 0..255 → the last map of every stage, (c, h, w); 8 is the last layer."""

    def layer(x: np.ndarray, name: str, stride: int = 1, depthwise: bool = False) -> np.ndarray:
        weight, bias = (layers[f"{name}.{part}"].astype(np.float64) for part in ("weight", "bias"))
        return convolved(x, weight, bias, stride, depthwise)

    x = layer((pixels.transpose(2, 0, 1) - 127.0) / 128, "stem", 2).clip(0, 6)
    out, number = {}, 0
    for count, _, first_stride, stage in BLOCKS:
        for i in range(count):
            stride = first_stride if i == 0 else 1
            y = layer(x, f"block{number}.expand").clip(0, 6) if stage > 1 else x
            y = layer(y, f"block{number}.depthwise", stride, True).clip(0, 6)
            y = layer(y, f"block{number}.project")
            x = x + y if i > 0 else y
            number += 1
        out[stage] = x
    return {**out, 8: layer(x, "head").clip(0, 6)}


def cells(layers: dict[str, np.ndarray], pixels: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """(rows · columns, 256): what the maps hold at the middle of each cell, projected; cells of 14 px only."""
    height, width = pixels.shape[:2]
    views = []
    for view in (56, 168):
        seen_width, seen_height = (max(1, round(side * 64 / view)) for side in (width, height))
        way = cv2.INTER_CUBIC if view == 56 else cv2.INTER_AREA
        seen = cv2.resize(pixels, (seen_width, seen_height), interpolation=way)
        right, below = (max(64, -(-side // 32) * 32) - side for side in (seen_width, seen_height))
        found = maps(layers, np.pad(seen, ((0, below), (0, right), (0, 0)), mode="reflect"))
        read = np.tile(layers[f"projection.{view}.bias"].astype(np.float64), (rows * columns, 1))
        for stage, step in ((4, 16), (5, 16), (6, 32), (8, 32)):
            ends = [-(-side // step) - 1 for side in (seen_height, seen_width)]
            for cell in range(rows * columns):
                middle = (cell // columns + 0.5) * height / rows, (cell % columns + 0.5) * width / columns
                y, x = (min(max(at * 64 / view / step - 0.5, 0), end) for at, end in zip(middle, ends, strict=True))
                there = _between(found[stage], y, x, ends)
                read[cell] += there @ layers[f"projection.{view}.{stage}"].astype(np.float64)
        views.append(read)
    return np.concatenate(views, axis=1)


def _between(found: np.ndarray, y: float, x: float, ends: list[int]) -> np.ndarray:
    """A map (c, h, w) at a point between its places."""
    top, left = int(y), int(x)
    bottom, right = min(top + 1, ends[0]), min(left + 1, ends[1])
    upper = found[:, top, left] * (1 - (x - left)) + found[:, top, right] * (x - left)
    lower = found[:, bottom, left] * (1 - (x - left)) + found[:, bottom, right] * (x - left)
    return upper * (1 - (y - top)) + lower * (y - top)
