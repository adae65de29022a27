"""Uploads are read in a process of their own: a file that ends it costs one sentence, and nobody else anything."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from bag_generators import InputError, load, uploads
from bag_generators.base.pool import ProcessDiedError, Standby, Standbys
from bag_generators.uploads import read_upload, size_of_upload
from tests.bag_generators import pool_tasks
from tests.support.bad_files import encoded, png_claiming, tiff_of_strips

pytestmark = pytest.mark.skipif(os.name != "posix", reason="there are no such processes")
TILE = encoded("PNG")


def test_an_upload_is_what_load_gives():
    uploaded, loaded = read_upload(TILE), load(TILE)
    assert np.array_equal(uploaded.pixels, loaded.pixels)
    assert not uploaded.pixels.flags.writeable
    assert (uploaded.sha256, uploaded.notes, uploaded.scale_source) == (loaded.sha256, (), "")
    assert read_upload(TILE, "known").sha256 == "known"


def test_the_size_is_told_without_the_pixels():
    assert size_of_upload(TILE) == (224, 224)
    assert size_of_upload(b"no picture") is None


def test_what_takes_too_long_is_refused_and_the_next_upload_is_read(monkeypatch):
    monkeypatch.setattr(uploads, "MOST_PICTURE_SECONDS", 0.001)
    with pytest.raises(InputError, match=r"takes too long\. Export it again"):
        read_upload(png_claiming(6000, 6000, bytes(6001 * 6000)))
    monkeypatch.undo()
    assert read_upload(TILE).width == 224


def test_what_needs_too_much_memory_is_refused_and_the_next_upload_is_read(monkeypatch):
    monkeypatch.setattr(uploads, "_readers", Standbys(pool_tasks.with_little_memory, 1, 60, 60))
    for data in (png_claiming(6000, 6000, bytes(6001 * 6000)), tiff_of_strips(1_000_000)):
        with pytest.raises(InputError, match="not enough memory"):
            read_upload(data)
    assert read_upload(TILE).width == 224


def test_a_process_that_is_killed_costs_its_visitor_a_sentence_and_nobody_else_anything(monkeypatch):
    monkeypatch.setattr(uploads, "_readers", Standbys(pool_tasks.die_on_empty, 2, 60, 60))
    with ThreadPoolExecutor(8) as visitors:
        asked = [visitors.submit(read_upload, b"" if i == 3 else TILE) for i in range(8)]
        for i, outcome in enumerate(asked):
            if i == 3:
                with pytest.raises(InputError, match="stopped the program that reads it"):
                    outcome.result(60)
            else:
                assert outcome.result(60).width == 224


def test_a_process_that_was_killed_between_two_questions_costs_nobody_anything():
    standby = Standby(pool_tasks.process_number, 60)
    first = standby.ask(None)
    os.kill(first, signal.SIGKILL)
    time.sleep(0.2)
    assert standby.ask(None) != first


@pytest.mark.parametrize("size", [1, 2**24], ids=["while it answers", "while it is asked"])
def test_nobody_waits_for_ever_for_a_process_that_stands_still(size):
    standby = Standby(pool_tasks.process_number, 60)
    first = standby.ask(None)
    os.kill(first, signal.SIGSTOP)
    standby._seconds = 0.3
    with pytest.raises(ProcessDiedError) as death:
        standby.ask(bytes(size))
    assert death.value.code == uploads.OUT_OF_TIME
    standby._seconds = 60
    assert standby.ask(None) != first


def test_nobody_waits_for_ever_in_line():
    busy = Standbys(pool_tasks.sleep, 1, 60, 0.2)
    with ThreadPoolExecutor(1) as other:
        asked = other.submit(busy.ask, 3)
        time.sleep(0.1)
        with pytest.raises(InputError, match=r"Too many files are being read.*Try again"):
            busy.ask(0)
        asked.result(60)
    busy.ask(0)
