"""The model card: what it says, what it refuses, and its file."""

import copy
import json
from dataclasses import replace

import pytest

from bag_generators.base.errors import InputError
from elimipl.answers.predictor import Predictor
from elimipl.candidates.labels import TISSUE7
from elimipl.cards.card import SIGNS, Acceptance, Card, Kept, usual_id
from elimipl.cards.files import SHIPPED
from elimipl.cards.limits import Limits
from elimipl.cards.wording import all_sentences, evenness_sentence, kept_sentence, trust_summary
from elimipl.datasets.pictures import NO_PICTURES, PHANTOMS, TILES


def at(values, path):
    *above, name = path.split(".")
    for step in above:
        values = values[step]
    return values, name


def test_a_card_comes_back_and_says_what_fitted_and_data_know(toy_folder, toy_card, toy_dataset):
    assert Card.read(toy_folder / "toy-row-elimipl.json") == toy_card
    assert toy_card.id == "toy-row-elimipl"
    assert (toy_card.method, toy_card.generator, toy_card.dim) == ("elimipl", "row", 9)
    assert toy_card.generator_params == toy_dataset.params
    assert toy_card.label_space == toy_dataset.label_space
    assert toy_card.training_data.counts == {"blue": 8, "pink": 8, "white": 8}
    assert toy_card.training_data.licence == "none needed"
    assert toy_card.candidates.average_size == 2
    assert toy_card.seed == 3
    assert {"python", "torch", "numpy"} <= set(toy_card.versions)
    text = (toy_folder / "toy-row-elimipl.json").read_text()
    assert text.endswith("}\n")
    assert json.loads(text)["pictures"] == TILES
    assert len(text.splitlines()) > 50


def test_the_same_model_gives_the_same_two_files_or_says_why_not(toy_folder, toy_finished, tmp_path):
    assert sorted(path.name for path in toy_folder.iterdir()) == [
        "toy-row-elimipl.json",
        "toy-row-elimipl.safetensors",
    ]
    toy_finished.save(tmp_path / "again")
    for path in toy_folder.iterdir():
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match="The model could not be written"):
        toy_finished.save(tmp_path / "file")


def test_a_card_of_fifty_megabytes_is_not_read(toy_card, tmp_path):
    values = toy_card.to_dict()
    values["created_by"] = "x" * 50_000_000
    path = tmp_path / f"{toy_card.id}.json"
    path.write_text(json.dumps(values))
    with pytest.raises(InputError, match="is larger than 2 MB"):
        Card.read(path)


@pytest.mark.parametrize("name", ["__import__", "_row", "os;system", "a" * 90, "../row", "row\n"])
def test_what_can_t_name_a_generator_is_refused(toy_card, name):
    with pytest.raises(InputError, match="can't name a generator"):
        Card.from_dict({**toy_card.to_dict(), "generator": name})


@pytest.mark.parametrize("path", ["method", "sha256", "label_space", "training_data.licence", "accuracy", "accuracy.n"])
def test_a_missing_entry_is_named(toy_card, path):
    values, name = at(card := copy.deepcopy(toy_card.to_dict()), path)
    del values[name]
    with pytest.raises(InputError, match=rf"“x\.json” lacks the entry “{path}”"):
        Card.from_dict(card, "The model card “x.json”")


@pytest.mark.parametrize("path", ["colour", "training_data.price", "calibration.bias", "accuracy.f1"])
def test_an_unknown_entry_is_named(toy_card, path):
    values, name = at(card := copy.deepcopy(toy_card.to_dict()), path)
    values[name] = 1
    with pytest.raises(InputError, match=f"unknown entry “{path}”"):
        Card.from_dict(card)


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("dim", "nine", "“dim” .* is not a whole number"),
        ("dim", 9.5, "“dim” .* is not a whole number"),
        ("dim", True, "“dim” .* is not a whole number"),
        ("dim", 0, "damaged at “dim”"),
        ("method", 3, "“method” .* is not a text"),
        ("config", [], "“config” .* is not a table"),
        ("calibration", 1.0, "“calibration” .* is not a table"),
        ("calibration.temperature", float("nan"), "“calibration.temperature” .* is not a number"),
        ("calibration.temperature", 0, "damaged at “calibration.temperature”"),
        ("training_data.counts", {"blue": "many"}, "“training_data.counts.blue” .* is not a whole number"),
        ("accuracy.value", 90.0, "damaged at “accuracy.value”"),
        ("accuracy.n", 0, "damaged at “accuracy.n”"),
        ("calibration.kind", "isotonic", "damaged at “calibration.kind”"),
        ("label_space", {"names": []}, "lacks the entry “label_space.id”"),
        ("label_space.names", ["blue", "blue", "pink"], "damaged at “label_space”: The class names"),
        ("label_space.names", ["blue", "pink", 3], "“label_space.names.2” .* is not a text"),
        ("pictures", "holiday snaps", "damaged at “pictures”"),
        ("seed", 2**70, "damaged at “seed”"),
        ("sha256", "../../etc", "damaged at “sha256”"),
        ("id", "../evil", "can't name a model"),
    ],
)
def test_an_ill_typed_entry_is_named(toy_card, path, value, said):
    values, name = at(card := copy.deepcopy(toy_card.to_dict()), path)
    values[name] = value
    with pytest.raises(InputError, match=said):
        Card.from_dict(card)


def test_what_may_be_left_out_or_be_unknown(toy_card):
    values = toy_card.to_dict()
    for path in ("checks", "accuracy.std", "candidates.seed", "calibration.kind"):
        parent, name = at(values, path)
        del parent[name]
    card = Card.from_dict(values)
    assert (card.checks, card.accuracy.std, card.candidates.seed) == (Limits(), None, None)
    card = Card.from_dict({**toy_card.to_dict(), "calibration": None, "accuracy": None})
    assert card.temperature == 1.0


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", "null", "\x00", "[" * 100_000])
def test_a_file_that_is_no_card(tmp_path, text):
    path = tmp_path / "broken.json"
    path.write_text(text)
    with pytest.raises(InputError, match=r"broken\.json"):
        Card.read(path)


def test_a_missing_and_a_renamed_card_are_refused(tmp_path, toy_folder):
    with pytest.raises(InputError, match=r"The model card “gone\.json” does not exist"):
        Card.read(tmp_path / "gone.json")
    path = (toy_folder / "toy-row-elimipl.json").rename(toy_folder / "other.json")
    with pytest.raises(InputError, match=r"“other\.json” describes the model “toy-row-elimipl”"):
        Card.read(path)


def test_the_usual_id():
    assert usual_id(TILES, TISSUE7, "sbn", "elimipl") == "tissue7-sbn-elimipl"
    assert usual_id(NO_PICTURES, TISSUE7, "", "demipl") == "tissue7-bags-demipl"
    assert usual_id(PHANTOMS, TISSUE7, "row", "elimipl") == "phantoms-row-elimipl"


def test_cards_from_before_an_entry_came_load_unchanged(tmp_path):
    """Cards without the entries that came later; everything they say is kept."""
    later = {"pictures", "conformal", "conformal_by_candidates", "reliability", "trust"}
    for shipped in sorted(SHIPPED.glob("*.json")):
        values = json.loads(shipped.read_text(encoding="utf-8"))
        values = {name: value for name, value in values.items() if name not in {*later, "generator_files"}}
        values["checks"].pop("pure_below", None)
        path = tmp_path / shipped.name
        path.write_text(json.dumps(values), encoding="utf-8")
        card = Card.read(path)
        added = {**dict.fromkeys(later), "pictures": card.pictures, "generator_files": {}}
        added["label_space"] = {**values["label_space"], "titles": list(card.label_space.titles)}
        assert card.to_dict() == {**values, **added, "checks": {**values["checks"], "pure_below": None}}
        assert card.pictures in (TILES, PHANTOMS), shipped.stem
        assert card.label_sets is None, shipped.stem


def test_an_old_card_of_phantoms_knows_what_it_learned_from(toy_card):
    values = toy_card.to_dict()
    del values["pictures"]
    values["training_data"]["source"] = "Phantoms drawn by this project (bag_generators.phantom), 30 per class, seed 0"
    assert Card.from_dict(values).pictures == PHANTOMS


@pytest.mark.parametrize("text", ['{"id": "a", "id": "b"}', '{"seed": NaN}', '{"seed": 1e999}', '{"id": "\\ud800"}'])
def test_json_with_two_meanings_is_none(tmp_path, text):
    path = tmp_path / "broken.json"
    path.write_text(text)
    with pytest.raises(InputError, match=r"“broken\.json”"):
        Card.read(path)


SOURCE = {
    "n": 1200, "right": 0.9, "interval": [0.88, 0.92], "trusted": 0.6, "trusted_and_wrong": 0.012,
    "calibration_error": 0.04, "sets_cover": 0.91, "set_size": 1.5, "kept_alone": {"most": -0.01, "least": -0.2},
}  # fmt: skip


@pytest.fixture
def card(toy_card):
    """A card with numbers of two sources and a rule that was tried on one left out."""
    ones = (1.0,) * len(SIGNS)
    rule = Acceptance(ones, ones, ones, 0.0, 0.9, 10, "left-out sources", {"far": Kept(500, 0.5, 0.2, 0.03)})
    other = {**SOURCE, "n": 300, "trusted": 0.4, "kept_alone": {"most": -0.02, "least": -0.3}}
    return replace(toy_card, acceptance=rule, measured={"near": SOURCE, "other": other, "note": "no source"})


def test_sources_left_out_sources_and_quarters_are_said_with_their_n(card):
    said = "\n".join(all_sentences(card))
    assert "near, held back (n = 1,200): 90% right (88% to 92%), 60% trusted, 1.2% trusted and wrong" in said
    assert "90 % sets hold the label in 91%, 1.5 labels on average" in said
    assert "far, left out of all learning (n = 500): 50% right, 20% trusted, 3.0% trusted and wrong." in said
    assert "right in at least 90 of 100 cases" in said
    assert trust_summary(card) == (
        "Held-back pictures: 40% to 60% trusted, 1% trusted and wrong; sources left out: 20% trusted, 3% trusted and "
        "wrong."
    )
    said = kept_sentence(card)
    assert "by -2 to -1 points" in said
    assert "the quarter with least by -30 to -20 (held-back pictures of near, other; n = 1,500)" in said


def test_a_card_without_numbers_says_so(toy_card):
    bare = replace(toy_card, accuracy=None)
    assert all_sentences(bare)[0] == "The accuracy of this model was not measured."
    assert (trust_summary(bare), kept_sentence(bare), evenness_sentence(bare)) == ("", None, None)


def test_even_attention_is_said():
    card = Predictor.load("drawn7-row-elimipl").card
    assert "nearly even" in evenness_sentence(replace(card, trust=replace(card.trust, evenness=0.999)))
