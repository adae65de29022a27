"""The answer that commands and pages share: what it trusts, what it says, and what it leaves open."""

from dataclasses import replace

import numpy as np
import pytest

from bag_generators.scale import ScaleDecision
from bag_generators.tissue.nuclei import ScaleEstimate
from elimipl.answers.answer import Answer, Check, Verdict, answer
from elimipl.answers.predictor import Predictor
from elimipl.cards.calibration import ConfidenceBin, Reliability
from elimipl.cards.conformal import Conformal

PASSED = Check("size", True, 1.0, 2.0, "It is large enough.")
FAILED = Check("tissue", False, 1.0, 2.0, "There is too little tissue.")


def sets(*thresholds: float) -> Conformal:
    return Conformal((thresholds,) * 3, (20,) * len(thresholds), "toy bags")


@pytest.fixture
def asked(toy_predictor, toy_bag):
    """An answer about the toy bag by a model with these thresholds and this verdict."""

    def ask(thresholds: Conformal | None, checks=(PASSED,), not_checked=()) -> Answer:
        counted = Reliability((ConfidenceBin(0.3, 1.0, 10, 9),), "kept-back tiles")
        card = replace(toy_predictor.card, conformal=thresholds, reliability=counted)
        predictor = Predictor(toy_predictor.network, toy_predictor.scaler, card)
        return Answer.of(predictor, predictor.predict(toy_bag), Verdict(checks, not_checked))

    return ask


def test_trusted_when_every_check_passed_and_one_label_is_possible(asked):
    found = asked(sets(1.0, 0.1, 1.0))
    assert (found.label, found.label_set, found.trusted, found.no_answer) == ("pink", ("pink",), True, False)
    assert found.warnings == ()
    assert [one.name for one in found.checks] == ["size", "label_set"]
    assert (
        found.reliability
        == "Of its answers on kept-back tiles that were this sure (30 to 100 %), 90 % were right (n = 10)."
    )
    assert found.sentences()[0].endswith("every check passed. Possible at 90 % coverage: pink.")
    values = found.to_dict()
    assert list(values) == [
        *("label", "probability", "label_set", "trusted", "declined", "in_scope", "trained_on"),
        *("checks", "not_checked", "reliability", "scale"),
    ]
    assert (values["label_set"], values["trusted"]) == (["pink"], True)
    highest = asked(sets(1.0, 1.0, 1.0))  # the answer is in its own set however high the thresholds
    assert (highest.label, highest.label_set, highest.no_answer) == ("pink", ("pink",), False)
    assert highest.checks[-1].reason == "At 90 % coverage pink is the only possible label."


@pytest.mark.parametrize(
    ("thresholds", "possible", "no_answer", "said"),
    [
        ((1.0, 0.1, 0.0), ("pink", "white"), False, "pink and white are possible: the model can't decide"),
        ((0.0, 0.0, 0.0), ("blue", "pink", "white"), True, "every label is possible: the model has no answer"),
        ((0.0, 1.0, 1.0), ("blue", "pink"), False, "blue and pink are possible: the model can't decide"),
    ],
)
def test_anything_but_the_single_label_is_not_trusted(asked, thresholds, possible, no_answer, said):
    found = asked(sets(*thresholds))
    assert (found.label_set, found.trusted, found.no_answer) == (possible, False, no_answer)
    assert said in found.warnings[0]
    assert said in found.to_dict()["checks"][-1]["reason"]


def test_people_read_titles_and_programs_names(asked):
    found = asked(sets(1.0, 0.1, 0.0))
    titled = replace(found, label_space=replace(found.label_space, titles=("sky", "rose", "snow")))
    assert titled.sentences()[0].startswith("rose, ")
    assert titled.sentences()[0].endswith("coverage: rose, snow.")
    assert (titled.to_dict()["label"], titled.to_dict()["label_set"]) == ("pink", ["pink", "white"])


def test_a_failed_check_a_check_not_made_and_sets_not_calibrated_are_not_trusted(asked):
    single = sets(1.0, 0.1, 1.0)
    assert asked(single, (PASSED, FAILED)).trusted is False
    assert asked(single, (PASSED, FAILED)).warnings == ("There is too little tissue.",)
    open_question = asked(single, (PASSED,), ("colour",))
    assert (open_question.trusted, open_question.to_dict()["in_scope"]) == (False, None)
    old = asked(None)
    assert (old.label_set, old.trusted, old.not_checked) == (None, False, ("label_set",))
    assert "Not checked" in old.warnings[0]


def test_the_scope_is_judged_by_the_card(toy_predictor, toy_bag):
    found = answer({}, toy_predictor, toy_bag, toy_predictor.predict(toy_bag))
    assert {"distance", "entropy"} <= {one.name for one in found.checks}
    assert "size" in found.not_checked


def test_a_label_set_follows_the_probabilities(toy_predictor, toy_bag):
    prediction = replace(toy_predictor.predict(toy_bag), label_sets=sets(0.2, 0.3, 0.5))
    certain = replace(prediction, probabilities=np.array([0.3, 0.36, 0.34]))
    assert certain.label_set() == ("blue", "pink")
    assert certain.label_set(0.8) == ("blue", "pink")
    assert replace(certain, label_sets=None).label_set() is None


def test_a_doubted_scale_is_not_to_be_trusted_but_no_reason_to_decline(toy_predictor, toy_bag):
    given = Answer.of(toy_predictor, toy_predictor.predict(toy_bag), Verdict((), ()))
    unsure = ScaleDecision(0.5, "assumed", "assumed", ScaleEstimate(0.15, 0.05, 0.3, 9), doubted=True)
    sure = ScaleDecision(0.5, "assumed", "assumed", None, doubted=False)
    doubted, fine = given.read_at(unsure), given.read_at(sure)
    assert fine.trusted == given.trusted
    assert not doubted.trusted
    assert doubted.declined == given.declined
    assert unsure.sentence in doubted.warnings
    assert doubted.to_dict()["scale"]["origin"] == "assumed"
