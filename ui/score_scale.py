"""Instance scores as they are coloured: linear, logarithmic or by rank, positive or signed. The raw values stay."""

from dataclasses import dataclass

import numpy as np

SCALES = ("linear", "log", "rank")
LOG_FLOOR = 1e-3  # scores below a thousandth of the largest share the darkest colour of the log scale


@dataclass(frozen=True)
class ColouredScores:
    """Scores ready to paint: `values` (n,) in `low`..`high`, the raw scores, and whether zero is the middle."""

    raw: np.ndarray
    values: np.ndarray
    low: float
    high: float
    signed: bool


def coloured(raw: np.ndarray, scale: str, signed: bool = False, fixed: bool = False) -> ColouredScores:
    """Scale raw scores (n,) for colouring.

    Unsigned scores run 0..1 after scaling, signed ones −1..1 with zero in the middle, so that a colour means the
    same on both sides. `fixed` maps the linear scale to the whole of 0..1 (or −1..1) instead of the largest score
    of this bag, so that several maps can be compared.
    """
    raw = np.asarray(raw, dtype=np.float64)
    size = np.abs(raw) if signed else np.maximum(raw, 0.0)
    largest = float(size.max(initial=0.0))
    if scale == "rank":
        strength = _midranks(size)
    elif largest == 0.0:
        strength = np.zeros_like(size)
    elif scale == "log":
        strength = 1.0 + np.log10(np.clip(size / largest, LOG_FLOOR, 1.0)) / -np.log10(LOG_FLOOR)
    else:
        strength = size if fixed else size / largest
    values = np.sign(raw) * strength if signed else strength
    return ColouredScores(raw, values, -1.0 if signed else 0.0, 1.0, signed)


def _midranks(size: np.ndarray) -> np.ndarray:
    """Ranks spread over 0..1, equal scores sharing their middle rank; a single instance gets 1."""
    if len(size) == 1:
        return np.ones(1)
    below = (size[:, None] > size[None, :]).sum(axis=1)
    equal = (size[:, None] == size[None, :]).sum(axis=1)
    return (below + (equal - 1) / 2) / (len(size) - 1)
