"""Decoded pixels of all visitors share one budget: the picture that finds no room is refused with a sentence."""

import gc

import pytest

from bag_generators import InputError
from bag_generators.tissue.samples import list_samples
from elimipl_app.server import pixels

SAMPLE = list_samples()[0]
DATA = (SAMPLE.folder / SAMPLE.file).read_bytes()
BYTES = SAMPLE.load().pixels.nbytes


@pytest.fixture
def room_for_two(monkeypatch):
    gc.collect()
    monkeypatch.setattr(pixels, "_ways_to_make_room", [])
    monkeypatch.setattr(pixels, "MOST_BYTES", pixels.held_bytes() + 2 * BYTES)


def test_the_third_picture_is_asked_to_wait_until_one_has_gone(room_for_two):
    first, second = pixels.read_upload(DATA), pixels.read_upload(DATA)
    with pytest.raises(InputError, match="as many large pictures as it can"):
        pixels.read_upload(DATA)
    part = second.pixels[:8]
    del second
    with pytest.raises(InputError, match="as many large pictures as it can"):
        pixels.read_upload(DATA)  # a part of it holds all of it
    del part
    assert pixels.read_upload(DATA).sha256 == first.sha256


def test_what_can_not_be_read_takes_no_room(room_for_two):
    before = pixels.held_bytes()
    for _ in range(3):
        with pytest.raises(InputError, match="not an image"):
            pixels.read_upload(b"no picture")
    assert pixels.held_bytes() == before


def test_pictures_that_nobody_looks_at_make_room_first(room_for_two):
    shelf = [pixels.read_upload(DATA), pixels.read_upload(DATA)]
    pixels.makes_room(lambda: bool(shelf) and bool(shelf.pop(0)))
    mine = pixels.read_upload(DATA)
    assert len(shelf) == 1
    yours = pixels.read_upload(DATA)
    assert (len(shelf), mine.sha256) == (0, yours.sha256)
