"""Regions: paint, at, mask, outline, box and crop must tell the same story about every pixel."""

import subprocess
import sys

import numpy as np
import pytest
import shapely
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bag_generators import TissueImage
from bag_generators.regions import BoxRegions, LabelRegions, Regions, edges, isolines, trace
from tests.bag_generators.references.pictures import picture

SIDES = st.integers(1, 24)
patient = settings(deadline=None)


@st.composite
def box_regions(draw: st.DrawFn) -> BoxRegions:
    height, width = draw(SIDES), draw(SIDES)
    boxes = []
    for _ in range(draw(st.integers(1, 5))):
        x0, y0 = draw(st.integers(0, width - 1)), draw(st.integers(0, height - 1))
        boxes.append((x0, y0, draw(st.integers(x0 + 1, width)), draw(st.integers(y0 + 1, height))))
    return BoxRegions(boxes, (height, width))


@st.composite
def label_regions(draw: st.DrawFn) -> LabelRegions:
    cells = draw(arrays(np.int8, st.tuples(st.integers(1, 7), st.integers(1, 7)), elements=st.integers(-1, 3)))
    used = np.unique(cells[cells >= 0])
    assume(len(used) > 0)
    relabelled = np.where(cells >= 0, np.searchsorted(used, cells), -1)
    rows, columns = cells.shape
    return LabelRegions(relabelled, (draw(st.integers(rows, 24)), draw(st.integers(columns, 24))))


REGIONS = st.one_of(box_regions(), label_regions())


def filled(polygons: list[np.ndarray], shape: tuple[int, int]) -> np.ndarray:
    """Which pixel centres lie inside the polygons by the even-odd rule, crossing by crossing."""
    inside = np.zeros(shape, dtype=bool)
    for y, x in np.ndindex(shape):
        for polygon in polygons:
            for (ax, ay), (bx, by) in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
                if (ay > y + 0.5) != (by > y + 0.5) and x + 0.5 < ax + (y + 0.5 - ay) / (by - ay) * (bx - ax):
                    inside[y, x] ^= True
    return inside


@patient
@given(REGIONS)
def test_outline_box_centre_and_what_lies_under_a_pixel_are_those_of_the_masks(regions: Regions) -> None:
    y, x = np.indices(regions.shape).reshape(2, -1)
    under = regions.under(x, y)
    for i in range(len(regions)):
        mask = regions.mask(i)
        rows, columns = np.nonzero(mask)
        assert (under[:, i] == mask.ravel()).all()
        assert (filled(regions.outline(i), regions.shape) == mask).all()
        assert regions.box(i) == (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
        assert regions.centre(i) == pytest.approx((columns.mean() + 0.5, rows.mean() + 0.5))
    for outside in ((-0.1, 0), (0, -1), (1000, 0), (0, 1000), (24, 24)):
        assert regions.at(*outside) is None


@patient
@given(REGIONS, arrays(np.float64, 5, elements=st.floats(-5, 5)))
def test_paint_is_the_mean_score_of_the_masks(regions: Regions, five: np.ndarray) -> None:
    scores = five[: len(regions)]
    masks = np.array([regions.mask(i) for i in range(len(regions))])
    painted = regions.paint(scores)
    assert painted.shape == regions.shape
    assert painted.dtype == np.float64
    for pixel in np.ndindex(regions.shape):
        covering = scores[masks[(slice(None), *pixel)]]
        if len(covering):
            assert painted[pixel] == pytest.approx(covering.mean(), abs=1e-12)
        else:
            assert np.isnan(painted[pixel])


@patient
@given(REGIONS, SIDES, SIDES)
def test_paint_at_another_size_takes_the_pixel_under_each_centre(regions: Regions, height: int, width: int) -> None:
    scores = np.arange(len(regions))
    full, other = regions.paint(scores), regions.paint(scores, (height, width))
    assert other.shape == (height, width)
    for y, x in np.ndindex(other.shape):
        expected = full[int((y + 0.5) * full.shape[0] / height), int((x + 0.5) * full.shape[1] / width)]
        assert np.array_equal(other[y, x], expected, equal_nan=True)


@patient
@given(REGIONS)
def test_grid_is_the_painted_map_in_fewer_cells(regions: Regions) -> None:
    scores = np.arange(len(regions))
    x_edges, y_edges, values = regions.grid(scores)
    painted = np.full(regions.shape, np.nan)
    for row, column in np.ndindex(values.shape):
        y, x = slice(y_edges[row], y_edges[row + 1]), slice(x_edges[column], x_edges[column + 1])
        painted[y, x] = values[row, column]
    assert np.array_equal(painted, regions.paint(scores), equal_nan=True)


@patient
@given(REGIONS)
def test_at_names_a_region_that_covers_the_pixel_and_the_nearest_centre_of_those(regions: Regions) -> None:
    masks = [regions.mask(i) for i in range(len(regions))]
    for y, x in np.ndindex(regions.shape):
        covering = [i for i, mask in enumerate(masks) if mask[y, x]]
        found = regions.at(x, y)
        assert found == regions.at(x + 0.9, y + 0.9)
        if not covering:
            assert found is None
            continue
        assert found in covering
        distances = {i: np.hypot(regions.centre(i)[0] - x - 0.5, regions.centre(i)[1] - y - 0.5) for i in covering}
        if len(covering) > 1:
            assert distances[found] == pytest.approx(min(distances.values()))


@patient
@given(st.integers(1, 60), st.integers(1, 500))
def test_edges_are_the_nearest_pixels_and_mirror(parts: int, length: int) -> None:
    cuts = edges(parts, length)
    assert cuts[0] == 0
    assert cuts[-1] == length
    assert np.abs(cuts - np.arange(parts + 1) * length / parts).max() <= 0.5 + 1e-9
    unmirrored = np.flatnonzero(cuts != (length - cuts)[::-1])
    assert set(unmirrored) <= ({parts // 2} if parts % 2 == 0 and length % 2 == 1 else set())


def cells_of(*rows: str) -> np.ndarray:
    return np.array([[cell == "#" for cell in row] for row in rows])


def from_the_smallest(ring: np.ndarray) -> tuple[tuple[float, float], ...]:
    """A ring from its smallest corner on and clockwise on the screen."""
    corners = [tuple(map(float, corner)) for corner in (ring if shapely.LinearRing(ring).is_ccw else ring[::-1])]
    first = corners.index(min(corners))
    return (*corners[first:], *corners[:first])


@patient
@given(arrays(bool, st.tuples(st.integers(1, 9), st.integers(1, 9))))
@example(cells_of("####", "#.##", "##.#", "####"))  # two holes that touch at a corner
@example(cells_of("###", "#.#", "##."))  # a hole that touches the outer ring
@example(cells_of(".##.", "#..#", "#..#", ".##."))
@example(cells_of(".##", "#.#", ".##"))  # a cell that touches the others at corners only
def test_the_rings_are_those_of_shapely_and_none_touches_itself(mask: np.ndarray) -> None:
    assume(mask.any())
    rings, (rows, columns) = trace(mask), np.nonzero(mask)
    union = shapely.union_all(shapely.box(columns, rows, columns + 1, rows + 1)).simplify(0)
    parts = union.geoms if union.geom_type == "MultiPolygon" else [union]
    theirs = [np.array(ring.coords[:-1]) for part in parts for ring in (part.exterior, *part.interiors)]
    assert sorted(map(from_the_smallest, rings)) == sorted(map(from_the_smallest, theirs))
    assert all(len(np.unique(ring, axis=0)) == len(ring) for ring in rings)
    # Holes run the other way and subtract.
    assert sum((x * np.roll(y, -1) - y * np.roll(x, -1)).sum() / 2 for x, y in (r.T for r in rings)) == mask.sum()


def test_a_crop_is_that_part_of_the_picture_and_what_is_not_of_its_label_is_faded() -> None:
    image = picture("noise", height=80, width=100)
    regions = BoxRegions([(10, 20, 40, 70)], (80, 100))
    assert (regions.crop(image, 0) == image.pixels[20:70, 10:40]).all()
    image = TissueImage.from_array(np.full((80, 80, 3), 100, np.uint8))
    cells = np.ones((8, 8), dtype=int)
    cells[2, 3] = cells[4, 5] = 0
    crop = LabelRegions(cells, (80, 80)).crop(image, 0)
    assert crop.shape == (30, 30, 3)
    assert (crop[:10, :10] == 100).all()
    assert (crop[10:20] == 216).all()


def test_what_does_not_fit_the_regions_is_refused() -> None:
    boxes, cells = BoxRegions([(0, 0, 1, 1)], (4, 4)), LabelRegions(np.zeros((2, 2), int), (4, 4))
    for regions in (boxes, cells):
        with pytest.raises(ValueError, match=r"a \(4, 4\) picture"):
            regions.crop(picture("noise"), 0)
        with pytest.raises(ValueError, match="1 regions"):
            regions.paint([1.0, 2.0])
        for i in (-1, 1):
            with pytest.raises(IndexError, match="the bag has 1"):
                regions.box(i)
    with pytest.raises(ValueError, match=r"\(8, 8\) cells are finer than a picture of \(7, 20\)"):
        LabelRegions(np.zeros((8, 8), int), (7, 20))


EDGES = np.array([0, 10, 20, 30])


def test_a_line_runs_around_what_is_high():
    values = np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0.0]])
    (line,) = isolines(EDGES, EDGES, values, 0.5)
    np.testing.assert_array_equal(line[0], line[-1])
    np.testing.assert_allclose(np.abs(line - 15).sum(axis=1), 5)  # half the way to the middles beside it


def test_cells_may_differ_in_size():
    values = np.array([[0.0, 1.0]])
    (line,) = isolines(np.array([0, 2, 10]), np.array([0, 4]), values, 0.5)
    np.testing.assert_allclose(line[:, 0], 1 + 0.5 * (6 - 1))
    assert {0.0, 4.0} <= set(line[:, 1])


def test_nothing_crosses_a_level_that_is_not_reached():
    assert isolines(EDGES, EDGES, np.full((3, 3), 0.2), 0.5) == []


def test_what_no_region_covers_counts_as_zero():
    covered, hole = np.ones((3, 3)), np.ones((3, 3))
    covered[1, 1], hole[1, 1] = 0, np.nan
    expected, found = isolines(EDGES, EDGES, covered, 0.5), isolines(EDGES, EDGES, hole, 0.5)
    np.testing.assert_array_equal(found[0], expected[0])


def test_scikit_image_is_loaded_with_the_first_line_only():
    program = "import sys, bag_generators.regions; print('skimage' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.strip() == "False"
