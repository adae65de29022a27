"""Paired tests over splits: does one method beat another on the same bags, beyond the luck of the splits?"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import stats

FEWEST_SPLITS = 5
"""Fewer splits say nothing: even five differences of one sign only reach p = .0625 by the rank test."""


def wilcoxon_p(differences: Sequence[float]) -> float:
    """Two-sided p of the Wilcoxon signed-rank test; 1 where nothing differs."""
    values = np.asarray(differences, dtype=float)
    if not values.any():
        return 1.0
    return float(stats.wilcoxon(values).pvalue)


def corrected_t_p(differences: Sequence[float], test_per_train: float) -> float:
    """Two-sided p of the paired t-test with the correction of Nadeau and Bengio (2003) for overlapping splits.

    Splits of the same bags share most of their training bags, so their differences are alike and the plain t-test is
    far too sure. The variance of the mean is taken as (1/n + n_test/n_train) σ² instead of σ²/n.
    """
    values = np.asarray(differences, dtype=float)
    variance = (1 / len(values) + test_per_train) * values.var(ddof=1)
    if variance == 0:
        return 1.0 if values.mean() == 0 else 0.0
    return float(2 * stats.t.sf(abs(values.mean()) / math.sqrt(variance), df=len(values) - 1))
