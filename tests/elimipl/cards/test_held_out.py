"""What held-out outputs put on a card."""

import numpy as np
import pytest

from elimipl.cards.calibration import temper
from elimipl.cards.finish import HeldOut, measure_model
from tests.elimipl.cards.test_conformal import answers


def outputs(m: int = 900, seed: int = 0, **more: object) -> HeldOut:
    probabilities, labels = answers(m, seed=seed)
    return HeldOut(temper(probabilities, 3.0), labels, "left-out tiles", **more)


def candidates_of(labels: np.ndarray, share: float = 0.3) -> np.ndarray:
    drawn = np.random.default_rng(5).random((len(labels), 4)) < share
    return drawn | (labels[:, None] == np.arange(4))


def test_everything_is_measured_on_calibrated_probabilities():
    held = outputs()
    found = measure_model(held)
    assert found.accuracy.value == (held.probabilities.argmax(axis=1) == held.labels).mean()
    calibrated = temper(held.probabilities, found.calibration.temperature)
    covered = found.conformal.members(calibrated)[np.arange(900), held.labels].mean()
    assert covered == pytest.approx(0.9, abs=0.01)
    assert found.conformal.coverage.value == pytest.approx(0.9, abs=0.02)
    assert found.conformal.coverage.on == "left-out tiles, each tenth of them left out in turn"
    assert sum(one.n for one in found.reliability.bins) == 900
    assert found.conformal_by_candidates is None


def test_other_bags_are_reported_on_and_nothing_is_fitted_on_them():
    val = HeldOut(*answers(500, seed=7, skill=0.5), "val")
    found, alone = measure_model(outputs(), reported=val), measure_model(outputs())
    assert found.calibration == alone.calibration
    assert found.conformal.thresholds == alone.conformal.thresholds
    assert (found.accuracy.n, found.accuracy.split, found.reliability.on) == (500, "val", "val")
    assert (found.conformal.coverage.on, found.conformal.coverage.n) == ("val", 500)
    assert found.conformal.coverage.value < 0.8  # the promise is for bags like the held-out ones, and these are harder


def test_candidate_sets_alone_promise_too_much_and_say_so():
    held = outputs()
    found = measure_model(HeldOut(held.probabilities, held.labels, held.called, candidates_of(held.labels)))
    by_candidates = found.conformal_by_candidates
    assert by_candidates.fitted_by == "candidate sets"
    assert 0.75 < by_candidates.coverage.value < found.conformal.coverage.value
    assert by_candidates.coverage.size < found.conformal.coverage.size


def test_without_a_true_label_there_are_sets_by_candidates_whose_coverage_nobody_knows():
    held = outputs()
    unknown = np.full(900, -1)
    found = measure_model(HeldOut(held.probabilities, unknown, held.called, candidates_of(held.labels)))
    assert (found.accuracy, found.calibration, found.conformal, found.reliability) == (None, None, None, None)
    assert found.conformal_by_candidates.coverage is None
    assert max(found.conformal_by_candidates.thresholds[0]) > 0


@pytest.mark.parametrize("candidates", [np.ones((900, 4), bool), np.eye(4, dtype=bool)[np.zeros(900, int)]])
def test_candidate_sets_that_say_nothing_or_all_are_not_fitted_by(candidates):
    held = outputs()
    assert (
        measure_model(HeldOut(held.probabilities, held.labels, held.called, candidates)).conformal_by_candidates is None
    )
