"""Explore with bags of hundreds and of thousands of cells."""

import json
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest

from elimipl_app.charts.map_layer import joined
from elimipl_app.charts.tissue import MOST_LATTICE, outline_lines
from elimipl_app.explore import tabs, texts
from elimipl_app.explore.analysis import MAPS, ViewState, maps_of, votes_of
from elimipl_app.explore.exports import answer_sentences, removed_sentence
from elimipl_app.explore.map_figure import map_figure
from elimipl_app.explore.map_panel import _removed_by
from elimipl_app.explore.maps import map_scores, shares_inside, vote_layers
from elimipl_app.explore.picture_export import painted_panels
from elimipl_app.shell.palette import LIGHT
from tests.elimipl_app.explore.cell_bags import cell_analysis


@pytest.fixture(scope="module")
def tile():
    """256 cells of a 224 px tile."""
    return cell_analysis()


@pytest.fixture(scope="module")
def large():
    """2,500 cells."""
    return cell_analysis(700)


def clicked(*cells: int) -> dict:
    return {"points": [{"customdata": cell} for cell in cells]}


def drawn(x0: float, y0: float, x1: float, y1: float) -> dict:
    return {"points": [], "box": [{"x": [x0, x1], "y": [y0, y1]}]}


def removed_after(analysis, gone, selection):
    with patch("elimipl_app.explore.map_panel.removed_patches", return_value=tuple(gone)):
        cells = {point["customdata"] for point in selection["points"]}
        return _removed_by(analysis, selection, cells)


def test_a_click_removes_a_block_of_56_px_and_puts_it_back(tile):
    block = removed_after(tile, (), clicked(0))
    assert block == {row * 16 + column for row in range(4) for column in range(4)}
    assert removed_after(tile, block, clicked(18)) == set()
    assert removed_after(tile, {0}, clicked(1)) == block  # what is left of a block goes first


def test_a_drawn_shape_removes_the_cells_that_lie_in_it(tile):
    assert removed_after(tile, (), drawn(0, 0, 28, 14)) == {0, 1}
    assert removed_after(tile, {5}, drawn(0, 0, 18, 18)) == {0, 5}  # less than half of the others
    assert removed_after(tile, {5}, drawn(300, 300, 320, 320)) is None
    mask = np.random.default_rng(0).random((224, 224)) < 0.4
    expected = [mask[tile.bag.regions.mask(cell)].mean() for cell in range(256)]
    np.testing.assert_allclose(shares_inside(tile.bag, mask), expected)


def test_listed_blocks_keep_what_was_drawn_of_them(tile):
    state = {"listed": [0, 2]}
    with (
        patch.object(tabs, "st", SimpleNamespace(session_state=state)),
        patch.object(tabs, "set_removed") as told,
    ):
        tabs._remove_listed("listed", "bag", tile.blocks, (0, 1))
        gone = told.call_args.args[1]
        assert {0, 1} <= gone
        assert 2 not in gone
        assert set(tile.blocks[sorted(gone - {0, 1})].tolist()) == {2}
        assert len(gone) == 18
        state["listed"] = list(range(16))
        tabs._remove_listed("listed", "bag", tile.blocks, tuple(range(256)))
        assert told.call_args.args[1] == ()


def test_it_is_said_that_neighbours_have_seen_what_was_removed(tile):
    assert texts.NEIGHBOURS_SAW in texts.removed_sentence((0, 1), tile.blocks)
    assert texts.NEIGHBOURS_SAW in removed_sentence(tile, ViewState(removed=(0, 1)))
    assert texts.NEIGHBOURS_SAW not in texts.removed_sentence((0, 1), np.arange(9))
    assert "1 of 16 blocks (0)" in texts.flip_sentence((0, 1, 2), tile.blocks)
    assert "2 of 9 patches (0, 1)" in texts.flip_sentence((0, 1), np.arange(9))


def test_what_stays_is_judged_by_itself(tile):
    prediction, answer = tile.answer_without(range(128))
    assert len(prediction.attention) == 128
    assert answer.probability == prediction.probability != tile.prediction.probability
    assert tile.answer_without(())[0] is tile.prediction


def test_every_cell_answers_a_click_and_no_more_points_are_sent_than_a_screen_shows(tile, large):
    for analysis in (tile, large):
        figure = map_figure(analysis, ViewState(), analysis.prediction.attention, LIGHT)
        (points,) = [trace for trace in figure.data if trace.name == "instances"]
        assert len(points.x) == min(len(analysis.bag), len(points.x)) <= MOST_LATTICE**2
        for x, y, cell in list(zip(points.x, points.y, points.customdata, strict=True))[::37]:
            assert analysis.bag.regions.at(x, y) == cell
    figure = map_figure(tile, ViewState(), tile.prediction.attention, LIGHT)
    assert [len(trace.x) for trace in figure.data if trace.name == "instances"] == [256]


@pytest.mark.parametrize("kind", MAPS)
def test_maps_of_cells_are_grids_not_shapes(tile, large, kind):
    sizes = []
    for analysis in (tile, large):
        if kind not in ("leave_one_out", "integrated_gradients") or analysis is tile:
            view = ViewState(kind=kind, class_index=analysis.prediction.index, outlined=True, removed=(0, 1, 2))
            figure = map_figure(analysis, view, map_scores(analysis, view), LIGHT)
            shown = json.loads(figure.to_json())
            sizes.append(len(shown["layout"].get("shapes", ())))
            assert len(shown["data"]) < 30
    assert len(set(sizes)) == 1
    assert len(outline_lines(tile.bag)) == 2 * 17
    assert maps_of(tile) == MAPS
    assert "integrated_gradients" not in maps_of(SimpleNamespace(bag=range(10_000)))  # they would take minutes


def test_votes_of_twelve_classes_are_sent_as_one_grid(tile):
    single = tile.every_score("single")
    votes = votes_of(tile.bag, single)
    layers = vote_layers(votes, tile.labels)
    together = joined(layers)
    np.testing.assert_array_equal(np.floor(together.cells * 12).astype(int), votes.winner)
    painted = together.rgba((224, 224))
    for index, layer in enumerate(layers):
        own = layer.rgba((224, 224))
        where = own[..., 3] > 0
        np.testing.assert_allclose(painted[where], own[where], atol=1, err_msg=str(index))


def test_removed_cells_are_veiled_on_the_page_and_in_the_file(tile):
    removed = tuple(range(16))
    figure = map_figure(tile, ViewState(removed=removed), tile.prediction.attention, LIGHT)
    veil = [trace for trace in figure.data if trace.name == "heatmap"][-1]
    assert np.isfinite(np.asarray(veil.z, dtype=float)).sum() == 16
    crosses = [trace for trace in figure.data if trace.name == "removed"]
    assert [len(trace.x) for trace in crosses] == [4, 4]  # one per block
    (_, plain), (_, gone) = (painted_panels(tile, ViewState(hidden=True, removed=one))[0] for one in ((), removed))
    assert (plain[:14] != gone[:14]).mean() > 0.9
    np.testing.assert_array_equal(plain[20:], gone[20:])


@pytest.mark.parametrize(
    ("chance", "declined", "trusted"), [(0.95, False, True), (0.7, False, False), (0.3, True, False)]
)
def test_the_chance_of_being_right_stands_where_the_only_possible_label_stood(chance, declined, trusted):
    analysis = cell_analysis(chance=chance)
    answer = analysis.answer_without(())[1]
    assert answer.declined is declined
    assert all(one.passed for one in answer.checks) is trusted
    said = " ".join(answer_sentences(analysis, ViewState()))
    assert f"bout {100 * chance:.0f} of 100 " in said
    assert "no other label is possible" not in said
