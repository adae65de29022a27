"""How scores become colours."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.figures.score_scale import LOG_FLOOR, SCALES, coloured

scores = st.lists(st.floats(0, 1), min_size=1, max_size=30).map(np.array)
signed_scores = st.lists(st.floats(-1, 1), min_size=1, max_size=30).map(np.array)


@pytest.mark.parametrize("scale", SCALES)
@given(raw=scores)
def test_scaled_scores_stay_on_the_scale_and_keep_their_order(scale, raw):
    values = coloured(raw, scale).values
    assert np.isfinite(values).all()
    assert ((values >= 0) & (values <= 1 + 1e-12)).all()
    order = np.argsort(raw, kind="stable")
    assert (np.diff(values[order]) >= -1e-12).all()


@pytest.mark.parametrize("scale", SCALES)
@given(raw=signed_scores)
def test_signed_scores_keep_their_sign(scale, raw):
    values = coloured(raw, scale, signed=True).values
    assert np.isfinite(values).all()
    assert (np.abs(values) <= 1 + 1e-12).all()
    assert (values * raw >= 0).all()


def test_linear_starts_at_zero_and_contrast_at_the_smallest():
    raw = np.array([0.2, 0.3, 0.4])
    np.testing.assert_allclose(coloured(raw, "linear").values, [0.5, 0.75, 1.0])
    np.testing.assert_allclose(coloured(raw, "contrast").values, [0.0, 0.5, 1.0])


def test_rank_shares_the_middle_rank_of_equal_scores():
    np.testing.assert_allclose(coloured(np.array([5.0, 1.0, 1.0, 9.0]), "rank").values, [2 / 3, 1 / 6, 1 / 6, 1])


def test_log_spreads_small_scores():
    values = coloured(np.array([1.0, LOG_FLOOR**0.5, LOG_FLOOR, 0.0]), "log").values
    np.testing.assert_allclose(values, [1, 0.5, 0, 0], atol=1e-12)


@pytest.mark.parametrize("scale", ["linear", "contrast"])
def test_fixed_maps_can_be_compared(scale):
    np.testing.assert_allclose(coloured(np.array([0.1, 0.4]), scale, fixed=True).values, [0.1, 0.4])


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("signed", [False, True])
def test_ticks_stand_for_raw_scores(scale, signed):
    raw = np.array([0.01, 0.2, 0.7])
    scores = coloured(raw, scale, signed=signed)
    places, texts = scores.ticks()
    assert places[-1] == 1.0
    assert float(texts[-1]) == pytest.approx(0.7)
    if signed:
        assert places[0] == -1.0
        assert float(texts[0]) == pytest.approx(-0.7)
