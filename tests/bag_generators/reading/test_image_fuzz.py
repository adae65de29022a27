"""Whatever bytes arrive, the outcome is a picture or one kind of error, and Python prints nothing."""

import warnings
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bag_generators.errors import InputError
from bag_generators.image import load
from fuzz.mutations import mutated
from fuzz.seeds import pictures

SEEDS = pictures()


def outcome_of(data):
    try:
        return load(data)
    except InputError as refusal:
        return refusal


@settings(max_examples=1200, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(st.sampled_from(SEEDS), st.integers(0, 2**32))
def check_mutated_files(picture, draw):
    outcome = outcome_of(mutated(picture, Random(draw)))
    if isinstance(outcome, InputError):
        assert outcome.what.endswith(".")
        assert outcome.fix.endswith(".")
        assert str(outcome).isprintable()
    else:
        assert outcome.pixels.dtype == np.uint8
        assert outcome.pixels.shape == (outcome.height, outcome.width, 3)
        assert outcome.pixels.size > 0
        assert outcome.pixels.flags.c_contiguous
        assert not outcome.pixels.flags.writeable


def test_damaged_files_give_a_picture_or_a_sentence_and_print_nothing(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_mutated_files()
    assert capsys.readouterr() == ("", "")


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.sampled_from([seed[:12] for seed in SEEDS] + [b""]), st.binary(max_size=300))
def test_noise_gives_a_sentence(start, noise):
    with pytest.raises(InputError):
        load(start + noise)
