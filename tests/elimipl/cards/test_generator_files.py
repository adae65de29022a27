"""A model knows the files its generator computed with: an exchanged encoder is refused, even with its own card."""

import hashlib
import json
import shutil

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from bag_generators import GENERATORS, InputError, TissueImage, generate
from bag_generators.base import assets
from bag_generators.base.assets import asset_sha256
from bag_generators.generators import encoder
from bag_generators.tissue.phantom import draw
from elimipl.answers.predictor import Predictor
from elimipl.cards.card import Card
from elimipl.cards.files import card_paths
from elimipl.datasets.shipped import generator_files

CARDS = {name: Card.read(path) for name, path in card_paths().items()}


def test_every_card_that_ships_names_what_is_there():
    named = {card.generator: card.generator_files for card in CARDS.values() if card.generator_files}
    assert named == {name: generator_files(name) for name, one in GENERATORS.items() if one.files}
    assert all(card.generator_files == generator_files(card.generator) for card in CARDS.values())


@pytest.fixture
def swapped(tmp_path, monkeypatch):
    """The project with another encoder, whose card fits it."""
    shutil.copytree(assets.assets("encoder"), tmp_path / "assets" / "encoder")
    weights = tmp_path / "assets" / "encoder" / f"{encoder.ENCODER}.safetensors"
    card = weights.with_suffix(".json")
    arrays = load_file(weights)
    arrays["projection.56.bias"] = arrays["projection.56.bias"] + np.float32(0.5)
    save_file(arrays, weights, metadata={encoder.KEY: json.dumps({})})
    sum_ = hashlib.sha256(weights.read_bytes()).hexdigest()
    card.write_text(json.dumps({**json.loads(card.read_text()), "sha256": sum_}))
    monkeypatch.setattr(assets, "PROJECT", tmp_path)
    encoder._on_device.cache_clear()
    yield
    monkeypatch.undo()
    encoder._on_device.cache_clear()


def test_an_exchanged_encoder_is_refused_and_other_models_serve_as_ever(swapped):
    name = next(name for name, card in CARDS.items() if card.generator_files)
    bag = generate(CARDS[name].generator, TissueImage.from_array(draw("TUM", 1).pixels), **CARDS[name].generator_params)
    assert np.isfinite(bag.features).all()  # its own card finds nothing wrong
    with pytest.raises(InputError, match=r"has learned from the numbers of another “efficientnet_lite0\.safetensors”"):
        Predictor.of_card(CARDS[name])
    name = next(name for name, card in CARDS.items() if not card.generator_files)
    assert Predictor.of_card(CARDS[name]).card.id == name


@pytest.mark.parametrize(
    "files",
    [{"../../etc/passwd": "0" * 64}, {"/etc/passwd": "0" * 64}, {"encoder/x": "short"}, {"encoder/../y": "0" * 64}],
)
def test_a_card_leads_to_no_other_file(files):
    card = next(iter(CARDS.values()))
    with pytest.raises(InputError, match="damaged at “generator_files"):
        Card.from_dict({**card.to_dict(), "generator_files": files})


def test_a_file_that_is_gone_has_no_sum():
    assert asset_sha256("encoder/none.safetensors") is None
