"""Which model opens with which kind of picture."""

from dataclasses import replace
from unittest.mock import patch

import pytest

from elimipl.answers.predictor import Predictor
from elimipl.datasets.pictures import PHANTOMS
from elimipl_app.inputs.method import fit_to_picture

TISSUE = Predictor.load("tissue7-sbn-elimipl").card
DRAWN = replace(
    TISSUE,
    id="drawn7-row-elimipl",
    generator="row",
    pictures=PHANTOMS,
    label_space=replace(TISSUE.label_space, id="drawn7"),
)


@pytest.fixture
def state():
    with (
        patch("elimipl_app.inputs.method.st") as streamlit,
        patch("elimipl_app.inputs.method.shipped_models", return_value=((TISSUE, DRAWN), ())),
        patch("elimipl_app.inputs.method.address.everything", return_value={}) as link,
    ):
        streamlit.session_state = {}
        yield streamlit.session_state, link


def test_drawings_open_with_a_model_of_drawings_and_tissue_with_one_of_tissue(state):
    chosen, _ = state
    fit_to_picture(drawn=True)
    assert (chosen["generator"], chosen["labels"]) == ("row", "drawn7")
    chosen["generator"] = "sbn"  # a person's own choice stays until the kind of picture changes
    fit_to_picture(drawn=True)
    assert chosen["generator"] == "sbn"
    fit_to_picture(drawn=False)
    assert (chosen["generator"], chosen["labels"]) == ("sbn", "tissue7")
    fit_to_picture(drawn=True)
    assert (chosen["generator"], chosen["labels"]) == ("row", "drawn7")


def test_a_link_that_names_a_model_is_not_overruled(state):
    chosen, link = state
    link.return_value = {"generator": "sbn"}
    fit_to_picture(drawn=True)
    assert "labels" not in chosen
