"""The demo slide: a pyramid that the slide reader opens, with the pixels that were drawn."""

import numpy as np
import pytest
from PIL import Image

from bag_generators.slide import open_slide
from bag_generators.slide.demo import demo_kinds, pyramid
from bag_generators.tissue.phantom import PHANTOM_KINDS


@pytest.fixture
def levels():
    """Smooth colours; sides that are no multiple of a tile."""
    rows, columns = np.mgrid[0:700, 0:1100]
    largest = np.stack([columns // 5, rows // 3, (rows + columns) // 8], axis=-1).astype(np.uint8)
    return [largest, largest[::2, ::2], largest[::4, ::4]]


def test_a_pyramid_opens_with_its_levels_scale_and_pixels(tmp_path, levels):
    path = tmp_path / "slide.tif"
    path.write_bytes(pyramid(levels, 0.25))
    slide = open_slide(path)
    assert slide.facts.levels == ((1100, 700, 1.0), (550, 350, 2.0), (275, 175, 4.0))
    assert slide.microns_per_pixel == pytest.approx(0.25)
    for x, y, by in ((0, 0, 1), (844, 444, 1), (300, 100, 2), (0, 0, 4)):
        found = slide.pixels(x, y, 200, 200, (200 // by, 200 // by))
        np.testing.assert_array_equal(found, levels[0][y : y + 200 : by, x : x + 200 : by])
    with Image.open(path) as picture:
        assert (picture.size, picture.n_frames) == ((1100, 700), 3)


def test_the_demo_shows_every_kind():
    assert set(demo_kinds().ravel()) == set(range(len(PHANTOM_KINDS)))
