import numpy as np
import pytest

from elimipl.training.scaling import ROBUST_LIMIT, fit_scaler

RNG = np.random.default_rng(0)
X = RNG.normal(5, [1, 10, 0.1], (500, 3)).astype(np.float32)


def test_zscore_centres_and_scales_each_feature():
    z = fit_scaler(X, "zscore").transform(X)
    np.testing.assert_allclose(z.mean(0), 0, atol=1e-6)
    np.testing.assert_allclose(z.std(0), 1, atol=1e-6)


def test_robust_is_not_moved_by_outliers_and_cuts_them():
    spoiled = X.copy()
    spoiled[:20] = 1e6
    scaler = fit_scaler(spoiled, "robust")
    z = scaler.transform(X[20:])
    np.testing.assert_allclose(np.median(z, 0), 0, atol=0.15)
    np.testing.assert_allclose(z.std(0), 1, atol=0.15)
    assert scaler.transform(spoiled).max() == ROBUST_LIMIT


def test_global_keeps_the_contrast_between_features():
    z = fit_scaler(X, "global").transform(X)
    assert z.mean() == pytest.approx(0, abs=1e-6)
    assert z.std() == pytest.approx(1, abs=1e-6)
    np.testing.assert_allclose(z.std(0) / z.std(0)[0], X.std(0) / X.std(0)[0], rtol=1e-4)


def test_none_changes_nothing():
    np.testing.assert_array_equal(fit_scaler(X, "none").transform(X), X)


@pytest.mark.parametrize("kind", ["zscore", "robust", "global"])
def test_a_feature_that_never_varies_is_only_centred(kind):
    z = fit_scaler(np.full((4, 2), 7.0), kind).transform(np.array([[7.0, 8.0]]))
    np.testing.assert_allclose(z, [[0, 1]])
