"""The probability bars say what the model says, in the right colours."""

import numpy as np
import pytest

from elimipl.candidates.labels import TISSUE7
from elimipl_app.charts.bars import BarGroup, class_bars, outside_mass, three_bars
from elimipl_app.shell.palette import DARK, LIGHT

PROBABILITIES = np.array([0.05, 0.1, 0.15, 0.2, 0.25, 0.2, 0.05])
CANDIDATES = np.array([True, False, False, False, True, False, True])


def groups(palette=LIGHT):
    return (
        BarGroup("candidate", CANDIDATES, palette.candidate),
        BarGroup("non-candidate", ~CANDIDATES, palette.non_candidate),
    )


def bars(figure, name):
    return next(trace for trace in figure.data if trace.name == name)


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_every_class_has_one_bar_in_the_colour_of_its_group(palette):
    before = np.full(7, 1 / 7)
    figure = class_bars(PROBABILITIES, TISSUE7, groups(palette), palette, true_index=4, before=before)
    shown = {
        name: value
        for group in ("candidate", "non-candidate")
        for name, value in zip(bars(figure, group).y, bars(figure, group).x, strict=True)
    }
    assert shown == dict(zip(TISSUE7.names, PROBABILITIES, strict=True))
    assert sum(shown.values()) == pytest.approx(1)
    assert set(bars(figure, "candidate").y) == {"DEB", "NORM", "TUM"}
    assert bars(figure, "candidate").marker.color == palette.candidate
    assert bars(figure, "non-candidate").marker.color == palette.non_candidate
    outlines = zip(bars(figure, "candidate").y, bars(figure, "candidate").marker.line.color, strict=True)
    assert [name for name, line in outlines if line == palette.text] == ["NORM"]
    np.testing.assert_allclose(bars(figure, "before").x, before)


def test_classes_are_spelled_out_beside_their_bars_in_lines_that_fit():
    words = [f"{name} <i>in many words that go on and on</i>" for name in TISSUE7.names]
    axis = class_bars(PROBABILITIES, TISSUE7, groups(), LIGHT, words=words).layout.yaxis
    assert list(axis.tickvals) == list(TISSUE7.names)
    assert axis.ticktext[0].startswith("DEB &lt;i&gt;in")
    assert max(len(line.replace("&lt;", "<").replace("&gt;", ">")) for line in axis.ticktext[0].split("<br>")) <= 30


def test_three_bars_of_figure_two():
    trace = three_bars(PROBABILITIES, CANDIDATES, LIGHT, true_index=4).data[0]
    shown = dict(zip(trace.y, trace.x, strict=True))
    assert shown["true label"] == pytest.approx(0.25)
    assert shown["average candidate"] == pytest.approx((0.05 + 0.25 + 0.05) / 3)
    assert shown["average non-candidate"] == pytest.approx((0.1 + 0.15 + 0.2 + 0.2) / 4)
    assert outside_mass(PROBABILITIES, CANDIDATES) == pytest.approx(0.65)
    trace = three_bars(PROBABILITIES, np.ones(7, dtype=bool), LIGHT).data[0]  # nobody knows the truth or rules out
    assert list(trace.y) == ["average candidate", "average non-candidate"]
    assert trace.x[1] == 0
