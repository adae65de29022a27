"""Lines of equal score: where they run, where they end, and what they cost to import."""

import subprocess
import sys

import numpy as np

from bag_generators.isolines import isolines

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
    program = "import sys, bag_generators.isolines; print('skimage' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.strip() == "False"
