"""Turns of trainings: the order of the line, visitors with several runs, turns that take too long."""

import pytest

from bag_generators import InputError
from ui.train import turns
from ui.train.turns import Turns


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(turns.time, "monotonic", lambda: now[0])
    return now


def places(line, *runs):
    return [line.place(run) for run in runs]


def test_turns_go_by_the_order_in_line():
    line = Turns(at_once=2)
    for run in "abcd":
        line.join(run, run)
    assert places(line, *"abcd") == [0, 0, 1, 2]
    line.leave("b")
    assert places(line, *"acd") == [0, 0, 1]
    line.leave("b")
    line.leave("never there")
    assert line.waiting() == 1


def test_visitors_without_a_turn_go_before_those_who_have_one():
    line = Turns(at_once=1)
    for run, owner in (("a1", "ann"), ("a2", "ann"), ("a3", "ann"), ("b", "bob")):
        line.join(run, owner)
    assert places(line, "a1", "a2", "a3", "b") == [0, 2, 3, 1]
    line.leave("a1")
    assert line.place("a2") == 0  # nobody has a turn: the order of coming counts
    assert places(line, "b", "a3") == [1, 2]


def test_a_turn_ends_when_its_time_is_up_and_somebody_waits(clock):
    line = Turns(at_once=1, slice_seconds=10)
    line.join("a", "a")
    clock[0] = 50.0
    line.give_way("a", lambda: True)
    assert line.place("a") == 0  # nobody waits
    line.join("b", "b")
    line.give_way("a", lambda: True)
    assert places(line, "b", "a") == [0, 1]
    clock[0] = 55.0
    line.give_way("b", lambda: True)
    assert places(line, "b", "a") == [0, 1]  # its time is not up


def test_a_line_that_is_too_long_is_said():
    line = Turns(at_once=1, most=1)
    line.join("a", "a")
    line.join("b", "b")
    with pytest.raises(InputError, match="1 trainings run on this server and 1 wait"):
        line.join("c", "c")
    assert places(line, "a", "b", "c") == [0, 1, 0]
    line.leave("a")
    line.join("c", "c")
