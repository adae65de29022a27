"""Cards, weights, bag files and zips made to harm: each gets its sentence before anything is done with it."""

import copy
import hashlib
import io
import json
import struct
import zipfile

import numpy as np
import pytest
from safetensors.numpy import save

from bag_generators.base.errors import InputError
from bag_generators.base.storage import pack_tensors
from elimipl.answers.predictor import Predictor
from elimipl.candidates.labels import LabelSpace
from elimipl.cards.card import Card
from elimipl.cards.files import sha256_of
from elimipl.cards.finish import _arrays
from elimipl.datasets import tiles as tile_zip
from elimipl.datasets.dataset import BagDataset
from elimipl.datasets.tiles import bags_from_zip

SPACE = {"id": "toy", "names": ["a", "b"], "colours": ["#000000", "#FFFFFF"], "descriptions": ["", ""], "source": ""}


@pytest.mark.parametrize(("path", "value"), [("dim", 10**400), ("dim", 2**40), ("accuracy.value", 10**400)])
def test_numbers_without_end_on_a_card(toy_card, path, value):
    values = copy.deepcopy(toy_card.to_dict())
    *above, name = path.split(".")
    (values[above[0]] if above else values)[name] = value
    with pytest.raises(InputError, match=r"is not a|can't read|damaged at “dim”"):
        Card.from_dict(values)


@pytest.mark.parametrize("entry", ["created_by", "method"])
def test_half_a_surrogate_pair_on_a_card_is_noticed_before_it_is_shown(toy_folder, toy_card, entry):
    path = toy_folder / "toy-row-elimipl.json"
    path.write_text(json.dumps({**toy_card.to_dict(), entry: "\ud800"}), encoding="utf-8")
    with pytest.raises(InputError, match="is not JSON"):
        Card.read(path)


def test_card_entries_without_end(toy_card, toy_folder):
    with pytest.raises(InputError, match=r"“checks.limits.tissue.0” .* is not a number"):
        Card.from_dict({**toy_card.to_dict(), "checks": {"limits": {"tissue": [10**400, None]}}})
    path = toy_folder / "toy-row-elimipl.json"
    text = json.dumps({**toy_card.to_dict(), "config": {"a": 0}})
    for depth in (300, 100_000):
        path.write_text(text.replace('"a": 0', f'"a": {"[" * depth}{"]" * depth}'), encoding="utf-8")
        with pytest.raises(InputError, match=r"The model card “toy-row-elimipl.json”"):
            Card.read(path)


@pytest.mark.parametrize(
    ("name", "harm"),
    [
        ("network.classifier.weight", lambda a: a * np.nan),
        ("network.classifier.weight", lambda a: a + np.inf),
        ("network.classifier.weight", lambda a: a.astype(np.int32)),
        ("network.classifier.weight", lambda a: a + np.float32(1e30)),
        ("scaler.scale", lambda a: a * 0),
        ("scaler.scale", lambda a: a * 1e-300),
        ("scaler.shift", lambda a: a + 1e277),
        ("scaler.scale", lambda a: -a),
        ("scaler.shift", lambda a: a + np.nan),
        ("scaler.limit", lambda a: a * np.nan),
    ],
)
def test_weights_no_model_can_work_with(toy_folder, toy_fitted, toy_card, name, harm):
    arrays = _arrays(toy_fitted)
    name = name if name in arrays else next(key for key in arrays if key.startswith("network."))
    content = pack_tensors({**arrays, name: harm(arrays[name])})
    (toy_folder / "toy-row-elimipl.safetensors").write_bytes(content)
    card = {**toy_card.to_dict(), "sha256": sha256_of(content)}
    (toy_folder / "toy-row-elimipl.json").write_text(json.dumps(card), encoding="utf-8")
    with pytest.raises(InputError, match=f"numbers in “{name}” that no model can work with"):
        Predictor.load("toy-row-elimipl", toy_folder)


def test_the_largest_numbers_that_are_taken_still_give_finite_answers(toy_folder, toy_fitted, toy_card, toy_bag):
    rng = np.random.default_rng(2)
    largest = {name: (rng.choice([-1, 1], a.shape) * 9e11).astype(a.dtype) for name, a in _arrays(toy_fitted).items()}
    largest |= {"scaler.scale": np.full_like(largest["scaler.scale"], 2e-12), "scaler.limit": np.array([np.inf])}
    content = pack_tensors(largest)
    (toy_folder / "toy-row-elimipl.safetensors").write_bytes(content)
    card = {**toy_card.to_dict(), "sha256": sha256_of(content)}
    (toy_folder / "toy-row-elimipl.json").write_text(json.dumps(card), encoding="utf-8")
    prediction = Predictor.load("toy-row-elimipl", toy_folder).predict(toy_bag)
    assert np.isfinite(prediction.probabilities).all()
    assert np.isfinite(prediction.attention).all()


def test_a_card_and_weights_that_agree_on_nonsense(toy_folder, toy_card):
    content = b"\x80\x04\x95 a pickle with the right sum"
    (toy_folder / "toy-row-elimipl.safetensors").write_bytes(content)
    card = {**toy_card.to_dict(), "sha256": hashlib.sha256(content).hexdigest()}
    (toy_folder / "toy-row-elimipl.json").write_text(json.dumps(card), encoding="utf-8")
    with pytest.raises(InputError, match="not a safetensors file"):
        Predictor.load("toy-row-elimipl", toy_folder)


@pytest.mark.parametrize(
    "change",
    [
        {"id": 3},
        {"names": 5},
        {"names": "ab"},
        {"names": ["a", None]},
        {"colours": {"a": 1}},
        {"descriptions": [1, 2]},
        {"source": []},
    ],
    ids=str,
)
def test_label_spaces_of_wrong_types(change):
    with pytest.raises(InputError, match="of the label space is not a"):
        LabelSpace.from_dict({**SPACE, **change})


@pytest.mark.parametrize("name", ["\ud800", "\u202eabc", "a\nb", "\0", "x" * 5000], ids=ascii)
def test_class_names_that_can_not_be_shown(name):
    with pytest.raises(InputError, match="can't be shown"):
        LabelSpace.from_dict({**SPACE, "names": ["a", name]})
    with pytest.raises(InputError, match="can't be shown"):
        LabelSpace.from_dict({**SPACE, "descriptions": ["", name]})


def bag_file(text: str) -> bytes:
    arrays = {"instances": np.ones((2, 2), np.float32), "offsets": np.array([0, 1, 2]), "labels": np.zeros(2, np.int64)}
    arrays |= {"candidates": np.ones((2, 2), bool), "groups": np.arange(2)}
    return save(arrays, metadata={"elimipl.bags": text})


def described(**changes) -> str:
    values = {"version": 1, "label_space": SPACE, "generator": "", "params": {}, "names": [], "source": ""}
    return json.dumps({**values, "licence": "", **changes})


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, described(source="\ud800"), described(names=["\ud800"]), described(label_space=3), "{}", "null"],
    ids=["nested", "surrogate", "surrogate in a list", "number", "empty", "null"],
)
def test_bag_files_with_a_harmful_description(tmp_path, text):
    path = tmp_path / "bags.safetensors"
    path.write_bytes(bag_file(text))
    with pytest.raises(InputError):
        BagDataset.load(path)


def test_the_sound_description_they_are_made_of(tmp_path):
    path = tmp_path / "bags.safetensors"
    path.write_bytes(bag_file(described()))
    assert len(BagDataset.load(path)) == 2


def zipped(*names: str, packing: int = zipfile.ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", packing) as archive:
        for name in names:
            archive.writestr(name, b"no picture")
    return file.getvalue()


def test_a_zip_that_lists_files_without_end(monkeypatch):
    monkeypatch.setattr(tile_zip, "MOST_ZIP_ENTRIES", 3)
    monkeypatch.setattr(zipfile, "ZipFile", lambda *_: pytest.fail("the list was read"))
    listed = b"PK\x01\x02" * 4
    with pytest.raises(InputError, match="lists more than 3 files"):
        bags_from_zip(b"PK\x03\x04" + listed, "row")


def test_zips_with_nameless_entries_and_packings_that_ask_for_gigabytes():
    with pytest.raises(InputError, match="packed in an unusual way"):
        bags_from_zip(zipped("A/1.png", "B/2.png", packing=zipfile.ZIP_LZMA), "row")
    content = bytearray(zipped("A/1.png"))
    lengths = content.index(b"PK\x01\x02") + 28  # of name, extra field and comment
    struct.pack_into("<HHH", content, lengths, 0, 0, 7)
    assert zipfile.ZipFile(io.BytesIO(content)).namelist() == [""]
    with pytest.raises(InputError, match="no pictures in class folders"):
        bags_from_zip(bytes(content), "row")


@pytest.mark.parametrize("name", ["../../../etc/passwd/1.png", "/etc/cron.d/1.png", "A/../../B/1.png"])
def test_names_in_a_zip_never_become_paths(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError):
        bags_from_zip(zipped(name, "B/2.png"), "row")
    assert list(tmp_path.rglob("*")) == []


def test_a_header_that_claims_more_than_there_is(tmp_path):
    path = tmp_path / "bags.safetensors"
    path.write_bytes(struct.pack("<Q", 2**40) + b"{}")
    with pytest.raises(InputError, match="not a whole bag data set"):
        BagDataset.load(path)
