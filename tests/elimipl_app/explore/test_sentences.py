"""What the page says of answers and maps."""

from dataclasses import replace

import numpy as np
import pytest

from elimipl.answers.answer import Check, Verdict
from elimipl.answers.explain import KeptAlone
from elimipl.answers.predictor import Predictor
from elimipl.candidates.labels import COLON, LESION5, TISSUE7, LabelSpace
from elimipl.cards.calibration import ConfidenceBin, Reliability
from elimipl_app.explore import texts
from elimipl_app.explore.maps import RegionNumbers

PASSED = Check("size", True, 224.0, 112.0, "The shorter side measures 224 px.")


def test_classes_are_spelled_out():
    assert texts.class_in_words(TISSUE7, 6) == "Colorectal adenocarcinoma epithelium (TUM)"
    assert texts.class_in_words(LESION5, 3) == "Tubular adenoma"
    assert texts.class_in_words(LabelSpace.of(["cat", "dog"]), 1) == "dog"
    assert texts.beside_bar(COLON, 8) == "Muc · Mucus"
    assert texts.beside_bar(COLON, 0) == "N · Normal or non-neoplastic mucosa"


@pytest.mark.parametrize(
    ("kept", "word", "said"),
    [
        (
            KeptAlone(0.92, 0.91, 0.34),
            "holds",
            "enough for the answer: 91%; the quarter it points away from is not: 34%",
        ),
        (KeptAlone(0.99, 1.0, 0.86), "weak", "the quarter it points away from is worth less: 86%"),
        (KeptAlone(0.92, 0.95, 0.93), "weak", "the quarter it points away from is enough, too: 93%"),
        (KeptAlone(0.92, 0.40, 0.93), "does not hold", "is not enough for the answer: 40%"),
    ],
)
def test_the_line_under_the_map_has_an_icon_and_a_word_from_this_picture(kept, word, said):
    card = Predictor.load("tissue7-row-elimipl").card
    line = texts.kept_sentence(kept, card, "attention")
    assert texts.map_verdict(kept) == word
    assert line.startswith(f":material/{texts.VERDICT_ICONS[word]}: **{word.capitalize()}.**")
    assert said in line
    assert len(set(texts.VERDICT_ICONS.values())) == 3
    assert not any(jargon in line for jargon in ("AUROC", "coverage", "bags"))


def test_what_was_measured_of_the_first_map_is_said_in_words():
    card = Predictor.load("colon-deep-elimipl").card
    assert card.first_map is not None
    better = replace(card.first_map, name="attention", auroc=0.9, darkness=0.6)
    said = texts.measured_verdict(replace(card, first_map=better), "attention")
    assert said == f"Over {better.n} other pictures such maps find glands better than looking for dark places does."
    worse = replace(card, first_map=replace(better, auroc=0.55))
    assert "no better than" in (texts.measured_verdict(worse, "attention") or "")
    assert texts.measured_verdict(card, "leave_one_out") is None
    assert texts.measured_verdict(replace(card, first_map=None), "attention") is None


def test_agreement_is_said_without_jargon():
    assert "contradict each other" in texts.agreement_sentence(-0.5)
    assert "agree well" in texts.agreement_sentence(0.8)


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
    assert texts.possible(("TUM",), TISSUE7, 6) == "Nothing else is in the model's own 90 % set."
    assert texts.possible(("MUC", "TUM"), TISSUE7, 6).startswith("Could also be: Mucus (MUC) (")


def test_how_often_such_answers_are_right_is_a_count_or_too_few_to_tell():
    card = Predictor.load("colon-deep-elimipl").card
    counted = Reliability((ConfidenceBin(0.0, 0.9, 29, 20), ConfidenceBin(0.9, 1.0, 200, 186)), "held-back pictures")
    card = replace(card, reliability=counted)
    assert texts.counted_sentence(0.95, card) == [
        "On held-back pictures 93 of 100 answers this sure were right (n = 200)."
    ]
    assert texts.counted_sentence(0.3, card) == ["On held-back pictures 29 answers were this sure: too few to tell."]
    assert texts.counted_sentence(0.95, replace(card, reliability=None)) == []


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
