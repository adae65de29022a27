"""When attention tells nothing apart: it is then said in a sentence and not painted as if it were a map."""

import numpy as np

EVEN = 1.2
"""Attention within this factor of an even share is even."""


def times_even_share(attention: np.ndarray) -> np.ndarray:
    """n·a_j: how many times an even share of the attention each instance gets."""
    return len(attention) * np.asarray(attention)


def is_even(attention: np.ndarray) -> bool:
    """Whether no instance gets more or less than an even share worth speaking of.

    >>> is_even(np.array([0.3, 0.35, 0.35])), is_even(np.array([0.2, 0.4, 0.4]))
    (True, False)
    """
    times = times_even_share(attention)
    return bool(times.max() < EVEN and times.min() > 1 / EVEN)
