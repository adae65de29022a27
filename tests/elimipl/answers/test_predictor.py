"""A trained model in use: what it answers, what it refuses, and which files it won't open."""

import hashlib
import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save

from bag_generators import generate
from bag_generators.base.errors import InputError
from elimipl.answers.predictor import Predictor
from elimipl.candidates.crowd import Candidates
from elimipl.candidates.labels import LabelSpace
from elimipl.cards.calibration import temper
from elimipl.cards.files import list_models
from elimipl.cards.finish import finish, save_model
from elimipl.config import Config
from elimipl.datasets.dataset import UNLABELLED, BagDataset
from elimipl.training.loop import fit
from tests.elimipl.toy_bags import toy_bags

ID = "toy-row-elimipl"


def rewrite_card(folder, **changes):
    path = folder / f"{ID}.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def replace_weights(folder, content, with_sum=True):
    (folder / f"{ID}.safetensors").write_bytes(content)
    if with_sum:
        rewrite_card(folder, sha256=hashlib.sha256(content).hexdigest())


def refusal(folder, model_id=ID):
    with pytest.raises(InputError) as caught:
        Predictor.load(model_id, folder)
    return str(caught.value)


@pytest.mark.parametrize("preset", ["paper", "published", "default"])
@pytest.mark.parametrize("method", ["elimipl", "demipl"])
def test_every_kind_of_model_survives_its_file(preset, method, toy_dataset, toy_card, toy_bag, tmp_path):
    config = Config.preset(preset, method=method, hidden=8, epochs=1, scaling="robust")
    fitted = fit(toy_dataset, config, device="cpu")
    finished = finish(fitted, toy_dataset, Candidates(), created_by="")
    finished.save(tmp_path)
    fresh, loaded = finished.predictor, Predictor.load(finished.card.id, tmp_path)
    assert np.array_equal(fresh.predict(toy_bag).raw, loaded.predict(toy_bag).raw)


def test_a_prediction(toy_predictor, toy_bag, toy_card):
    prediction = toy_predictor.predict(toy_bag)
    assert prediction.label == "pink"
    assert prediction.index == 1
    assert prediction.probability == prediction.probabilities[1] == prediction.probabilities.max()
    assert prediction.model_id == ID
    assert prediction.label_space == toy_card.label_space
    assert prediction.attention.shape == (8,)
    for distribution in (prediction.probabilities, prediction.raw, prediction.attention):
        assert distribution.sum() == pytest.approx(1)
        assert not distribution.flags.writeable
    np.testing.assert_allclose(prediction.probabilities, temper(prediction.raw, toy_card.temperature))


def test_bags_are_predicted_together_as_alone(toy_predictor, toy_dataset, toy_bag):
    together = toy_predictor.predict_dataset(toy_dataset)
    for i, prediction in enumerate(together):
        alone = toy_predictor.predict_features(toy_dataset.bag(i))
        np.testing.assert_allclose(prediction.probabilities, alone.probabilities, atol=1e-12)
        np.testing.assert_allclose(prediction.attention, alone.attention, atol=1e-12)
    assert toy_predictor.predict_bags([]) == []
    pair = toy_predictor.predict_bags([toy_bag, toy_bag])
    np.testing.assert_allclose(pair[1].raw, toy_predictor.predict(toy_bag).raw, atol=1e-12)


def test_threads_share_one_model(toy_predictor, toy_dataset):
    bags = [toy_dataset.bag(i) for i in range(len(toy_dataset))] * 5
    expected = [toy_predictor.predict_features(bag).raw for bag in bags]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda bag: toy_predictor.predict_features(bag).raw, bags))
    assert np.array_equal(expected, found)


def test_a_predictor_does_not_learn_and_loading_leaves_the_random_numbers_alone(toy_folder, toy_fitted):
    before = torch.get_rng_state()
    network = Predictor.load(ID, toy_folder).network
    assert torch.equal(before, torch.get_rng_state())
    assert not network.training
    assert not any(parameter.requires_grad for parameter in network.parameters())
    assert all(parameter.requires_grad for parameter in toy_fitted.network.parameters())
    assert next(toy_fitted.network.parameters()).dtype == torch.float32


def test_bags_made_in_another_way_or_of_other_classes_are_refused(toy_predictor, toy_dataset, draw_toy_picture):
    picture = draw_toy_picture("blue", 1)
    with pytest.raises(InputError, match=r"reads bags of the generator “row”, this one is of “sbn”"):
        toy_predictor.predict(generate("sbn", picture))
    with pytest.raises(InputError, match=r"made with stain = 'none', this one was made with 'reinhard'"):
        toy_predictor.predict(generate("row", picture, stain="reinhard"))
    narrow = BagDataset.from_bags(
        [np.ones((2, 4))], toy_dataset.label_space, generator="row", params=toy_dataset.params
    )
    with pytest.raises(InputError, match="reads 9 features per instance, these have 4"):
        toy_predictor.predict_dataset(narrow)
    with pytest.raises(InputError, match="9 features"):
        toy_predictor.predict_features(np.ones((2, 4)))
    with pytest.raises(InputError, match=r"knows the classes blue, pink, white; the bags have x, y, z"):
        toy_predictor.predict_dataset(replace(toy_dataset, label_space=LabelSpace.of(["x", "y", "z"])))


def test_bags_that_nobody_has_labelled_are_predicted(toy_predictor, toy_dataset):
    bare = BagDataset.from_bags(
        [bag.features for bag in toy_dataset], UNLABELLED, generator=toy_dataset.generator, params=toy_dataset.params
    )
    for one, other in zip(toy_predictor.predict_dataset(bare), toy_predictor.predict_dataset(toy_dataset), strict=True):
        np.testing.assert_array_equal(one.probabilities, other.probabilities)


def test_a_model_is_saved_from_python(toy_fitted, toy_dataset, tmp_path):
    path = save_model(toy_fitted, tmp_path, toy_dataset, held_out=toy_dataset, model_id="mine")
    assert path == tmp_path / "mine.json"
    loaded = Predictor.load("mine", tmp_path)
    found, fitted = loaded.predict_dataset(toy_dataset), toy_fitted.predict(toy_dataset)
    np.testing.assert_allclose([one.raw for one in found], fitted.probabilities, atol=1e-6)  # float32 against float64
    np.testing.assert_allclose(np.concatenate([one.attention for one in found]), fitted.attention, atol=1e-5)
    assert loaded.card.accuracy is not None
    assert loaded.card.candidates.scheme == "as in the data set"


def test_a_model_of_plain_bags_is_saved_under_its_usual_name(tmp_path):
    bags = toy_bags(m=20)
    fitted = fit(bags, Config.preset("default", hidden=8, epochs=2), device="cpu")
    path = save_model(fitted, tmp_path / "new", bags)
    assert path.name == "toy-bags-elimipl.json"
    assert len(Predictor.load(path.stem, path.parent).predict_dataset(bags)) == 20
    for others in (bags.subset(np.arange(10)), toy_bags(m=20, d=6), toy_bags(m=20, k=3)):
        with pytest.raises(InputError, match="not fitted on these"):
            save_model(fitted, tmp_path, others)
    with pytest.raises(InputError, match="can't name a model"):
        save_model(fitted, tmp_path, bags, model_id="../mine")


@pytest.mark.parametrize(
    ("features", "sentence"),
    [
        (np.empty((0, 9)), "is empty"),
        (np.ones(9), r"1 dimension\(s\)"),
        (np.ones((1, 5, 9)), r"3 dimension\(s\), its shape is \(1, 5, 9\)"),
        (np.full((2, 9), np.nan), "not finite"),
    ],
)
def test_a_bag_that_is_no_bag_is_refused(toy_predictor, features, sentence):
    with pytest.raises(InputError, match=sentence):
        toy_predictor.predict_features(features)


@pytest.mark.parametrize("scale", [1e-30, 1e6, 1e30])
def test_extreme_features_give_no_nan(toy_predictor, scale):
    prediction = toy_predictor.predict_features(np.full((3, 9), scale, np.float32))
    assert np.isfinite(prediction.probabilities).all()
    assert np.isfinite(prediction.attention).all()


@pytest.mark.parametrize("name", ["nope", "../models/toy-row-elimipl", "/etc/passwd", "", "toy-row-elimipl.json"])
def test_only_listed_models_are_opened(toy_folder, name):
    assert f"no model called “{name}”. Choose one of: {ID}." in refusal(toy_folder, name)


def test_a_model_that_no_longer_ships_names_its_successor(toy_folder):
    for ending in (".json", ".safetensors"):
        (toy_folder / f"{ID}{ending}").rename(toy_folder / f"colon-row-elimipl{ending}")
    said = refusal(toy_folder, "lesion5-row-elimipl")
    assert said.startswith("The model “lesion5-row-elimipl” no longer ships; its successor is “colon-row-elimipl”.")


def test_models_are_listed_by_their_cards_and_missing_weights_are_named(toy_folder, toy_card, tmp_path):
    (tmp_path / "empty").mkdir()
    assert list_models(tmp_path / "empty") == ()
    assert "holds none" in refusal(tmp_path / "empty")
    assert list_models(toy_folder) == (toy_card,)
    (toy_folder / f"{ID}.safetensors").unlink()
    assert f"“{ID}.safetensors” of the model “{ID}” are missing" in refusal(toy_folder)


@pytest.mark.parametrize("kept", [0, 4, 60, 2000])
def test_truncated_weights(toy_folder, kept):
    content = (toy_folder / f"{ID}.safetensors").read_bytes()
    replace_weights(toy_folder, content[:kept], with_sum=False)
    said = refusal(toy_folder)
    assert "is cut short" in said
    assert "expects sha256" in said


def test_swapped_weights(toy_folder):
    arrays = load_file(toy_folder / f"{ID}.safetensors")
    arrays["network.classifier.bias"] += 1
    replace_weights(toy_folder, save(arrays), with_sum=False)
    assert "other weights than the ones this model was saved with" in refusal(toy_folder)


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_a_pickle_in_disguise_is_not_opened(toy_folder, protocol):
    replace_weights(toy_folder, pickle.dumps({"weights": [1, 2]}, protocol), with_sum=False)
    assert "pickle in disguise, which could run code, so it was not opened" in refusal(toy_folder)


@pytest.mark.parametrize(
    "content", [b"PK\x03\x04" + b"\0" * 64, b"hello world, not a model", b"\x04" + b"\0" * 7 + b"{}{}"]
)
def test_a_foreign_file_whose_sum_was_entered_in_the_card(toy_folder, content):
    replace_weights(toy_folder, content)
    assert "not a safetensors file" in refusal(toy_folder)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"dim": 10, "checks": {}},
            "doesn't fit its card: “network.embed.weight” should be 32×10 for 10 features and 3 classes, but is 32×9",
        ),
        ({"label_space": LabelSpace.of(["a", "b"]).to_dict()}, "2 classes"),
        ({"config": {**Config().to_dict(), "colour": "red"}}, "The settings in “toy-row-elimipl.json” are damaged"),
        ({"method": "demipl"}, "names the method “demipl”, its settings are of “elimipl”"),
    ],
)
def test_a_card_that_does_not_fit_its_weights(toy_folder, changes, said):
    rewrite_card(toy_folder, **changes)
    assert said in refusal(toy_folder)


def test_weights_with_an_array_too_few(toy_folder):
    arrays = load_file(toy_folder / f"{ID}.safetensors")
    del arrays["scaler.shift"]
    replace_weights(toy_folder, save(arrays))
    assert "“scaler.shift” should be 9 for 9 features and 3 classes, but is nothing" in refusal(toy_folder)
