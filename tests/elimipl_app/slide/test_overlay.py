"""What the viewer gets of a map."""

import base64
from dataclasses import replace

import numpy as np
import pytest

from elimipl_app.slide.seen import for_viewer, ramps
from tests.elimipl_app.slide.small_map import small_map


def numbers(text: str, kind: str, *shape: int) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), kind).reshape(shape)


def test_the_viewer_gets_every_tile_and_every_part():
    classes = np.array([[-1, 0, 6], [2, 3, 4]])
    weights = np.array([[0, 0.5, 1], [1.5, 2, 4]])
    sent = for_viewer("map", small_map(classes, 100, 300, 200, weights))
    assert numbers(sent["classes"], "u1", 2, 3).tolist() == [[255, 0, 6], [2, 3, 4]]
    assert numbers(sent["probability"], "<u2", 2, 3)[0].tolist() == pytest.approx([0, 57670, 57670], abs=2)
    position = numbers(sent["attention"], "<u2", 8, 12) / 65535
    attention = 2 ** ((2 * position - 1) * sent["octaves"])
    assert sent["octaves"] == 2
    assert attention[0].tolist() == pytest.approx(4 * [0.25] + 4 * [0.5] + 4 * [1], rel=1e-3)
    assert attention[4].tolist() == pytest.approx(4 * [1.5] + 4 * [2] + 4 * [4], rel=1e-3)
    assert (sent["parts"], sent["cell"], len(sent["names"]), len(sent["colours"])) == (4, 100, 7, 7)


def test_every_class_on_the_map_can_be_told_without_its_colour():
    classes = np.array([[-1, 0, 0, 6], [2, 0, 0, 6]])
    sent = for_viewer("map", small_map(classes, 100, 400, 200, np.ones((2, 4))))
    assert {sent["codes"][index] for _, _, index, _ in sent["marks"]} == {"DEB", "TUM", "MUC"}
    assert all(classes[row, column] == index for row, column, index, _ in sent["marks"])


def test_nearly_even_attention_stays_near_the_clear_middle():
    sent = for_viewer("map", small_map(np.array([[0, 0]]), 100, 200, 100, np.array([[0.98, 1.02]])))
    assert np.abs(numbers(sent["attention"], "<u2", 4, 8) / 65535 - 0.5).max() < 0.02


def test_the_colours_are_clear_where_there_is_nothing_to_say():
    probability, attention = (numbers(text, "u1", 256, 4)[:, 3].astype(int) for text in ramps().values())
    assert (probability[0], probability[255]) == (0, 255)
    assert (np.diff(probability) >= 0).all()
    assert attention[[0, 255]].min() > 150
    assert attention[[127, 128]].max() < 10


def test_label_sets_are_bits_where_the_model_has_them():
    made = small_map(np.array([[0, 6]]), 100, 200, 100, np.ones((1, 2)))
    assert for_viewer("map", made)["sets"] is None
    members = np.zeros((1, 2, 7), bool)
    members[0, 0, [0, 2]] = members[0, 1, 6] = True
    sent = for_viewer("map", replace(made, label_sets=members))
    assert numbers(sent["sets"], "<u4", 1, 2).tolist() == [[0b101, 0b1000000]]
