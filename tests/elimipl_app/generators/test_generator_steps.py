"""The stations between a picture and an instance show what the generators really compute."""

import numpy as np
import pytest

from bag_generators import GENERATORS, TissueImage, generate
from bag_generators.generator import Stars
from bag_generators.generators import row
from bag_generators.generators.grid import colour_name
from bag_generators.generators.kmeansseg import LITTLE_GAIN, TIGHT
from bag_generators.registry import steps_of
from bag_generators.tissue import phantom
from elimipl_app.generators.figures import feature_bars, step_figure
from elimipl_app.generators.page import Described, linked, place_of
from elimipl_app.shell.palette import LIGHT


@pytest.fixture(scope="module")
def image() -> TissueImage:
    return TissueImage.from_array(phantom.draw("TUM", seed=5).pixels)


@pytest.fixture(scope="module")
def bags(image):
    return {name: Described(generate(name, image), None) for name in GENERATORS}


@pytest.mark.parametrize("name", GENERATORS)
def test_instances_have_a_figure_for_every_step(image, bags, name):
    """The first, one in the middle and the last: corners and centre, where neighbours are missing or all there."""
    bag = bags[name].bag
    titles = {step.title for step in steps_of(image, bag, 0)}
    for instance in {0, len(bag) // 2, len(bag) - 1}:
        steps = steps_of(image, bag, instance)
        assert {step.title for step in steps} == titles
        for step in steps:
            assert step_figure(step.drawing, LIGHT).data
        numbers = feature_bars(bag.features[instance], bag.feature_names, LIGHT)
        np.testing.assert_array_equal(np.array(numbers.data[0].y, dtype=np.float32), bag.features[instance])


def test_swatches_are_the_colours_of_the_grid(image, bags):
    _, grid, swatches = steps_of(image, bags["row"].bag, 2)
    rows = grid.drawing.pixels.mean(axis=1)
    shown = step_figure(swatches.drawing, LIGHT).data[0]
    told = [[float(value) for value in text.split()] for text in shown.text]  # below, this one, above
    np.testing.assert_allclose(told, rows[[3, 2, 1]], atol=0.51)


def test_the_stopping_curve_obeys_its_rule(image, bags):
    tries = steps_of(image, bags["kmeansseg"].bag, 0)[2].drawing
    spreads = dict(zip(tries.tried, tries.results, strict=True))
    k = tries.kept
    assert k == len(bags["kmeansseg"].bag)
    assert min(spreads) == 2
    assert spreads[k] < TIGHT or spreads[k - 1] - spreads[k] < LITTLE_GAIN
    for earlier in range(3, k):
        assert spreads[earlier - 1] - spreads[earlier] >= LITTLE_GAIN
    assert np.isfinite(np.array(step_figure(tries, LIGHT).data[0].y, dtype=float)).all()
    segments = steps_of(image, bags["kmeansseg"].bag, 1)[3].drawing
    np.testing.assert_array_equal(segments.cells, bags["kmeansseg"].bag.regions.cells)


def test_stars_point_where_the_picture_gets_brighter():
    descriptor = np.zeros((4, 4, 8))
    descriptor[1, 2, 2] = 1.0  # brighter towards the top
    star = step_figure(Stars(descriptor), LIGHT).data[0]
    starts, tips = (np.column_stack([star.x[place::3], star.y[place::3]]).astype(float) for place in (0, 1))
    (moved,) = np.flatnonzero(np.hypot(*(tips - starts).T) > 1e-9)
    np.testing.assert_allclose(starts[moved], [2.5, 1.5])
    np.testing.assert_allclose(tips[moved], [2.5, 1.5 - 0.46])


@pytest.mark.parametrize("name", GENERATORS)
def test_a_place_leads_back_to_its_instance(bags, name):
    bag = bags[name].bag
    for instance in range(len(bag)):
        assert bag.regions.at(*place_of(bag, instance)) == instance
        at = linked(bags, name, instance)
        assert at[name] == instance
        assert None not in (at["row"], at["sift"], at["kmeansseg"])
    assert linked(bags, "sift", 0)["sbn"] is None  # it does not look at the corner


@pytest.mark.parametrize("name", GENERATORS)
def test_words_are_whole_sentences(bags, name):
    for instance in range(len(bags[name].bag)):
        text = GENERATORS[name].in_words(bags[name].bag, instance)
        assert text[0].isupper()
        assert text.endswith(".")
        assert "nan" not in text


def test_words_tell_brighter_from_darker():
    pixels = np.full((224, 224, 3), 200, dtype=np.uint8)
    pixels[112:] = 100
    bag = generate("row", TissueImage.from_array(pixels))
    assert "darker than the band above" in row.in_words(bag, 4)
    assert "brighter than the band below" in row.in_words(bag, 3)
    assert colour_name(np.array([230, 180, 200])) == "pale pink"
