"""The measurement of noise: it stays within the amount, finds what flips, and counts who notices."""

import numpy as np
import pytest

from scripts.measure_noise import AMOUNTS, Said, measured, random_noise, square_attack

TILE = np.full((32, 32, 3), 100, dtype=np.uint8)


def bright(pixels: np.ndarray) -> Said:
    """A model that asks whether the picture is brighter than 103, undecided up to 104; a check that notices 110."""
    mean = pixels.mean()
    share = float(np.clip((mean - 83) / 40, 0, 1))
    return Said(int(mean > 103), np.array([1 - share, share]), bool(mean < 110), bool(not 102 < mean < 104))


@pytest.mark.parametrize("amount", AMOUNTS)
def test_noise_stays_within_its_amount(amount):
    rng = np.random.default_rng(0)
    for noisy in (random_noise(TILE, amount, rng), square_attack(TILE, amount, bright, rng)):
        assert noisy.dtype == np.uint8
        assert 0 < np.abs(noisy.astype(int) - TILE).max() <= amount


def test_the_attack_finds_what_chance_does_not():
    found = measured(bright, [TILE])
    assert found["random"]["16"]["flipped"] == 0
    assert found["adversarial"]["1"]["flipped"] == 0
    assert found["adversarial"]["32"]["flipped"] == 1


def test_a_flip_that_no_check_notices_a_second_one_and_the_first(monkeypatch):
    monkeypatch.setattr("scripts.measure_noise.AMOUNTS", (5, 12))
    monkeypatch.setattr("scripts.measure_noise.random_noise", lambda pixels, amount, rng: pixels + np.uint8(amount))
    monkeypatch.setattr("scripts.measure_noise.square_attack", lambda pixels, *_: pixels + np.uint8(3.9))
    tiles = [TILE, TILE - np.uint8(1)]
    found = measured(bright, tiles)["random"]
    assert found["5"] == {"tiles": 2, "flipped": 2, "out_of_scope": 0, "undecided": 0}
    assert found["12"] == {"tiles": 2, "flipped": 2, "out_of_scope": 2, "undecided": 0}
    dim = [np.full_like(TILE, 98.0, dtype=np.float64) + 0.5]
    assert measured(bright, dim)["random"]["5"] == {"tiles": 1, "flipped": 1, "out_of_scope": 0, "undecided": 1}
