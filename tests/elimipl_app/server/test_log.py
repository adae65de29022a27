"""The lines of the log: JSON, one a line, with facts of the program's own and nothing a person gave."""

import json
from pathlib import Path

import pytest

from bag_generators import InputError, load
from elimipl.answers.predictor import Predictor
from elimipl_app.server.log import FAULT, OK, REFUSED, log_event, model_name, picture_name, raised_in, timed


def lines(capsys) -> list[dict]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_a_line_is_json_with_time_event_and_outcome(capsys):
    log_event("predict", image="abc", ms=1.5)
    (line,) = lines(capsys)
    assert list(line) == ["time", "event", "image", "ms", "outcome"]
    assert line["time"].endswith("Z")
    assert (line["event"], line["image"], line["ms"], line["outcome"]) == ("predict", "abc", 1.5, OK)


def test_a_line_break_in_a_fact_begins_no_new_line(capsys):
    log_event("load", image='x\n{"event": "forged"}')
    assert [line["event"] for line in lines(capsys)] == ["load"]


def test_a_refusal_is_told_by_its_place_not_by_its_text(capsys):
    with pytest.raises(InputError), timed("load", **picture_name("0123456789abcdef")):
        load(b"secret-name.png")
    (line,) = lines(capsys)
    assert line["outcome"] == REFUSED
    assert line["image"] == "0123456789ab"
    assert line["where"].startswith("bag_generators.")
    assert line["ms"] >= 0
    assert "secret" not in json.dumps(line)


def test_a_fault_is_told_by_its_kind_and_place(capsys):
    with pytest.raises(ZeroDivisionError), timed("predict"):
        json.dumps(1 / 0)
    (line,) = lines(capsys)
    assert (line["outcome"], line["kind"]) == (FAULT, "ZeroDivisionError")
    assert line["where"].startswith("tests.elimipl_app.server.test_log.test_a_fault")


def test_a_place_outside_the_project_is_just_elsewhere():
    with pytest.raises(ValueError, match="Expecting") as caught:
        json.loads("{")
    assert raised_in(caught.value.with_traceback(caught.value.__traceback__.tb_next)) == "elsewhere"


def test_models_of_visitors_are_named_by_their_sum():
    card = Predictor.load("tissue7-sbn-elimipl").card
    assert model_name(card) == {"generator": "sbn", "model": "tissue7-sbn-elimipl"}
    own = type(card)(**{**vars(card), "id": "mine-1-jane-doe-sbn-elimipl", "generator": "jane-does-own"})
    assert model_name(own) == {"generator": "other", "model": f"mine-{card.sha256[:12]}"}


def test_a_log_that_can_t_be_written_stops_nothing(monkeypatch):
    class Full:
        def write(self, text):
            raise OSError(28, "No space left on device")

        def flush(self):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("sys.stderr", Full())
    log_event("load")


def test_every_file_of_the_pages_logs_through_this_one_module():
    root = Path(__file__).resolve().parents[3]
    for path in [*root.glob("elimipl_app/**/*.py"), *root.glob("pages/*.py"), root / "app.py"]:
        if path.name != "log.py":
            assert "import logging" not in path.read_text(encoding="utf-8"), path
