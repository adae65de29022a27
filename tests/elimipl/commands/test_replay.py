"""The command that gets a result again. That it does for results of the page is tested with the files of the page."""

import json

import pytest

from bag_generators import generate, load
from bag_generators.base.validation import plain
from elimipl.answers.predictor import Predictor
from elimipl.result_file import Field, Instances, Model, Numbers, Result, SavedPicture, differences
from tests.elimipl.commands.command_line import is_one_sentence_or_two, run


@pytest.fixture
def result(toy_folder, tiles):
    """What a page would write about the first pink tile."""
    image, predictor = load(tiles / "pink" / "0.png"), Predictor.load("toy-row-elimipl", toy_folder)
    bag, card = generate("row", image), predictor.card
    numbers = Numbers.of(predictor.predict(bag))
    field = Field(x=0, y=0, width=image.width, height=image.height)
    picture = SavedPicture(
        sha256=image.sha256, width=image.width, height=image.height, field=field, microns_per_pixel=None,
        scale_source="", sample=None, notes=(),
    )  # fmt: skip
    values = Result(
        notice="", picture=picture,
        bag=Instances(generator="row", params=dict(bag.params), instances=len(bag), removed=()),
        model=Model(id=card.id, sha256=card.sha256, method=card.method, label_space=card.label_space.id),
        candidates=("pink",), true_label=None, prediction=numbers, without_removed=None, answer={}, map={}, versions={},
    )  # fmt: skip
    return plain(values)


@pytest.fixture
def replay(toy_folder, tiles, tmp_path):
    def replayed(values, picture=None, *more):
        path = tmp_path / "result.json"
        path.write_text(values if isinstance(values, str) else json.dumps(values), encoding="utf-8")
        return run("replay", path, picture or tiles / "pink" / "0.png", "--folder", toy_folder, *more)

    return replayed


def test_the_same_numbers_end_well_and_those_that_differ_are_named(replay, result, capsys):
    assert replay(result) == 0
    assert capsys.readouterr().out.startswith("The same result: pink, ")
    result["prediction"]["probabilities"]["blue"] += 0.01
    result["prediction"]["attention"][3] += 1e-5
    assert replay(result) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines[:-1]] == ["probabilities.blue", "attention.3"]
    assert lines[-1] == "2 values differ from the file."
    assert replay(result, None, "--tolerance", "0.1") == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda r: r["model"].update(sha256="0" * 64), "the result is of 000000000000…"),
        (lambda r: r["model"].update(id="nobody"), "no model called “nobody”"),
        (lambda r: r["picture"]["field"].update(x=5000, width=64), "does not lie inside the picture"),
        (lambda r: r["bag"].update(generator="nothing"), "nothing"),
        (lambda r: r["bag"].update(params={"image": 1}), "has no parameter 'image'"),
        (lambda r: r["bag"].update(params={"name": "row"}), "has no parameter 'name'"),
        (lambda r: r["bag"].update(removed=[1]), "lacks the numbers without the removed instances"),
        (lambda r: r["picture"].update(sha256="abc"), "picture.sha256"),
        (lambda r: r.pop("bag"), "lacks the entry “bag”"),
    ],
)
def test_what_can_not_be_repeated_is_refused_in_a_sentence(replay, result, capsys, change, said):
    change(result)
    assert replay(result) == 2
    err = capsys.readouterr().err
    assert said in err
    assert is_one_sentence_or_two(err)


def test_another_picture_is_refused_by_its_hash(replay, result, tiles, capsys):
    assert replay(result, tiles / "pink" / "1.png") == 2
    err = capsys.readouterr().err
    assert err.startswith("This is not the picture of the result: its sha256 is ")
    assert is_one_sentence_or_two(err)


@pytest.mark.parametrize("text", ["", "[]", "{}", "not JSON", '{"picture": NaN}'])
def test_what_is_no_result_is_refused(replay, capsys, text):
    assert replay(text) == 2
    assert is_one_sentence_or_two(capsys.readouterr().err)


def test_a_number_that_is_missing_counts_as_different():
    some = Numbers(label="a", probabilities={"a": 1.0}, raw={"a": 1.0}, attention=(0.5, 0.5))
    other = Numbers(label="b", probabilities={"a": 1.0}, raw={"a": 1.0}, attention=(0.5,))
    assert differences(some, other) == ["label: a in the file, b now", "attention.1: 0.5 in the file, nothing now"]
    assert differences(some, some) == []
