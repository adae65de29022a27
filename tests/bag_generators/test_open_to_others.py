"""Generators of others: registered by a program or found in an installed package, with any number of workers."""

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from bag_generators import GENERATORS, Generator, InputError, generate, generate_many, register
from bag_generators.generator import Pixels
from bag_generators.registry import recipe_of, register_again, steps_of, unregister
from tests.bag_generators import quadrants
from tests.bag_generators.references.pictures import flat, picture


@pytest.fixture
def fifth():
    yield register(quadrants.GENERATOR)
    unregister("quadrants")


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / f"{number}.png" for number in range(5)]
    for number, path in enumerate(paths):
        Image.fromarray(np.array(picture("tissue", seed=number).pixels)).save(path)
    return paths


def bags_by_name(stream):
    return {Path(path).name: bag for path, bag in stream}


def test_a_registered_generator_makes_bags_and_has_defaults_for_what_it_does_not_say(fifth):
    assert list(GENERATORS)[-1] == "quadrants"
    bag = generate("quadrants", flat((200, 100, 50)), gain=0.5)
    np.testing.assert_allclose(bag.features, [[100, 50, 25]] * 4)
    assert (bag.features.dtype, bag.params) == (np.float32, {"stain": "none", "gain": 0.5})
    image = picture("tissue")
    bag = generate("quadrants", image)
    assert GENERATORS["quadrants"].in_words(bag, 1).startswith("It stands out in ")
    (step,) = steps_of(image, bag, 3)
    assert isinstance(step.drawing, Pixels)
    assert step.drawing.frames == [(112, 112, 224, 224)]
    even = generate("quadrants", flat((9, 9, 9)))
    assert "same numbers" in GENERATORS["quadrants"].in_words(even, 0)


@pytest.mark.parametrize(("sees", "shape"), [("working copy", (224, 224, 3)), ("original", (150, 400, 3))])
def test_a_generator_sees_the_pixels_it_asks_for(sees, shape):
    seen = []

    def look(pixels, size):
        seen.append(pixels.shape)
        return quadrants.quadrants(pixels, size)

    register(replace(quadrants.GENERATOR, function=look, defaults={}, sees=sees))
    try:
        bag = generate("quadrants", picture("tissue", height=150, width=400))
    finally:
        unregister("quadrants")
    assert seen == [shape]
    assert bag.regions.shape == (150, 400)


def test_names_are_taken_once_and_must_be_plain(fifth):
    with pytest.raises(InputError, match="There is a generator 'quadrants' already"):
        register(quadrants.GENERATOR)
    with pytest.raises(InputError, match="with the title 'SBN'"):
        register(replace(quadrants.GENERATOR, name="other", title="SBN"))
    with pytest.raises(InputError, match=r"can't be called '\.\./x'"):
        replace(quadrants.GENERATOR, name="../x")
    with pytest.raises(InputError, match="is not complete"):
        replace(quadrants.GENERATOR, feature_names=())


def test_workers_know_a_generator_the_caller_registered(fifth, files):
    alone = bags_by_name(generate_many("quadrants", files, workers=1, gain=2.0))
    spread = bags_by_name(generate_many("quadrants", files, workers=2, gain=2.0))
    assert len(spread) == 5
    for name, bag in alone.items():
        np.testing.assert_array_equal(bag.features, spread[name].features)


def test_a_function_without_a_name_to_import_works_in_this_process(files):
    register(Generator("mean", "Mean", "One colour.", ("r", "g", "b"), lambda *given: _first(*given)))
    try:
        assert recipe_of("mean") is None
        assert len(bags_by_name(generate_many("mean", files, workers=2))) == 5
    finally:
        unregister("mean")


def _first(pixels, shape):
    features, regions = quadrants.quadrants(pixels, shape)
    return features, regions


def test_a_generator_that_was_sent_is_the_same_again(fifth):
    recipe = pickle.loads(pickle.dumps(recipe_of("quadrants")))  # noqa: S301 - our own bytes
    unregister("quadrants")
    assert register_again(recipe) == register_again(recipe) == "quadrants"
    assert GENERATORS["quadrants"].function is quadrants.quadrants
    assert GENERATORS["quadrants"].defaults == {"stain": "none", "gain": 1.0}
