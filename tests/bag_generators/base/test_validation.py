"""Facts from files: one meaning, one sentence for whatever is wrong, and the way to the entry."""

from dataclasses import dataclass

import pytest

from bag_generators.base.errors import InputError
from bag_generators.base.validation import STRICT, Record, Whole, parse_json, plain, read_json, validated


@dataclass(frozen=True)
class Part:
    __pydantic_config__ = STRICT

    size: float

    def __post_init__(self) -> None:
        if self.size < 0:
            raise InputError(f"A size of {self.size:g} can't be.", "Give a positive one.")


class Thing(Record):
    name: str
    count: Whole
    parts: tuple[Part, ...]
    good: bool = True


SOUND = {"name": "a", "count": 2, "parts": [{"size": 1}, {"size": 2.5}]}


def test_a_sound_record_comes_back_from_its_plain_values():
    thing = validated(Thing, SOUND, "The thing")
    assert thing.parts == (Part(1.0), Part(2.5))
    assert plain(thing) == {**SOUND, "parts": [{"size": 1.0}, {"size": 2.5}], "good": True}
    assert validated(Thing, plain(thing), "The thing") == thing
    with pytest.raises(InputError, match="The thing is not a table"):
        validated(Thing, [1], "The thing")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": 3}, "The entry “name” of the thing is not a text."),
        ({"count": 2.5}, "The entry “count” of the thing is not a whole number."),
        ({"count": True}, "The entry “count” of the thing is not a whole number."),
        ({"count": 2**80}, "The thing is damaged at “count”"),
        ({"parts": {}}, "The entry “parts” of the thing is not a list."),
        ({"parts": [{"size": "1"}]}, "The entry “parts.0.size” of the thing is not a number."),
        ({"parts": [{"size": float("inf")}]}, "The entry “parts.0.size” of the thing is not a number."),
        ({"parts": [3]}, "The entry “parts.0” of the thing is not a table."),
        ({"parts": [{}]}, "The thing lacks the entry “parts.0.size”."),
        ({"parts": [{"size": 1, "weight": 2}]}, "The thing has an unknown entry “parts.0.weight”."),
        ({"parts": [{"size": -1}]}, "The thing is damaged at “parts.0”: A size of -1 can't be."),
        ({"good": "yes"}, "The entry “good” of the thing is not true or false."),
        ({"name": "\ud800"}, "The thing holds something that can't be shown."),
    ],
    ids=str,
)
def test_what_is_wrong_is_named_by_its_path(change, said):
    with pytest.raises(InputError) as refused:
        validated(Thing, {**SOUND, **change}, "The thing", "Make it again.")
    assert refused.value.what.startswith(said)
    assert refused.value.fix in ("Make it again.", "Give a positive one.")


@pytest.mark.parametrize(
    "text",
    ["", "{", "NaN", "[Infinity]", '"\\ud800"', "[" * 100_000, "1" * 5000, b"\xff\xfe"],
    ids=["empty", "cut", "nan", "infinity", "surrogate", "nested", "endless number", "no text"],
)
def test_what_is_not_json(text):
    with pytest.raises(InputError, match=r"The file “x” is not JSON\."):
        parse_json(text, "The file “x”")


def test_files_that_can_t_be_read(tmp_path):
    with pytest.raises(InputError, match=r"The list does not exist. Get it again."):
        read_json(tmp_path / "gone.json", "The list", "Get it again.")
    with pytest.raises(InputError, match="The list can't be read"):
        read_json(tmp_path, "The list")
