"""What the page says of answers and maps."""

from dataclasses import replace

import numpy as np
import pytest

from elimipl.answers.answer import Check, Verdict
from elimipl.answers.predictor import Predictor
from elimipl.candidates.labels import COLON, LESION5, TISSUE7, LabelSpace
from elimipl.cards.card import MethodTrust, Trust
from elimipl_app.explore import texts
from elimipl_app.explore.maps import RegionNumbers

PASSED = Check("size", True, 224.0, 112.0, "The shorter side measures 224 px.")


def test_classes_are_spelled_out():
    assert texts.class_in_words(TISSUE7, 6) == "Colorectal adenocarcinoma epithelium (TUM)"
    assert texts.class_in_words(LESION5, 3) == "Tubular adenoma"
    assert texts.class_in_words(LabelSpace.of(["cat", "dog"]), 1) == "dog"
    assert texts.beside_bar(COLON, 8) == "Muc · Mucus"
    assert texts.beside_bar(COLON, 0) == "N · Normal or non-neoplastic mucosa"


def test_the_line_of_trust_says_what_was_measured_or_that_nothing_was():
    card = replace(Predictor.load("tissue7-row-elimipl").card, measured={})
    assert "Not measured" in texts.trust_line(replace(card, trust=None), "attention")
    method = MethodTrust(0.87, 0.5, 0.4, 0.21, 0.15, 0.27, 0.6)
    measured = replace(card, trust=Trust("other tiles", 401, 300, 0.3, 0.9, 0.6, {"single": method}, {}, 1))
    line = texts.trust_line(measured, "vote")
    assert "AUROC 0.87" in line
    assert "21 points more than chance" in line
    assert "(n = 300)" in line
    assert "Not measured" in texts.trust_line(measured, "attention")


def test_a_model_of_the_colon_says_what_its_maps_were_measured_on():
    card = Predictor.load("colon-deep-elimipl").card
    line = texts.trust_line(card, "attention")
    assert card.first_map is not None
    assert f"{card.first_map.on} (n = {card.first_map.n}): {card.first_map.auroc:.2f}" in line
    assert "Kept alone" in texts.trust_line(replace(card, first_map=None), "attention")
    assert card.first_map.chosen_on in texts.trust_line(card, "contribution")
    assert "Not measured" in texts.trust_line(card, "leave_one_out")


def test_a_region_is_compared_with_its_area():
    said = texts.region_sentence(RegionNumbers(0.6, 0.2, 3, 0.91), "Attention")
    assert "60% of the attention" in said
    assert "3.0 times its share" in said
    assert "AUROC 0.91" in said
    assert "AUROC" not in texts.region_sentence(RegionNumbers(0.0, 0.0, 0, None), "Attention")


def test_contributions_add_up_in_words():
    said = texts.contribution_sentence("TUM", np.array([2.0, 1.0, -0.5]))
    assert said == "For TUM: +3.00 from patches for it, -0.50 from patches against it; score +2.50."


def test_the_set_of_possible_labels_is_said_in_words():
    assert texts.possible(("TUM",), TISSUE7, 6) == "The model's own 90 % set holds no other label."
    assert texts.possible(("MUC", "TUM"), TISSUE7, 6).startswith("The model's own 90 % set: Mucus (MUC), ")
    assert "Mucus (MUC), " in texts.possible(("MUC", "TUM"), TISSUE7, 6)


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (Verdict((PASSED,), ()), "The picture passed all checks: size."),
        (
            Verdict((PASSED,), ("blur",)),
            "Not checked whether the model knows pictures like this one. The picture passed: size. "
            "This model came without limits for: focus.",
        ),
        (
            Verdict((PASSED,), (), "drawn phantoms"),
            "The picture passed all checks: size. This model has learned from drawn phantoms only.",
        ),
    ],
)
def test_what_the_page_says_of_the_scope(verdict, said):
    assert texts.scope_sentence(verdict) == said
