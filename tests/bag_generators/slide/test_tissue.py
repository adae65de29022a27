"""Which tiles count as tissue: glass, pen, folds and blur are left out, real tissue is not."""

import cv2
import numpy as np
import pytest

from bag_generators import load
from bag_generators.slide.tissue import BACKGROUND, FOLD, PEN, TISSUE, edges, find_tissue, is_blurred
from bag_generators.tissue.phantom import PHANTOM_KINDS, draw

STEP = 80.0  # px a tile, of pictures that serve as their own small copy


def grid_of(cells: list[list[np.ndarray]]):
    """Tiles of 80 px, each a picture or a colour."""
    picture = np.concatenate([np.concatenate([_cell(cell) for cell in row], axis=1) for row in cells])

    def overview(downsample: float) -> np.ndarray:
        size = (round(picture.shape[1] / downsample), round(picture.shape[0] / downsample))
        return cv2.resize(picture, size, interpolation=cv2.INTER_AREA)

    return find_tissue(overview, (picture.shape[1], picture.shape[0]), STEP)


def _cell(cell: np.ndarray) -> np.ndarray:
    if cell.ndim == 3:
        return cv2.resize(cell, (80, 80), interpolation=cv2.INTER_AREA)
    noise = np.random.default_rng(0).normal(0, 4, (80, 80, 3))
    return np.clip(cell + noise, 0, 255).astype(np.uint8)


GLASS, GREY_GLASS = np.array([243, 242, 245]), np.array([205, 204, 208])
PINK, DEEP_PINK = np.array([215, 150, 190]), np.array([90, 20, 70])


def test_glass_pen_and_folds_are_told_from_tissue():
    inks = [np.array(ink) for ink in ((40, 60, 150), (30, 120, 60), (35, 35, 38), (215, 40, 45))]
    grid = grid_of([[GLASS, PINK, PINK, PINK, DEEP_PINK], [GLASS, *inks]])
    assert grid.state.tolist() == [[BACKGROUND, TISSUE, TISSUE, TISSUE, FOLD], [BACKGROUND, PEN, PEN, PEN, PEN]]


def test_glass_that_is_grey_is_glass():
    grid = grid_of([[GREY_GLASS, PINK * 0.8, GREY_GLASS]])
    assert grid.state.tolist() == [[BACKGROUND, TISSUE, BACKGROUND]]


def test_every_drawn_tissue_is_tissue_and_sharp():
    drawn = {kind: draw(kind, 5, 224, 0.8).pixels for kind in PHANTOM_KINDS}
    assert (grid_of([list(drawn.values())]).state == TISSUE).all()
    assert [kind for kind, pixels in drawn.items() if is_blurred(pixels)] == []
    assert all(is_blurred(cv2.GaussianBlur(pixels, (0, 0), 2)) for pixels in drawn.values())


def test_real_tissue_is_tissue_and_sharp(shared_data):
    tiles = [load(path).pixels for path in sorted((shared_data / "tissue7" / "train").glob("*/*"))]
    assert len(tiles) > 100
    # Each among others, as on a slide: what lies twice is told by the typical tissue around it.
    states = grid_of([tiles[at : at + 16] for at in range(0, 16 * (len(tiles) // 16), 16)]).state
    assert (states == TISSUE).mean() > 0.95
    assert np.mean([is_blurred(tile) for tile in tiles]) == 0
    assert np.mean([is_blurred(cv2.GaussianBlur(tile, (0, 0), 2)) for tile in tiles]) > 0.97


@pytest.mark.parametrize("length", [1, 79, 80, 81, 160, 1000])
@pytest.mark.parametrize("step", [80.0, 33.4, 447.9])
def test_edges_cover_the_slide_without_a_gap(length, step):
    cuts = edges(length, step)
    assert cuts[0] == 0
    assert cuts[-1] == length
    assert (np.diff(cuts) > 0).all()
    assert np.diff(cuts)[:-1] == pytest.approx(step, abs=1) or len(cuts) == 2
