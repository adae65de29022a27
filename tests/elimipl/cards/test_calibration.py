"""Temperature scaling and the calibration error, against literal loops and known answers."""

import itertools
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bag_generators.base.errors import InputError
from elimipl.cards.calibration import (
    EDGES,
    HIGHEST_TEMPERATURE,
    LOWEST_TEMPERATURE,
    ConfidenceBin,
    Reliability,
    calibrate,
    count_reliability,
    expected_calibration_error,
    fit_temperature,
    temper,
)


def softmax(values):
    weights = np.exp(values - values.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def draw(m, k, temperature, seed=0):
    """Logits, and labels drawn from the softmax of logits / temperature."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(m, k)) * 3
    return logits, (logits / temperature + rng.gumbel(size=(m, k))).argmax(axis=1)


def literal_temper(row, temperature):
    powers = [p ** (1 / temperature) for p in row]
    return [power / sum(powers) for power in powers]


def literal_error(probabilities, labels, edges):
    """The calibration error bin by bin; bin b holds the confidences in (edges[b], edges[b+1]]."""
    total = 0.0
    for low, high in itertools.pairwise(edges):
        inside = [i for i, row in enumerate(probabilities) if low < max(row) <= high]
        if inside:
            confidence = sum(max(probabilities[i]) for i in inside) / len(inside)
            accuracy = sum(int(np.argmax(probabilities[i])) == labels[i] for i in inside) / len(inside)
            total += len(inside) / len(labels) * abs(confidence - accuracy)
    return total


@given(st.integers(2, 8), st.floats(0.2, 10), st.integers(0, 99))
def test_tempering_is_the_power_of_the_probabilities(k, temperature, seed):
    p = softmax(np.random.default_rng(seed).normal(size=(3, k)))
    expected = [literal_temper(row, temperature) for row in p]
    np.testing.assert_allclose(temper(p, temperature), expected, atol=1e-9)


def test_tempering_a_softmax_scales_its_logits_and_undoes_the_squeeze_of_the_authors_head():
    logits = np.random.default_rng(1).normal(size=(5, 4))
    np.testing.assert_allclose(temper(softmax(logits), 2.5), softmax(logits / 2.5), atol=1e-12)
    certain = softmax(np.array([1.0, 0, 0, 0, 0, 0, 0]))  # the surest answer softmax(sigmoid) can give
    assert certain.max() == pytest.approx(math.e / (math.e + 6))
    assert temper(certain, 0.1).max() > 0.999


@pytest.mark.parametrize("p", [[0.0, 1.0], [1.0, 0.0, 0.0], [1e-320, 1.0]])
@pytest.mark.parametrize("temperature", [LOWEST_TEMPERATURE, 1.0, HIGHEST_TEMPERATURE])
def test_tempering_never_gives_nan(p, temperature):
    tempered = temper(np.array(p), temperature)
    assert np.isfinite(tempered).all()
    assert tempered.sum() == pytest.approx(1)


@given(st.floats(0.02, 50), st.integers(0, 50))
def test_the_label_never_changes(temperature, seed):
    p = softmax(np.random.default_rng(seed).normal(size=(20, 5)))
    assert (temper(p, temperature).argmax(1) == p.argmax(1)).all()


@pytest.mark.parametrize("temperature", [0.25, 1.0, 4.0])
def test_the_temperature_that_made_the_labels_is_found(temperature):
    logits, labels = draw(20_000, 4, temperature)
    assert fit_temperature(softmax(logits), labels) == pytest.approx(temperature, rel=0.05)


def test_the_fit_is_the_best_of_a_fine_grid():
    logits, labels = draw(300, 3, 1.7, seed=4)
    p, m, k = softmax(logits), 300, 3
    targets = np.full((m, k), 1 / ((m + 2) * (k - 1)))
    targets[np.arange(m), labels] = (m + 1) / (m + 2)

    def loss(temperature):
        total = 0.0
        for row, wanted in zip(p, targets, strict=True):
            total += sum((q - t) ** 2 for t, q in zip(wanted, literal_temper(row, temperature), strict=True))
        return total / m

    best = min(np.geomspace(0.5, 5, 200), key=loss)
    assert fit_temperature(p, labels) == pytest.approx(best, rel=0.02)


def test_few_right_few_wrong_and_hopeless_answers_are_tempered_with_care():
    p = np.full((5, 3), 0.2)
    p[:, 0] = 0.6
    temperature = fit_temperature(p, np.zeros(5, int))
    assert temper(p, temperature).max() == pytest.approx(6 / 7, abs=1e-3)  # Platt's (m+1)/(m+2)
    rng = np.random.default_rng(0)
    right = rng.random(400) < 0.7
    p = np.tile([0.7, 0.15, 0.15], (400, 1))
    labels = np.where(right, 0, rng.integers(1, 3, 400))
    p[:8] = [1 - 2e-9, 1e-9, 1e-9]
    labels[:8] = 1
    calibration = calibrate(p, labels, "made up")
    assert calibration.ece_after <= calibration.ece_before + 0.01
    p = np.tile([0.8, 0.1, 0.1], (50, 1))
    assert temper(p, fit_temperature(p, np.ones(50, int))).max() < 0.34


def test_the_error_over_equal_widths_and_of_few_bags_over_bins_of_ten():
    logits, labels = draw(3000, 5, 2.0, seed=2)
    expected = literal_error(softmax(logits), labels, np.linspace(0, 1, 16))
    assert expected_calibration_error(softmax(logits), labels) == pytest.approx(expected, abs=1e-12)
    logits, labels = draw(40, 3, 1.0, seed=3)
    p = softmax(logits)
    confidence = np.sort(p.max(axis=1))
    edges = [0, confidence[9], confidence[19], confidence[29], 1]
    assert expected_calibration_error(p, labels) == pytest.approx(literal_error(p, labels, edges), abs=1e-12)


@given(st.integers(1, 60), st.integers(0, 99))
def test_the_order_of_the_bags_does_not_matter(m, seed):
    rng = np.random.default_rng(seed)
    p = softmax(np.round(rng.normal(size=(m, 3))))  # rounded, so that confidences repeat
    labels, order = rng.integers(0, 3, m), rng.permutation(m)
    shuffled = expected_calibration_error(p[order], labels[order])
    assert shuffled == pytest.approx(expected_calibration_error(p, labels), abs=1e-12)


def test_calibration_lowers_the_error_of_an_overconfident_model():
    # 20,000 bags in 15 bins: chance alone leaves an error of about .01 at the right temperature
    logits, labels = draw(20_000, 5, 4.0)
    found = calibrate(softmax(logits), labels, "held-out bags")
    assert found.ece_after < 0.02 < 0.2 < found.ece_before
    assert (found.n, found.fitted_on, found.kind) == (20_000, "held-out bags", "temperature")


@pytest.mark.parametrize(
    ("p", "labels", "said"),
    [
        (np.ones((2, 3)) / 3, np.array([0]), "don't belong together"),
        (np.empty((0, 3)), np.empty(0, int), "don't belong together"),
        (np.ones((2, 3)) / 3, np.array([0, -1]), "true label of every bag"),
        (np.ones((2, 3)) / 3, np.array([0, 3]), "true label of every bag"),
    ],
)
def test_what_can_not_be_calibrated(p, labels, said):
    with pytest.raises(InputError, match=said):
        calibrate(p, labels, "")


def test_answers_are_counted_by_confidence():
    sure = np.array([0.93, 0.949, 0.95, 0.3, 1.0, 0.5])
    probabilities = np.stack([sure, (1 - sure) / 2, (1 - sure) / 2], axis=1)
    labels = np.array([0, 1, 0, 0, 0, 1])
    found = count_reliability(probabilities, labels, "kept-back tiles")
    counted = {(one.low, one.high): (one.n, one.right) for one in found.bins}
    assert counted == {
        (0.0, 0.5): (1, 0),
        (0.5, 0.6): (1, 0),
        (0.9, 0.95): (2, 1),
        (0.95, 0.99): (1, 1),
        (0.99, 1.0): (1, 1),
    }
    assert found.sentence(0.92) == (
        "Of its answers on kept-back tiles that were this sure (90 to 95 %), 50 % were right (n = 2)."
    )
    assert "None of its answers on kept-back tiles" in found.sentence(0.75)


@pytest.mark.parametrize("probability", [0.0, *EDGES, 1.0000000002])
def test_every_probability_has_a_bin(probability):
    bins = [ConfidenceBin(low, high, 3, 2) for low, high in pairwise(EDGES)]
    found = Reliability(tuple(bins), "tiles").bin_of(probability)
    assert found.low <= probability <= found.high + 1e-9
