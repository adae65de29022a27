"""The lesson's figures by their numbers: matrices add up, distributions are distributions, curves are finite."""

import numpy as np
import pytest

from elimipl.labels import TISSUE7
from ui.frame.palette import DARK, LIGHT
from ui.lesson.downhill import descend, probabilities, pulls, step_down
from ui.lesson.figures.beliefs import accuracy_by_ambiguity, belief_paths
from ui.lesson.figures.descent import descent_figure
from ui.lesson.figures.digits import digit_row
from ui.lesson.figures.label_matrices import CANDIDATE, MEANINGS, TRUE, label_matrices, label_parts, label_strip
from ui.lesson.figures.loss_arrows import loss_arrows
from ui.lesson.recorded import recorded_runs
from ui.lesson.steps.sparsity import INHIBITION, STARTS, STEPS, starting_probabilities

CANDIDATES = np.array([True, True, False, False, True, False, True])
TRUE_INDEX = 4


def cells(figure, column: int) -> np.ndarray:
    return np.array([trace for trace in figure.data if trace.type == "heatmap"][column].customdata)


@pytest.fixture
def bags():
    rng = np.random.default_rng(3)
    true = rng.integers(0, 7, 6)
    candidates = rng.random((6, 7)) < 0.4
    candidates[np.arange(6), true] = True
    return true, candidates


def test_figure_one_adds_up(bags):
    figure = label_matrices(*bags, TISSUE7.names, [f"row {i}" for i in range(6)], LIGHT)
    whole, false_positive, true, outside = (cells(figure, column) for column in range(4))
    np.testing.assert_array_equal(whole, np.ones((6, 7)))
    np.testing.assert_array_equal(false_positive + true + outside, whole)
    np.testing.assert_array_equal(true.sum(axis=1), 1)
    np.testing.assert_array_equal(true.argmax(axis=1), bags[0])


def test_a_machine_sees_only_candidates_and_the_rest(bags):
    figure = label_matrices(*bags, TISSUE7.names, [f"row {i}" for i in range(6)], LIGHT, as_machine=True)
    whole, candidates, outside = (cells(figure, column) for column in range(3))
    np.testing.assert_array_equal(candidates + outside, whole)
    np.testing.assert_array_equal(candidates.astype(bool), bags[1])
    assert MEANINGS[TRUE] not in figure.to_json()


def test_every_cell_is_in_exactly_one_part(bags):
    assert set(np.unique(sum(label_parts(*bags)))) == {1}


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_hidden_strip_does_not_give_the_truth_away(palette):
    hidden = label_strip(TRUE_INDEX, CANDIDATES, TISSUE7.names, palette, hidden=True)
    other = label_strip(0, CANDIDATES, TISSUE7.names, palette, hidden=True)
    assert hidden.to_json() == other.to_json()
    codes = np.array(hidden.data[0].z)[0]
    np.testing.assert_array_equal(codes == CANDIDATE, CANDIDATES)


def numerical(energies, loss, weights, mu, gamma, sparsity):
    step = 1e-6
    gradient = np.empty_like(energies)
    for i in range(len(energies)):
        shifted = [energies + sign * step * np.eye(len(energies))[i] for sign in (1, -1)]
        high, low = (pulls(e, CANDIDATES, weights, mu, gamma, sparsity)[loss].value for e in shifted)
        gradient[i] = (high - low) / (2 * step)
    return gradient


@pytest.mark.parametrize("loss", ["mapping", "sparsity", "inhibition", "total"])
@pytest.mark.parametrize("sparsity", ["l1", "entropy"])
def test_arrows_follow_the_true_gradient(loss, sparsity):
    energies = np.random.default_rng(1).normal(size=7)
    weights = CANDIDATES / CANDIDATES.sum()
    pull = pulls(energies, CANDIDATES, weights, 0.7, 1.3, sparsity)[loss]
    np.testing.assert_allclose(pull.gradient, numerical(energies, loss, weights, 0.7, 1.3, sparsity), atol=1e-7)
    assert pulls(step_down(energies, pull, 0.1), CANDIDATES, weights, 0.7, 1.3, sparsity)[loss].value < pull.value


def test_arrows_point_from_before_to_after():
    before = probabilities(np.zeros(7))
    after = probabilities(np.array([1.0, 0, 0, 0, 0, 0, 0]))
    figure = loss_arrows(before, after, TISSUE7, CANDIDATES, TRUE_INDEX, LIGHT)
    arrows = {note.y: note for note in figure.layout.annotations if note.showarrow}
    assert arrows["DEB"].x > arrows["DEB"].ax
    assert arrows["LYM"].x < arrows["LYM"].ax


@pytest.mark.parametrize("start", STARTS)
def test_l1_never_favours_a_candidate_and_only_pushes_mass_out(start):
    first = starting_probabilities(CANDIDATES, start)
    path = descend(first, CANDIDATES, "l1", 0.0, STEPS)
    np.testing.assert_allclose(path.sum(axis=1), 1)
    shares = path[:, CANDIDATES] / path[:, CANDIDATES].sum(axis=1, keepdims=True)
    assert (np.diff(shares.max(axis=1)) <= 1e-12).all()
    assert path[-1, CANDIDATES].sum() < 0.2 < path[0, CANDIDATES].sum()


@pytest.mark.parametrize("gamma", [0.0, INHIBITION])
def test_entropy_lets_the_leader_win_but_has_no_direction_when_all_are_level(gamma):
    for start, winner in (("ahead", True), ("equal", False)):
        path = descend(starting_probabilities(CANDIDATES, start), CANDIDATES, "entropy", gamma, STEPS)
        share = path[-1, CANDIDATES].max() / path[-1, CANDIDATES].sum()
        assert share > 0.95 if winner else share == pytest.approx(1 / CANDIDATES.sum())


def test_descent_figure_shows_the_path_up_to_the_step():
    path = descend(starting_probabilities(CANDIDATES, "ahead"), CANDIDATES, "entropy", 0.0, 10)
    figure = descent_figure(path, 4, TISSUE7, CANDIDATES, LIGHT)
    assert len(figure.data) == CANDIDATES.sum() + 1
    np.testing.assert_allclose(sum(np.array(trace.y) for trace in figure.data), 1)
    assert all(len(trace.x) == 5 for trace in figure.data)


def test_recorded_attention_and_beliefs_are_distributions():
    runs = recorded_runs()
    for run in (runs.digits, *runs.phantoms.values()):
        assert run.epochs[0] == 0
        assert np.isfinite(run.held_out_accuracy).all()
        for bag in run.bags:
            np.testing.assert_allclose(np.sum(bag.attention, axis=1), 1, atol=5e-3)
            np.testing.assert_allclose(np.sum(bag.probabilities, axis=1), 1, atol=5e-3)
            assert sum(bag.truth) > 0
    for bag in runs.weights.bags:
        weights, candidates = np.array(bag.weights), np.array(bag.candidates, dtype=bool)
        np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-3)
        assert (weights[:, ~candidates] == 0).all()
        np.testing.assert_allclose(weights[0, candidates], 1 / candidates.sum(), atol=1e-4)
        assert candidates[bag.true]


def test_recordings_say_what_they_were_made_of_and_are_small():
    from ui.lesson.recorded import RECORDED_FILE

    runs = recorded_runs()
    for part in (runs.digits, runs.weights, runs.accuracy_by_r, *runs.phantoms.values()):
        for word in ("training and", "held-out", "seed", "epochs"):
            assert word in part.about
    assert RECORDED_FILE.stat().st_size < 300_000


def test_belief_and_accuracy_curves_are_finite():
    runs = recorded_runs()
    bag = runs.weights.bags[0]
    paths = belief_paths(
        np.array(bag.weights), 20, runs.weights.labels, np.array(bag.candidates, bool), bag.true, LIGHT
    )
    curve = accuracy_by_ambiguity(runs.accuracy_by_r.r, runs.accuracy_by_r.accuracy, 0.2, LIGHT, guess=0.4, shown=True)
    for figure in (paths, curve):
        assert all(np.isfinite(np.array(trace.y, dtype=float)).all() for trace in figure.data)
    assert curve.data[-1].y == (0.4,)
    hidden = accuracy_by_ambiguity(
        runs.accuracy_by_r.r, runs.accuracy_by_r.accuracy, 0.2, LIGHT, guess=0.4, shown=False
    )
    assert all(len(trace.x) == 1 for trace in hidden.data)


def test_digits_are_framed_by_their_truth():
    bag = recorded_runs().digits.bags[0]
    truth = np.array(bag.truth, dtype=bool)
    figure = digit_row(np.array(bag.pixels), truth, bag.attention[0], LIGHT)
    frames = [shape.line.color for shape in figure.layout.shapes]
    assert frames == [LIGHT.positive if positive else LIGHT.negative for positive in truth]
