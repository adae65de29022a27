"""The lesson's figures by their numbers: matrices add up, distributions are distributions, curves are finite."""

import numpy as np
import pytest
import torch

from elimipl.candidates.labels import TISSUE7
from elimipl.model.losses import entropy_sparsity, inhibition_loss, l1_sparsity, mapping_loss
from elimipl_app.charts.figure_one import CANDIDATE, MEANINGS, TRUE, label_matrices, label_parts, label_strip
from elimipl_app.lesson.figures import CHANCE, contrast_figure, digit_row
from elimipl_app.lesson.recorded import ATTENTION_FILE, RECORDED_FILE, attention_runs, ends_wrong, recorded_runs
from elimipl_app.lesson.steps.attention import KINDS, attention_panels, contrasts, share_out
from elimipl_app.lesson.steps.losses import (
    DESCENT_STARTS,
    DESCENT_STEPS,
    INHIBITION,
    descend,
    gradients,
    starting_probabilities,
    walk,
)
from elimipl_app.shell.palette import DARK, LIGHT

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

    assert set(np.unique(sum(label_parts(*bags)))) == {1}


def test_signs_stand_amid_the_gaps_and_names_thin_out_where_they_would_touch(bags):
    """Plotly thins an axis of categories that gives no ticks; the cells must be placed by those, too."""
    figure = label_matrices(*bags, TISSUE7.names, [f"row {i}" for i in range(6)], LIGHT)
    domains = [figure.layout[name].domain for name in ("xaxis", "xaxis2", "xaxis3", "xaxis4")]
    signs = [note for note in figure.layout.annotations if note.text in ("<b>=</b>", "<b>+</b>")]
    for sign, before, after in zip(signs, domains[:-1], domains[1:], strict=True):
        assert sign.xanchor == "center"  # “auto” hangs it on one side
        assert sign.x == pytest.approx((before[1] + after[0]) / 2)
        assert 450 * (after[0] - before[1]) > 30  # px at 900 px with the sidebar: room for a sign
    for axis in (figure.layout.xaxis, figure.layout.xaxis4):
        assert (axis.type, axis.tickvals) == ("category", None)
        assert [axis.labelalias[str(place)] for place in figure.data[0].x] == list(TISSUE7.names)
    assert figure.layout.margin.t >= 4 * 20  # px: three lines of the legend and the names of the matrices


def test_a_machine_sees_only_candidates_and_the_rest(bags):
    figure = label_matrices(*bags, TISSUE7.names, [f"row {i}" for i in range(6)], LIGHT, as_machine=True)
    whole, candidates, outside = (cells(figure, column) for column in range(3))
    np.testing.assert_array_equal(candidates + outside, whole)
    np.testing.assert_array_equal(candidates.astype(bool), bags[1])
    assert MEANINGS[TRUE] not in figure.to_json()


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_hidden_strip_does_not_give_the_truth_away(palette):
    hidden = label_strip(TRUE_INDEX, CANDIDATES, TISSUE7.names, palette, hidden=True)
    other = label_strip(0, CANDIDATES, TISSUE7.names, palette, hidden=True)
    assert hidden.to_json() == other.to_json()
    codes = np.array(hidden.data[0].z)[0]
    np.testing.assert_array_equal(codes == CANDIDATE, CANDIDATES)


@pytest.mark.parametrize("sparsity", ["l1", "entropy"])
def test_arrows_follow_the_true_gradient(sparsity):
    energies = torch.from_numpy(np.random.default_rng(1).normal(size=(1, 7))).requires_grad_()
    s = torch.from_numpy(CANDIDATES)[None]
    w = s / s.sum()
    log_p = energies.log_softmax(1)
    sparse = l1_sparsity if sparsity == "l1" else entropy_sparsity
    values = (mapping_loss(log_p, w), sparse(log_p, s), inhibition_loss(log_p, s))
    for value, ours in zip(values, gradients(energies.detach(), s, w, sparsity), strict=True):
        (expected,) = torch.autograd.grad(value, energies, retain_graph=True)
        torch.testing.assert_close(ours, expected)


def test_walks_go_downhill_with_every_pair_of_factors_up_to_the_papers_ten():
    start = np.random.default_rng(2).normal(size=7)
    factors = [(1.0, mu, gamma) for mu in (0.0, 10.0) for gamma in (0.0, 10.0)]
    walks = walk(start, CANDIDATES, factors, "entropy", 30)
    assert walks.probabilities.shape == (4, 31, 7)
    np.testing.assert_allclose(walks.probabilities.sum(axis=2), 1)
    np.testing.assert_allclose(walks.ahead.sum(axis=2), 1)
    totals = (walks.losses * np.array(factors)[:, None]).sum(axis=2)
    assert (totals[:, -1] < totals[:, 0]).all()
    alone = walk(start, CANDIDATES, factors[3:], "entropy", 30)
    np.testing.assert_allclose(alone.probabilities[0], walks.probabilities[3])


@pytest.mark.parametrize("start", DESCENT_STARTS)
def test_l1_never_favours_a_candidate_and_only_pushes_mass_out(start):
    first = starting_probabilities(CANDIDATES, start)
    path = descend(first, CANDIDATES, "l1", 0.0, DESCENT_STEPS)
    np.testing.assert_allclose(path.sum(axis=1), 1)
    shares = path[:, CANDIDATES] / path[:, CANDIDATES].sum(axis=1, keepdims=True)
    assert (np.diff(shares.max(axis=1)) <= 1e-12).all()
    assert path[-1, CANDIDATES].sum() < 0.2 < path[0, CANDIDATES].sum()


@pytest.mark.parametrize("gamma", [0.0, INHIBITION])
def test_entropy_lets_the_leader_win_but_has_no_direction_when_all_are_level(gamma):
    for start, winner in (("ahead", True), ("equal", False)):
        path = descend(starting_probabilities(CANDIDATES, start), CANDIDATES, "entropy", gamma, DESCENT_STEPS)
        share = path[-1, CANDIDATES].max() / path[-1, CANDIDATES].sum()
        assert share > 0.95 if winner else share == pytest.approx(1 / CANDIDATES.sum())


def test_l1_levels_the_candidates():
    path = descend(starting_probabilities(CANDIDATES, "ahead"), CANDIDATES, "l1", 0.0, DESCENT_STEPS)
    first, last = (np.ptp(p[CANDIDATES] / p[CANDIDATES].sum()) for p in (path[0], path[-1]))
    assert last < 0.5 * first


def test_beliefs_are_distributions_and_one_bag_ends_wrong():
    runs = recorded_runs()
    for bag in runs.weights.bags:
        weights, candidates = np.array(bag.weights), np.array(bag.candidates, dtype=bool)
        np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-3)
        assert (weights[:, ~candidates] == 0).all()
        np.testing.assert_allclose(weights[0, candidates], 1 / candidates.sum(), atol=1e-4)
        assert candidates[bag.true]
    assert [ends_wrong(bag) for bag in runs.weights.bags].count(True) == 1


def test_recorded_attention_is_shared_out_as_eq_3_says():
    runs = attention_runs()
    run, inside = runs.watched["tissue"], runs.anatomy["elimipl"]
    for number, bag in enumerate(run.bags):
        xi = np.array(inside.xi[number])
        gates = np.array(inside.tanh[number]) * np.array(inside.sigmoid[number])
        np.testing.assert_allclose(gates @ np.array(inside.w), xi, atol=5e-3)  # eq. 2
        np.testing.assert_allclose(
            share_out(xi, "scaled", inside.l), run.models["composed"].attention[-1][number], atol=5e-4
        )
        assert 0 < sum(bag.truth) < len(bag.truth)
    for model in run.models.values():
        for stage in model.attention:
            for attention in stage:
                assert sum(attention) == pytest.approx(1, abs=5e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_shares_sum_to_one_and_rise_with_the_score(kind):
    xi = np.array([-3.0, 0.0, 2.0, 50.0])
    shares = share_out(xi, kind, 16)
    assert shares.sum() == pytest.approx(1)
    assert (np.diff(shares) >= 0).all()
    spread = shares[3] / shares[2]
    assert spread < 1.2 if kind == "sigmoid" else spread > 1000


def test_the_even_share_is_drawn_and_both_models_are_side_by_side():
    run = attention_runs().watched["tissue"]
    plain, composed, *words = attention_panels(run, 0, "epoch", LIGHT)
    assert plain.line == composed.line == pytest.approx(1 / 36)
    assert len(plain.values) == len(run.epochs) == len(words[0].lines)
    assert "plain" in plain.title
    assert "AUROC" in words[0].lines[0]
    hidden = attention_panels(run, 0, "epoch", LIGHT, revealed=False)[2:]
    assert not any("AUROC" in line for panel in hidden for line in panel.lines)


def test_the_contrast_covers_every_cut_and_all_held_out_bags():
    runs = attention_runs()
    rows = contrasts(runs)
    assert len(rows) == 6
    for row in rows.values():
        assert row.bags >= 500
        for model in (row.plain, row.composed):
            assert len(model.auroc) == len(model.accuracy) == 5
            assert model.deciles[0] <= np.mean(model.auroc) <= model.deciles[-1]
    figure = contrast_figure(rows, {"plain": "plain", "composed": "composed"}, DARK)
    numbered = [trace for trace in figure.data if trace.mode == "markers+text"]
    assert len(numbered) == 2
    for trace in numbered:  # on a phone the line of chance ran through the numbers
        for auroc, position in zip(trace.x, trace.textposition, strict=True):
            assert abs(auroc - CHANCE) >= 0.1 or position.endswith("left" if auroc < CHANCE else "right")


def test_recordings_say_what_they_were_made_of_and_are_small():
    runs, attention = recorded_runs(), attention_runs()
    for about in (runs.weights.about, runs.accuracy_by_r.about, attention.about, attention.about_digits):
        for word in ("held-out", "seed", "epochs"):
            assert word in about
    assert RECORDED_FILE.stat().st_size + ATTENTION_FILE.stat().st_size < 500_000


def test_digits_are_framed_by_their_truth():
    bag = attention_runs().watched["digits"].bags[0]
    truth = np.array(bag.truth, dtype=bool)
    figure = digit_row(np.array(bag.pixels), truth, LIGHT)
    frames = [shape.line.color for shape in figure.layout.shapes]
    assert frames == [LIGHT.positive if positive else LIGHT.negative for positive in truth]
