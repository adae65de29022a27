"""A toy task that trains in a second: pictures of one colour a class, their Row bags, a model and its files."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bag_generators import Bag, TissueImage, generate
from elimipl.answers.predictor import Predictor
from elimipl.candidates.crowd import Candidates, uniform_false_positives
from elimipl.candidates.labels import LabelSpace
from elimipl.cards.calibration import calibrate
from elimipl.cards.card import Accuracy, Card
from elimipl.cards.finish import Finished, Measured, finish
from elimipl.config import Config
from elimipl.datasets.dataset import BagDataset
from elimipl.training.loop import Fitted, fit
from tests.elimipl.evidence_bags import evidence_bags

COLOURS = {"blue": (70, 80, 190), "pink": (220, 130, 190), "white": (235, 230, 240)}
EACH = 8


def toy_picture(name: str, seed: int) -> TissueImage:
    """A noisy 96×96 picture whose middle six bands have the colour of its class and the outer two a random one."""
    rng = np.random.default_rng(seed)
    pixels = np.broadcast_to(rng.integers(60, 240, 3), (96, 96, 3)).astype(float)
    pixels[12:84] = COLOURS[name]
    return TissueImage.from_array(np.clip(pixels + rng.normal(0, 12, pixels.shape), 0, 255).astype(np.uint8))


@pytest.fixture(scope="session")
def toy_dataset() -> BagDataset:
    names = sorted(COLOURS)
    labels = np.repeat(np.arange(len(names)), EACH)
    bags = [generate("row", toy_picture(names[label], seed)) for seed, label in enumerate(labels)]
    return BagDataset.from_bags(
        [bag.features for bag in bags],
        LabelSpace.of(names, id="toy"),
        labels,
        uniform_false_positives(labels, len(names), r=1),
        generator="row",
        params=dict(bags[0].params),
        source="drawn for the tests",
        licence="none needed",
    )


@pytest.fixture(scope="session")
def toy_fitted(toy_dataset: BagDataset) -> Fitted:
    return fit(toy_dataset, Config.preset("default", hidden=32, epochs=60, batch=4, lr=0.05, seed=3), device="cpu")


@pytest.fixture(scope="session")
def toy_finished(toy_dataset: BagDataset, toy_fitted: Fitted) -> Finished:
    probabilities = toy_fitted.predict(toy_dataset).probabilities
    measured = Measured(
        Accuracy(0.9, 24, "the training bags"), calibrate(probabilities, toy_dataset.labels, "the training bags")
    )
    created_by = "tests/elimipl/conftest.py"
    return finish(toy_fitted, toy_dataset, Candidates("random"), created_by=created_by, measured=measured)


@pytest.fixture(scope="session")
def toy_card(toy_finished: Finished) -> Card:
    return toy_finished.card


@pytest.fixture(params=["paper", "published", "default", "context"])
def predictor(request: pytest.FixtureRequest, toy_dataset: BagDataset, toy_card: Card) -> Predictor:
    """A model of each head and gate; the temperature stays that of the toy model unless the head needs its own."""
    preset, extractor = ("default", "context") if request.param == "context" else (request.param, "identity")
    lr = Config.preset(preset).lr
    config = Config.preset(preset, hidden=16, epochs=3, batch=8, lr=lr, seed=1, extractor=extractor)
    fitted = fit(toy_dataset, config, device="cpu")
    assert toy_card.calibration is not None
    cold = replace(toy_card.calibration, temperature=0.2 if request.param == "published" else 1.5)
    return Predictor.from_fitted(fitted, replace(toy_card, calibration=cold))


@pytest.fixture
def toy_folder(toy_finished: Finished, tmp_path: Path) -> Path:
    """A folder with the toy model's two files, fresh for every test."""
    folder = tmp_path / "models"
    toy_finished.save(folder)
    return folder


@pytest.fixture(scope="session")
def toy_predictor(toy_finished: Finished) -> Predictor:
    return toy_finished.predictor


@pytest.fixture(scope="session")
def toy_bag() -> Bag:
    return generate("row", toy_picture("pink", 1000))


@pytest.fixture(scope="session")
def draw_toy_picture() -> Callable[[str, int], TissueImage]:
    return toy_picture


@pytest.fixture(scope="session")
def evidence() -> BagDataset:
    """Digit bags with evidence for and against, which no model has seen."""
    return evidence_bags(60, seed=1)


@pytest.fixture(scope="session")
def judge_of_evidence() -> Finished:
    """A model that has learned from such bags."""
    bags = evidence_bags(200)
    shape = {"hidden": 32, "gate": "two", "gate_width": 16, "score": "linear", "dropout": 0.0}
    fitted = fit(bags, Config.preset("default", epochs=30, batch=16, lr=0.1, **shape), device="cpu")
    return finish(fitted, bags, Candidates(), created_by="a test", held_out=evidence_bags(60, 2))
