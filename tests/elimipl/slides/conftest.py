"""A model that tells three drawn tissues apart, and a slide of them whose truth is known."""

from pathlib import Path

import pytest

from bag_generators import TissueImage, generate
from bag_generators.base.threads import one_thread
from bag_generators.slide import Slide, open_slide
from bag_generators.tissue.phantom import draw
from elimipl.answers.predictor import Predictor
from elimipl.candidates.crowd import Candidates
from elimipl.candidates.labels import LabelSpace
from elimipl.cards.calibration import calibrate
from elimipl.cards.card import Accuracy
from elimipl.cards.finish import Finished, Measured, finish
from elimipl.config import Config
from elimipl.datasets.dataset import BagDataset
from elimipl.slides import SlideMap, map_slide
from elimipl.training.loop import fit
from tests.elimipl.slides.kinds import KINDS, LAYOUT
from tests.support.phantom_slide import CELL, PhantomSlide


def trained(generator: str, each: int) -> Finished:
    """A model of the three tissues for the bags of a generator."""
    labels = [index for index in range(len(KINDS)) for _ in range(each)]
    drawn = [draw(KINDS[label], 100 + number, CELL, 0.9).pixels for number, label in enumerate(labels)]
    with one_thread():
        bags = [generate(generator, TissueImage.from_array(pixels)) for pixels in drawn]
    dataset = BagDataset.from_bags(
        [bag.features for bag in bags],
        LabelSpace.of(KINDS, id="kinds"),
        labels,
        generator=generator,
        params=dict(bags[0].params),
        source="drawn for the tests",
        licence="none needed",
    )
    fitted = fit(dataset, Config.preset("default", hidden=32, epochs=60, batch=4, lr=0.05, seed=3), device="cpu")
    calibration = calibrate(fitted.predict(dataset).probabilities, dataset.labels, "the training bags")
    measured = Measured(Accuracy(0.9, len(labels), "the training bags"), calibration)
    return finish(fitted, dataset, Candidates(), created_by="tests/elimipl/slides/conftest.py", measured=measured)


@pytest.fixture(scope="session")
def kinds_finished() -> Finished:
    return trained("row", each=12)


@pytest.fixture(scope="session")
def deep_predictor() -> Predictor:
    """A model that reads cells of the picture's own pixels, so that fields are 3×3 tiles."""
    return trained("deep", each=6).predictor


@pytest.fixture(scope="session")
def kinds_predictor(kinds_finished) -> Predictor:
    return kinds_finished.predictor


@pytest.fixture(scope="session")
def kinds_models(kinds_finished, tmp_path_factory) -> Path:
    """A folder with the model's two files."""
    folder = tmp_path_factory.mktemp("kinds")
    kinds_finished.save(folder)
    return folder


@pytest.fixture(scope="session")
def kinds_slide_file(tmp_path_factory) -> Path:
    """8 × 6 cells with an edge strip of 100 px at the right and 60 px below; never written to."""
    path = tmp_path_factory.mktemp("slides") / "kinds.tif"
    PhantomSlide(LAYOUT).write(path, crop=(7 * CELL + 100, 5 * CELL + 60))
    return path


@pytest.fixture(scope="session")
def kinds_slide(kinds_slide_file) -> Slide:
    return open_slide(kinds_slide_file)


@pytest.fixture(scope="session")
def kinds_map(kinds_slide, kinds_predictor, tmp_path_factory) -> SlideMap:
    return map_slide(kinds_slide, kinds_predictor, tmp_path_factory.mktemp("map"), workers=1)
