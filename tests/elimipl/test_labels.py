"""Label spaces: order, looks, and what is refused."""

import json

import pytest

from bag_generators.errors import InputError
from elimipl.labels import LESION5, TISSUE7, LabelSpace


@pytest.mark.parametrize("space", [TISSUE7, LESION5])
def test_the_shipped_spaces_are_alphabetical_and_complete(space):
    assert list(space.names) == sorted(space.names)
    assert len(set(space.colours)) == len(space)
    assert all(text.endswith(".") for text in space.descriptions)
    assert [space.index(name) for name in space.names] == list(range(len(space)))


def test_the_papers_seven_tissue_types():
    assert TISSUE7.names == ("DEB", "LYM", "MUC", "MUS", "NORM", "STR", "TUM")
    assert "NCT-CRC-HE" in TISSUE7.source


@pytest.mark.parametrize("space", [TISSUE7, LESION5, LabelSpace.of(["ü", "b"], id="x", source="somewhere")])
def test_a_json_round_trip_gives_an_equal_space(space):
    assert LabelSpace.from_dict(json.loads(json.dumps(space.to_dict()))) == space


def test_any_number_of_classes_gets_distinct_colours():
    assert len(set(LabelSpace.of(map(str, range(40))).colours)) == 40


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"id": "No spaces"}, "can't name a label space"),
        ({"names": ("a",), "colours": ("#000000",), "descriptions": ("",)}, "at least two classes"),
        ({"names": ("a", "a")}, "its own name"),
        ({"names": ("a", " ")}, "its own name"),
        ({"colours": ("#000000",)}, "one colour and one description"),
        ({"colours": ("red", "#000000")}, "“red” is not a colour"),
    ],
)
def test_a_broken_space_is_refused_with_a_sentence(values, sentence):
    sound = {"id": "x", "names": ("a", "b"), "colours": ("#000000", "#111111"), "descriptions": ("", "")}
    with pytest.raises(InputError, match=sentence):
        LabelSpace(**{**sound, **values})


def test_an_unknown_class_is_answered_with_the_known_ones():
    with pytest.raises(InputError, match=r"“ADI” is not a class.*DEB, LYM"):
        TISSUE7.index("ADI")


@pytest.mark.parametrize("values", [{}, {"id": "x"}, {**TISSUE7.to_dict(), "extra": 1}, ["tissue7"], None])
def test_a_damaged_description_is_refused(values):
    with pytest.raises(InputError, match="The label space"):
        LabelSpace.from_dict(values)
