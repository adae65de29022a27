"""Slides that visitors bring: kept under names of ours, a few each, nothing left of what was refused."""

import errno
import os

import pytest

from bag_generators import InputError
from bag_generators.slide import open_slide
from bag_generators.tissue.samples import list_samples
from elimipl_app.slide.sources import OwnSlides

SAMPLE = list_samples()[0]
PICTURE = (SAMPLE.folder / SAMPLE.file).read_bytes()


def add(slides: OwnSlides, visitor: str, data: bytes = PICTURE, name: str = "../../my slide.png"):
    return slides.add(visitor, name, ".png", lambda path: path.write_bytes(data))


def test_a_slide_is_kept_for_its_visitor_under_a_name_of_ours(tmp_path):
    slides = OwnSlides(tmp_path)
    kept = add(slides, "me")
    assert open_slide(kept.path).width == SAMPLE.load().width
    assert (kept.name, kept.path.name) == ("../../my slide.png", "slide.png")
    assert kept.path.is_relative_to(tmp_path)
    assert (slides.of("me"), slides.of("you")) == ((kept,), ())


@pytest.mark.parametrize("data", [b"", b"no slide", PICTURE[:200]])
def test_nothing_stays_of_what_can_not_be_opened(tmp_path, data):
    slides = OwnSlides(tmp_path)
    with pytest.raises(InputError):
        add(slides, "me", data)
    assert slides.of("me") == ()
    assert list(tmp_path.iterdir()) == []


def test_the_oldest_make_room_and_numbers_go_on(tmp_path):
    slides = OwnSlides(tmp_path, most_own=2, most_kept=3)
    for visitor in ("me", "me", "me", "you", "third"):
        add(slides, visitor)
    assert [slide.number for slide in slides.of("me")] == [3]
    assert len(list(tmp_path.iterdir())) == 3


def test_forgetting_deletes_the_files_of_one_visitor(tmp_path):
    slides = OwnSlides(tmp_path)
    mine, yours = add(slides, "me"), add(slides, "you")
    slides.forget("me")
    assert not mine.path.exists()
    assert slides.of("me") == ()
    assert yours.path.exists()


def test_a_full_disk_is_one_sentence_without_a_path(tmp_path):
    def full(path):
        path.write_bytes(PICTURE[:100])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    slides = OwnSlides(tmp_path)
    with pytest.raises(InputError, match="disk is full") as refused:
        slides.add("me", "a.png", ".png", full)
    assert str(tmp_path) not in str(refused.value)
    assert list(tmp_path.iterdir()) == []
