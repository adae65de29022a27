"""Instance scores as they are coloured: linear, logarithmic or by rank, positive or signed. The raw values stay."""

from dataclasses import dataclass

import numpy as np

SCALES = ("contrast", "linear", "log", "rank")
LOG_FLOOR = 1e-3  # scores below a thousandth of the largest share the darkest colour of the log scale


@dataclass(frozen=True, eq=False)
class ColouredScores:
    """Scores ready to paint: `values` (n,) in `low`..1, and the raw scores that belong to them."""

    raw: np.ndarray
    values: np.ndarray
    scale: str
    signed: bool
    reach: tuple[float, float]
    """Raw sizes at both ends of the scale."""

    @property
    def low(self) -> float:
        return -1.0 if self.signed else 0.0

    def ticks(self, count: int = 5) -> tuple[list[float], list[str]]:
        """Even places on the colour scale and the raw scores they stand for."""
        positions = np.linspace(self.low, 1.0, count)
        sizes = np.copysign(self._size_at(np.abs(positions)), positions)
        return positions.tolist(), [f"{size:.4g}" for size in sizes]

    def _size_at(self, strength: np.ndarray) -> np.ndarray:
        start, end = self.reach
        if self.scale == "rank":
            sizes = np.sort(np.abs(self.raw))
            return np.interp(strength, np.linspace(0, 1, len(sizes)), sizes)
        if self.scale == "log":
            return end * LOG_FLOOR ** (1.0 - strength)
        return start + strength * (end - start)


def coloured(raw: np.ndarray, scale: str, signed: bool = False, fixed: bool = False) -> ColouredScores:
    """Scale raw scores (n,) for colouring.

    Unsigned scores run 0..1 after scaling, signed ones −1..1 with zero in the middle, so that a colour means the
    same on both sides. `linear` starts at zero, `contrast` at the smallest score (signed scores: at zero, too).
    `fixed` lets either run from 0 to 1 instead of to the largest score of this bag, so that maps can be compared.
    """
    if scale == "contrast" and (signed or fixed):
        scale = "linear"
    raw = np.asarray(raw, dtype=np.float64)
    size = np.abs(raw) if signed else np.maximum(raw, 0.0)
    end = 1.0 if fixed and scale == "linear" else float(size.max()) or 1.0
    start = float(size.min()) if scale == "contrast" and size.min() < end else 0.0
    if scale == "rank":
        strength = _midranks(size)
    elif scale == "log":
        strength = 1.0 - np.log10(np.clip(size / end, LOG_FLOOR, 1.0)) / np.log10(LOG_FLOOR)
    else:
        strength = (size - start) / (end - start)
    values = np.sign(raw) * strength if signed else strength
    return ColouredScores(raw, values, scale, signed, (start, end))


def _midranks(size: np.ndarray) -> np.ndarray:
    """Ranks spread over 0..1, equal scores sharing their middle rank; a single instance gets 1."""
    if len(size) == 1:
        return np.ones(1)
    below = (size[:, None] > size[None, :]).sum(axis=1)
    equal = (size[:, None] == size[None, :]).sum(axis=1)
    return (below + (equal - 1) / 2) / (len(size) - 1)
