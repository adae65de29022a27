"""Picture, map and click targets lie on each other to the pixel."""

import base64
import io
from itertools import pairwise

import numpy as np
import plotly.graph_objects as go
import pytest
from PIL import Image

from bag_generators import GENERATORS, TissueImage, generate
from bag_generators.tissue import phantom
from elimipl_app.charts.tissue import add_click_targets, add_outlines, display_copy, picture_figure
from elimipl_app.explore.maps import share_layer
from elimipl_app.shell.palette import LIGHT

TILE = TissueImage.from_array(phantom.draw("NORM", seed=3).pixels)
WIDE = TissueImage.from_array(np.ascontiguousarray(TILE.pixels[:151]))


@pytest.mark.parametrize("image", [TILE, WIDE], ids=["square", "wide"])
@pytest.mark.parametrize("generator", list(GENERATORS))
def test_picture_cells_and_click_targets_agree_with_the_regions_pixel_by_pixel(image, generator):
    bag = generate(generator, image)
    scores = np.linspace(0.1, 1, len(bag.features))
    figure = picture_figure(image)
    share_layer(bag, scores, "Attention", "Teal").add_to(figure, 0.6)
    add_click_targets(figure, bag, scores, LIGHT, "Attention")
    picture, (heatmap, targets) = figure.layout.images[0], figure.data
    assert (picture.x, picture.y, picture.sizex, picture.sizey) == (0, 0, image.width, image.height)
    assert tuple(figure.layout.xaxis.range) == (0, image.width)
    assert tuple(figure.layout.yaxis.range) == (image.height, 0)
    assert figure.layout.yaxis.scaleanchor == "x"
    x, y, z = np.asarray(heatmap.x), np.asarray(heatmap.y), np.asarray(heatmap.z)
    assert z.shape == (len(y) - 1, len(x) - 1)
    drawn = np.full((image.height, image.width), np.nan)
    for row, (top, bottom) in enumerate(pairwise(y)):
        for column, (left, right) in enumerate(pairwise(x)):
            drawn[int(top) : int(bottom), int(left) : int(right)] = z[row, column]
    np.testing.assert_allclose(drawn, bag.regions.paint(scores), atol=1e-7)
    for x, y, index in zip(targets.x, targets.y, targets.customdata, strict=True):
        assert bag.regions.at(x, y) == index
    if generator != "sbn":  # the central half only
        assert set(targets.customdata) == set(range(len(bag.features)))


def test_outlines_are_the_regions_outlines():
    bag = generate("sbn", TILE)
    figure = go.Figure()
    add_outlines(figure, bag, LIGHT)
    first = bag.regions.outline(0)[0]
    drawn = np.array(list(zip(figure.data[0].x[:4], figure.data[0].y[:4], strict=True)))
    np.testing.assert_allclose(drawn, first)


def test_display_copy_is_bounded_and_upright():
    large = TissueImage.from_array(np.tile(TILE.pixels, (10, 6, 1)))
    shown = Image.open(io.BytesIO(base64.b64decode(display_copy(large).partition(",")[2])))
    assert max(shown.size) == 1024
    assert shown.size[0] / shown.size[1] == pytest.approx(large.width / large.height, rel=0.01)
