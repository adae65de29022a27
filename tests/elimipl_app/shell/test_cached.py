"""What a server keeps for a model goes with its card: one that changes on disk is read anew."""

import json
import shutil

import numpy as np
import pytest

from bag_generators import generate
from bag_generators.tissue.samples import list_samples
from elimipl.cards import files
from elimipl_app.shell.cached import explanation, predictor, shipped_models

MODEL = "tissue7-row-elimipl"


@pytest.fixture
def card_file(tmp_path, monkeypatch):
    """The card of the only model there is."""
    for ending in ("json", "safetensors"):
        shutil.copy(files.SHIPPED / f"{MODEL}.{ending}", tmp_path)
    monkeypatch.setattr(files, "SHIPPED", tmp_path)
    return tmp_path / f"{MODEL}.json"


def test_a_card_that_changes_without_its_weights_is_read_by_a_running_server(card_file):
    (before,), _ = shipped_models()
    assert predictor(before) is predictor(before)
    bag = generate("row", list_samples()[0].load(), **before.generator_params)
    explained = explanation("single", predictor(before), bag)

    values = json.loads(card_file.read_text(encoding="utf-8"))
    values["calibration"]["temperature"] *= 3
    card_file.write_text(json.dumps(values), encoding="utf-8")
    (after,), _ = shipped_models()
    assert after.sha256 == before.sha256
    assert predictor(after).card.temperature == pytest.approx(3 * predictor(before).card.temperature)
    again = explanation("single", predictor(after), bag)
    assert np.abs(again - explained).max() > 0.01


def test_a_fingerprint_is_of_what_the_card_says(card_file):
    (card,), _ = shipped_models()
    said = card.to_dict()
    assert card.fingerprint == type(card).from_dict(said).fingerprint
    assert card.to_dict() == said
