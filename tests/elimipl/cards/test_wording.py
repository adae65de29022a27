"""What is said of a model's card: every number with its n and what it was measured on."""

from dataclasses import replace

import pytest

from elimipl.cards.card import SIGNS, Acceptance, Kept
from elimipl.cards.wording import all_sentences, evenness_sentence, kept_sentence, trust_summary
from elimipl.predictor import Predictor

SOURCE = {
    "n": 1200, "right": 0.9, "interval": [0.88, 0.92], "trusted": 0.6, "trusted_and_wrong": 0.012,
    "calibration_error": 0.04, "sets_cover": 0.91, "set_size": 1.5, "kept_alone": {"most": -0.01, "least": -0.2},
}  # fmt: skip


@pytest.fixture
def card(toy_card):
    """A card with numbers of two sources and a rule that was tried on one left out."""
    ones = (1.0,) * len(SIGNS)
    rule = Acceptance(ones, ones, ones, 0.0, 0.9, 10, "left-out sources", {"far": Kept(500, 0.5, 0.2, 0.03)})
    other = {**SOURCE, "n": 300, "trusted": 0.4, "kept_alone": {"most": -0.02, "least": -0.3}}
    return replace(toy_card, acceptance=rule, measured={"near": SOURCE, "other": other, "note": "no source"})


def test_sources_left_out_sources_and_quarters_are_said_with_their_n(card):
    said = "\n".join(all_sentences(card))
    assert "near, held back (n = 1,200): 90% right (88% to 92%), 60% trusted, 1.2% trusted and wrong" in said
    assert "90 % sets hold the label in 91%, 1.5 labels on average" in said
    assert "far, left out of all learning (n = 500): 50% right, 20% trusted, 3.0% trusted and wrong." in said
    assert "right in at least 90 of 100 cases" in said
    assert trust_summary(card) == (
        "Held-back pictures: 40% to 60% trusted, 1% trusted and wrong; sources left out: 20% trusted, 3% trusted and "
        "wrong."
    )
    said = kept_sentence(card)
    assert "by -2 to -1 points" in said
    assert "the quarter with least by -30 to -20 (held-back pictures of near, other; n = 1,500)" in said


def test_a_card_without_numbers_says_so(toy_card):
    bare = replace(toy_card, accuracy=None)
    assert all_sentences(bare)[0] == "The accuracy of this model was not measured."
    assert (trust_summary(bare), kept_sentence(bare), evenness_sentence(bare)) == ("", None, None)


def test_even_attention_is_said():
    card = Predictor.load("drawn7-row-elimipl").card
    assert "nearly even" in evenness_sentence(replace(card, trust=replace(card.trust, evenness=0.999)))
