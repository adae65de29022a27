"""The paired tests against numbers worked out by hand."""

import math

import pytest

from elimipl.benchmark.claims import corrected_t_p, wilcoxon_p


def test_wilcoxon_counts_the_signs_of_the_ranks() -> None:
    # Six differences of one sign: of 2^6 sign patterns one is as extreme at either end.
    assert wilcoxon_p([0.01, 0.02, 0.03, 0.04, 0.05, 0.06]) == pytest.approx(2 / 64)
    # The smallest rank has the other sign: W = 1, reached by 2 of 64 patterns at either end.
    assert wilcoxon_p([-0.01, 0.02, 0.03, 0.04, 0.05, 0.06]) == pytest.approx(4 / 64)
    assert wilcoxon_p([0.0] * 6) == 1.0


def test_the_correction_adds_the_overlap_to_the_ordinary_test() -> None:
    t = 2 / math.sqrt(1 / 3 + 3 / 7)
    assert corrected_t_p([1, 2, 3], 3 / 7) == pytest.approx(1 - t / math.sqrt(2 + t * t))
    t = 2 / math.sqrt(1 / 3)
    assert corrected_t_p([-1, -2, -3], 0.0) == pytest.approx(1 - t / math.sqrt(2 + t * t))
    assert corrected_t_p([0.0, 0.0, 0.0], 3 / 7) == 1.0
    assert corrected_t_p([0.5, 0.5, 0.5], 3 / 7) == 0.0
