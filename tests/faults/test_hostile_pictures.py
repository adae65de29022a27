"""Pictures that are hard on models of patches: one patch, a ribbon, nothing but one colour; all get a finite answer."""

import numpy as np
import pytest

from bag_generators import GENERATORS, TissueImage, generate
from bag_generators.tissue.quality import measure
from elimipl.answers.answer import answer
from elimipl.answers.explain import contribution
from elimipl.answers.predictor import Predictor
from elimipl.cards.card import Card
from elimipl.cards.files import card_paths

ON_PATCHES = sorted(name for name, generator in GENERATORS.items() if generator.sees == "original")
NOISE = np.random.default_rng(5).integers(0, 256, (64, 64, 3), dtype=np.uint8)


def flat(height: int, width: int, colour: tuple[int, int, int] = (200, 120, 180)) -> np.ndarray:
    return np.full((height, width, 3), colour, np.uint8)


PICTURES = {
    "black": flat(224, 224, (0, 0, 0)),
    "white": flat(224, 224, (255, 255, 255)),
    "one colour": flat(224, 224),
    "two colours": np.where(np.indices((224, 224)).sum(axis=0)[:, :, None] % 2, flat(224, 224), 255).astype(np.uint8),
    "smallest": NOISE,
    "wide ribbon": np.tile(NOISE, (1, 8, 1)),
    "high ribbon": np.tile(NOISE, (8, 1, 1)),
    "noise": np.tile(NOISE, (4, 4, 1)),
}


@pytest.fixture(scope="module")
def predictors() -> list[Predictor]:
    """A model of each generator that reads the picture's own pixels."""
    cards = [Card.read(path) for path in card_paths().values()]
    return [Predictor.of_card(next(card for card in cards if card.generator == name)) for name in ON_PATCHES]


@pytest.mark.parametrize("kind", PICTURES)
def test_the_answer_is_finite_and_no_confident_nonsense(predictors, kind):
    image = TissueImage.from_array(PICTURES[kind])
    assert predictors
    for predictor in predictors:
        bag = generate(predictor.card.generator, image, **predictor.card.generator_params)
        prediction = predictor.predict(bag)
        assert np.isfinite(bag.features).all()
        assert prediction.probabilities.sum() == pytest.approx(1)
        assert prediction.attention.sum() == pytest.approx(1)
        assert np.isfinite(contribution(predictor, bag)).all()
        said = answer(measure(image).numbers(), predictor, bag, prediction)
        assert not said.trusted
        assert said.warnings


def test_one_patch_is_a_bag_of_one(predictors):
    image = TissueImage.from_array(np.tile(NOISE, (2, 2, 1))).at_scale(0.25, "test")
    for predictor in predictors:
        bag = generate(predictor.card.generator, image, **predictor.card.generator_params)
        prediction = predictor.predict(bag)
        assert prediction.attention.sum() == pytest.approx(1)
        assert len(prediction.attention) == len(bag)
