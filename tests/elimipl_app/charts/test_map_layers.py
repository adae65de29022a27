"""Maps are painted alike in the browser and in a file, on scales that mean the same for every picture."""

import numpy as np
import plotly.graph_objects as go
import pytest

from bag_generators import GENERATORS, TissueImage, generate
from bag_generators.tissue import phantom
from elimipl.candidates.labels import COLON, TISSUE7
from elimipl_app.charts.map_layer import (
    BELOW,
    COLOUR_PAIRS,
    EVEN,
    at,
    blended,
    class_colours,
    diverging,
    is_even,
    is_seen_on_tissue,
    rising,
)
from elimipl_app.explore.analysis import votes_of
from elimipl_app.explore.maps import attention_layer, share_layer, signed_layer, vote_layers, vote_shares

TILE = TissueImage.from_array(phantom.draw("NORM", seed=3).pixels)


def test_attention_has_one_scale_for_every_picture():
    for name in ("row", "kmeansseg"):
        bag = generate(name, TILE)
        attention = np.full(len(bag), 1 / len(bag))
        attention[0], attention[-1] = 4 * attention[0], attention[-1] / 4
        layer = attention_layer(bag, attention, "Teal")
        assert np.nanmax(layer.cells) == pytest.approx(2 / 3)  # log2(4) of log2(8)
        assert np.nanmin(layer.cells) == pytest.approx(-2 / 3)
        assert {text: position for position, text in layer.ticks}["1"] == 0
        figure = go.Figure()
        layer.add_to(figure, 0.5)
        assert (figure.data[0].zmin, figure.data[0].zmax) == (-1, 1)


@pytest.mark.parametrize("generator", list(GENERATORS))
def test_even_attention_paints_nothing(generator):
    bag = generate(generator, TILE)
    attention = np.linspace(1.0, 1.1, len(bag))
    attention /= attention.sum()
    assert is_even(attention)
    layer = attention_layer(bag, attention, "Teal")
    assert not layer.painted
    np.testing.assert_array_equal(blended(TILE.pixels, (layer,), 1.0), TILE.pixels)
    attention[0] *= EVEN**3
    assert not is_even(attention / attention.sum())


@pytest.mark.parametrize("generator", list(GENERATORS))
def test_votes_cover_what_the_patches_cover_once(generator):
    bag = generate(generator, TILE)
    single = np.random.default_rng(0).dirichlet(np.ones(7), len(bag))
    painted = sum(np.isfinite(layer.cells).astype(int) for layer in vote_layers(votes_of(bag, single), TISSUE7))
    covered = np.isfinite(bag.regions.grid(np.zeros(len(bag)))[2])
    np.testing.assert_array_equal(painted, covered)
    shares = vote_shares(votes_of(bag, single), TISSUE7)
    assert shares.sum() == pytest.approx(1)
    if generator == "row":  # eight bands, as high as each other
        np.testing.assert_allclose(shares, np.bincount(single.argmax(axis=1), minlength=7) / len(bag), atol=0.01)


@pytest.mark.parametrize("generator", list(GENERATORS))
def test_a_file_shows_the_cells_of_the_browser(generator):
    bag = generate(generator, TILE)
    scores = np.linspace(-1, 1, len(bag))
    layer = signed_layer(bag, scores, 1.0, "x", "Blue")
    painted = bag.regions.paint(scores)
    expected = at(layer.scale, (np.nan_to_num(painted) + 1) / 2)
    weight = 0.6 * expected[..., 3:] * np.isfinite(painted)[..., None]
    mixed = np.rint(TILE.pixels * (1 - weight) + expected[..., :3] * weight)
    np.testing.assert_array_equal(blended(TILE.pixels, (layer,), 0.6), mixed)
    np.testing.assert_array_equal(blended(TILE.pixels, (layer,), 0.6, slice(10, 90)), mixed[10:90])


def test_threshold_clears_the_middle_of_the_scale():
    bag = generate("row", TILE)
    scores = np.linspace(-1, 1, len(bag))
    cells = signed_layer(bag, scores, 1.0, "x", "Teal", threshold=0.5).cells
    assert np.isfinite(cells).sum() == (np.abs(scores) >= 0.5).sum()
    assert share_layer(bag, np.abs(scores), "x", "Teal", threshold=1.0).painted


@pytest.mark.parametrize("colours", COLOUR_PAIRS)
def test_scales_are_clear_in_the_middle_and_opaque_at_the_ends(colours):
    ends = at(diverging(colours), np.array([0.0, 0.5, 1.0]))
    np.testing.assert_array_equal(ends[:, 3], [BELOW, 0, 1])
    assert not np.array_equal(ends[0, :3], ends[2, :3])
    assert at(rising("#102030"), np.array([1.0])).tolist() == [[16, 32, 48, 1]]


@pytest.mark.parametrize("labels", [TISSUE7, COLON], ids=lambda labels: labels.id)
def test_classes_are_told_apart_on_pink_tissue(labels):
    colours = class_colours(labels)
    assert len(set(colours)) == len(labels)
    assert all(is_seen_on_tissue(colour) for colour in colours)
