"""Label spaces: order, looks, and what is refused."""

import json

import numpy as np
import pytest
from skimage.color import deltaE_ciede2000, rgb2lab

from bag_generators.base.errors import InputError
from elimipl.candidates.labels import COLON, LESION5, TISSUE7, LabelSpace


@pytest.mark.parametrize("space", [TISSUE7, LESION5])
def test_the_shipped_spaces_are_alphabetical_and_complete(space):
    assert list(space.names) == sorted(space.names)
    assert len(set(space.colours)) == len(space)
    assert all(text.endswith(".") for text in space.descriptions)
    assert [space.index(name) for name in space.names] == list(range(len(space)))


def test_the_papers_classes_and_any_number_of_others_have_distinct_colours():
    assert TISSUE7.names == ("DEB", "LYM", "MUC", "MUS", "NORM", "STR", "TUM")
    assert "NCT-CRC-HE" in TISSUE7.source
    assert len(set(LabelSpace.of(map(str, range(40))).colours)) == 40


@pytest.mark.parametrize("space", [TISSUE7, LESION5, COLON, LabelSpace.of(["ü", "b"], id="x", source="somewhere")])
def test_a_json_round_trip_gives_an_equal_space(space):
    assert LabelSpace.from_dict(json.loads(json.dumps(space.to_dict()))) == space


def test_the_twelve_classes_of_the_colon_have_other_names_in_files_than_on_pages():
    assert COLON.names == (
        *("normal", "low_grade", "high_grade", "serrated", "carcinoma", "stroma", "muscle"),
        *("lymphocytes", "mucus", "debris", "fat", "glass"),
    )
    assert COLON.title("normal") == "normal or non-neoplastic mucosa"
    assert all(
        said.lower().startswith(f"{title}:") for title, said in zip(COLON.titles, COLON.descriptions, strict=True)
    )


def test_titles_are_the_names_unless_given_and_unknown_names_are_answered():
    assert LESION5.titles[2] == "serrated adenoma"
    older = {name: value for name, value in TISSUE7.to_dict().items() if name != "titles"}
    assert LabelSpace.from_dict(older) == TISSUE7
    assert TISSUE7.title("ADI") == "ADI"
    with pytest.raises(InputError, match=r"“ADI” is not a class.*DEB, LYM"):
        TISSUE7.index("ADI")


@pytest.mark.parametrize("space", [TISSUE7, LESION5, COLON, LabelSpace.of(["Aa", "aab", "b", "long name"])])
def test_codes_tell_every_class_apart_without_colour(space):
    assert len({code.lower() for code in space.codes}) == len(space)
    assert all(name.lower().startswith(code.lower()) for name, code in zip(space.names, space.codes, strict=True))


# What people with one kind of cones missing see, in linear RGB (Machado, Oliveira and Fernandes 2009).
MISSING = {
    "none": np.eye(3),
    "long": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "middle": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "short": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}


@pytest.mark.parametrize(("cones", "apart"), [("none", 20), ("long", 10), ("middle", 10), ("short", 10)])
def test_the_colours_of_the_colon_are_told_apart(cones, apart):
    rgb = np.array([[int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)] for colour in COLON.colours])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ np.array(MISSING[cones]).T, 0, 1)
    lab = rgb2lab(np.where(seen <= 0.0031308, 12.92 * seen, 1.055 * seen ** (1 / 2.4) - 0.055))
    distances = deltaE_ciede2000(lab[:, None], lab[None])
    assert distances[np.triu_indices(len(COLON), 1)].min() >= apart


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"id": "No spaces"}, "can't name a label space"),
        ({"names": ("a",), "colours": ("#000000",), "descriptions": ("",)}, "at least two classes"),
        ({"names": ("a", "a")}, "its own name"),
        ({"names": ("a", " ")}, "its own name"),
        ({"colours": ("#000000",)}, "one colour and one description"),
        ({"titles": ("one",)}, "one title each or none"),
        ({"titles": ("one", "two\n")}, "can't be shown"),
        ({"colours": ("red", "#000000")}, "“red” is not a colour"),
    ],
)
def test_a_broken_space_is_refused_with_a_sentence(values, sentence):
    sound = {"id": "x", "names": ("a", "b"), "colours": ("#000000", "#111111"), "descriptions": ("", "")}
    with pytest.raises(InputError, match=sentence):
        LabelSpace(**{**sound, **values})


@pytest.mark.parametrize("values", [{}, {"id": "x"}, {**TISSUE7.to_dict(), "extra": 1}, ["tissue7"], None])
def test_a_damaged_description_is_refused(values):
    with pytest.raises(InputError, match="The label space"):
        LabelSpace.from_dict(values)
