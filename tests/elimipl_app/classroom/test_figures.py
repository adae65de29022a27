"""The figures of a class: what they show, and names that are no markup."""

import json

import numpy as np
import pytest

from elimipl.classroom.outcome import Fit
from elimipl_app.classroom import texts
from elimipl_app.classroom.figures import answer_bars, confusion_map, cost_bars, vote_bars
from elimipl_app.shell.palette import DARK, LIGHT
from tests.elimipl_app.classroom.a_class import OUTCOME

STRANGE = ["<b>one</b>", "a&b %{y}", "<a href='http://example.org'>three</a>"]


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_no_label_is_taken_for_markup(palette):
    figures = (
        vote_bars([3, 1, 0], [2, 1, 0], 3, STRANGE, palette, truth=0),
        confusion_map(np.eye(3), STRANGE, palette),
    )
    for figure in figures:
        drawn = json.dumps(figure.to_plotly_json(), default=str)
        assert "<b>" not in drawn
        assert "<a " not in drawn
        assert "&lt;b&gt;one" in drawn


def test_the_true_label_is_marked_and_two_thirds_drawn_where_somebody_answered():
    figure = vote_bars([3, 1, 0], [2, 1, 0], 3, "abc", LIGHT, truth=1)
    assert list(figure.layout.yaxis.ticktext) == ["a", "b ✓", "c"]
    assert figure.layout.shapes[0].x0 == pytest.approx(2)
    assert not vote_bars([0, 0, 0], [0, 0, 0], 0, "abc", LIGHT).layout.shapes
    assert list(answer_bars([2, 0], 2, LIGHT).data[0].y) == [2, 0]


def test_labels_that_nobody_saw_a_picture_of_have_no_row():
    shares = np.array([[1.0, 0.5, 0.0], [np.nan] * 3, [0.0, 0.0, 1.0]])
    figure = confusion_map(shares, "abc", LIGHT)
    assert list(figure.layout.yaxis.ticktext) == ["a", "c"]
    assert figure.data[0].text[0][1] == "50%"


def test_what_was_not_measured_has_no_bar():
    bars = [trace for trace in cost_bars(OUTCOME, "held_out", LIGHT).data if trace.type == "bar"]
    assert [list(bar.x) for bar in bars] == [[0.5], []]


def test_numbers_and_names_have_room_on_a_phone():
    """Below bars of equal width side by side they touched at 390 px."""
    figure = cost_bars(OUTCOME, "held_out", LIGHT)
    (numbers,) = (one for one in figure.data if one.type == "scatter" and one.mode == "text" and one.text)
    assert numbers.text == ("50%",)
    assert numbers.x[0] > 1  # beyond every bar, each in a line of its own
    assert figure.data[0].orientation == "h"
    assert numbers.x[0] < figure.layout.xaxis.range[1]
    assert answer_bars([1] * 28, 1, LIGHT).layout.xaxis.nticks <= 16


@pytest.mark.parametrize(("lost", "said"), [(0.004, "no accuracy"), (0.01, "1 point of"), (0.02, "2 points of")])
def test_the_cost_is_said_in_words(lost, said):
    fits = [Fit(method="elimipl", arm=arm, held_out=(0.5 - less,), disambiguation=()) for arm, less in
            (("truth", 0.0), ("class", lost))]  # fmt: skip
    (sentence,) = texts.cost_sentences(OUTCOME.model_copy(update={"fits": tuple(fits)}))
    assert said in sentence
