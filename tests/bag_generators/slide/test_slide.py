"""Slides and large pictures: what is read is what is there."""

from concurrent.futures import ThreadPoolExecutor

import cv2
import numpy as np
import pytest
from PIL import Image

from bag_generators import InputError
from bag_generators.slide import open_slide
from tests.support.phantom_slide import CELL


def test_size_scale_and_levels_come_from_the_file(slide_file, phantom_slide):
    slide = open_slide(slide_file)
    assert (slide.name, slide.width, slide.height) == ("phantom.tif", 1120, 896)
    assert slide.microns_per_pixel == pytest.approx(0.5)
    assert [level[2] for level in slide.facts.levels] == pytest.approx([1, 4, 16])
    assert slide.notes == ()


def test_a_region_is_what_is_there_a_coarser_one_its_mean_and_beyond_the_edge_is_white(slide_file, phantom_slide):
    slide = open_slide(slide_file)
    drawn = phantom_slide.cells()
    found = slide.region(CELL, CELL, CELL, 0.5)
    assert found.shape == (CELL, CELL, 3)
    assert found.dtype == np.uint8
    assert np.array_equal(found, drawn["TUM", 2])
    shifted = slide.region(CELL + 17, CELL + 5, 64, 0.5)
    assert np.array_equal(shifted, drawn["TUM", 2][5:69, 17:81])
    mean = cv2.resize(drawn["TUM", 2], (56, 56), interpolation=cv2.INTER_AREA)
    assert np.abs(slide.region(CELL, CELL, 56, 2.0).astype(int) - mean).max() <= 1
    assert (slide.region(slide.width - 10, -30, 40, 0.5)[:, 10:] == 255).all()
    assert (slide.region(-30, -30, 40, 0.5)[:30] == 255).all()


def test_a_thumbnail_shows_the_whole_slide_and_is_read_once(slide_file):
    slide = open_slide(slide_file)
    small = slide.thumbnail(280)
    assert small.shape == (224, 280, 3)
    assert small[10, 10].min() > 235
    assert small[80, 80].mean() < 225
    assert open_slide(slide_file).thumbnail(280) is small
    assert slide.thumbnail(5000).shape == (896, 1120, 3)  # never enlarged


def test_only_tiles_with_tissue_count(slide_file):
    slide = open_slide(slide_file)
    grid = slide.tissue(CELL, 0.5)
    assert grid.is_tissue.size == 20
    assert np.argwhere(grid.is_tissue).tolist() == [[r, c] for r in (1, 2) for c in (1, 2, 3)]
    assert grid.corner(2, 3) == (CELL * 3, CELL * 2)
    assert slide.region(*grid.corner(2, 3), CELL, 0.5).shape == (CELL, CELL, 3)


def test_tiles_at_the_far_edges_lie_inside(tmp_path, phantom_slide):
    phantom_slide.write(tmp_path / "cut.tif", crop=(800, 600))
    grid = open_slide(tmp_path / "cut.tif").tissue(CELL, 0.5)
    assert grid.is_tissue.shape == (3, 4)
    assert grid.corner(2, 3) == (800 - CELL, 600 - CELL)


@pytest.mark.parametrize("name", ["picture.png", "picture.jpg", "picture.tif"])
def test_plain_pictures_are_slides_too(tmp_path, name):
    rng = np.random.default_rng(0)
    pixels = cv2.resize(rng.integers(0, 255, (150, 200, 3), dtype=np.uint8), (2000, 1500))
    Image.fromarray(pixels).save(tmp_path / name, quality=98)
    slide = open_slide(tmp_path / name)
    assert (slide.width, slide.height, slide.microns_per_pixel) == (2000, 1500, None)
    assert [level[2] for level in slide.facts.levels] == [1, 2]
    found = slide.with_scale(0.5).region(100, 200, 300, 0.5)
    assert np.abs(found.astype(int) - pixels[200:500, 100:400]).mean() < 3
    assert (slide.pixels(1990, 0, 20, 20, (20, 20))[:, 10:] == 255).all()
    with pytest.raises(InputError, match="does not say how large its pixels are"):
        slide.region(0, 0, 224, 0.5)


def test_a_plain_picture_may_state_its_scale(tmp_path):
    picture = Image.fromarray(np.full((300, 300, 3), 200, np.uint8))
    picture.save(tmp_path / "picture.png", dpi=(50_800, 50_800))
    assert open_slide(tmp_path / "picture.png").microns_per_pixel == pytest.approx(0.5, rel=1e-3)


def test_many_threads_may_read_at_once(slide_file):
    slide = open_slide(slide_file)
    alone = [slide.region(x, x, 100, 0.5) for x in range(0, 500, 50)]
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(lambda x: slide.region(x, x, 100, 0.5), range(0, 500, 50)))
    assert all(np.array_equal(one, other) for one, other in zip(alone, together, strict=True))


def test_the_real_slide_is_read(real_slide):
    slide = open_slide(real_slide)
    assert slide.microns_per_pixel is not None
    assert 0.1 < slide.microns_per_pixel < 1
    grid = slide.tissue(CELL, 0.5)
    assert 0 < grid.is_tissue.sum() < grid.state.size
    assert slide.region(slide.width // 2, slide.height // 2, CELL, 0.5).std() > 5
