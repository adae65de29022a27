"""How far people who labelled the same pictures agree, beyond what chance would give."""

from __future__ import annotations

import numpy as np


def krippendorff_alpha(labels: np.ndarray) -> float | None:
    """Krippendorff's α for names: 1 where all agree, 0 where they agree as often as by chance, below 0 where less.

    `labels` is (people, pictures) int, −1 where somebody did not answer. Pictures with one answer say nothing; None
    where no picture has two, or everybody always said the same label, so that there was nothing to agree on.

    >>> krippendorff_alpha(np.array([[0, 0, 1], [0, 1, 1]]))
    0.4444444444444444
    """
    counts = (labels[..., None] == np.arange(max(labels.max(initial=0) + 1, 1))).sum(axis=0)  # (pictures, k)
    counts = counts[counts.sum(axis=1) >= 2]
    per_picture, per_label = counts.sum(axis=1), counts.sum(axis=0)
    n = int(per_picture.sum())
    chance = (n * n - (per_label**2).sum()) / (n * (n - 1)) if n else 0.0
    if chance == 0:
        return None
    differing = per_picture**2 - (counts**2).sum(axis=1)  # ordered pairs of answers that differ
    observed = (differing / (per_picture - 1)).sum() / n
    return float(1 - observed / chance)
