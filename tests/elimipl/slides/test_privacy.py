"""What a slide's file says about people is never shown, logged or written."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from bag_generators.slide import open_slide
from tests.elimipl.commands.command_line import run
from tests.elimipl.slides.aperio import LABEL_COLOUR, SECRETS, write_aperio


@pytest.fixture
def aperio(tmp_path, kinds_slide) -> Path:
    path = tmp_path / "case.svs"
    write_aperio(path, kinds_slide.overview(1.0))
    return path


def test_the_slide_itself_holds_what_must_not_leave_it(aperio):
    """Else the other test would show nothing."""
    import openslide

    slide = openslide.OpenSlide(aperio)
    assert slide.properties["openslide.vendor"] == "aperio"
    assert all(any(secret in text for text in slide.properties.values()) for secret in SECRETS)
    assert {"label", "macro"} <= set(slide.associated_images)
    assert slide.associated_images["label"].getpixel((5, 5))[:3] == LABEL_COLOUR


def test_nothing_of_it_is_shown_logged_or_written(aperio, kinds_models, tmp_path, capfd):
    out = tmp_path / "map"
    chosen = ("--model", "kinds-row-elimipl", "--folder", kinds_models, "--workers", "1")
    assert run("map", aperio, *chosen, "--out", out) == 0
    slide = open_slide(aperio)
    said = [*capfd.readouterr(), repr(slide), str(slide.notes)]
    written = [path.read_bytes() for path in out.iterdir()]
    assert len(written) == 6
    for secret in SECRETS:
        assert not any(secret in text for text in said)
        assert not any(secret.encode() in content for content in written)
    pictures = [np.asarray(Image.open(io.BytesIO((out / "map.png").read_bytes()))), slide.thumbnail(400)]
    for picture in pictures:
        assert not (picture == np.array(LABEL_COLOUR, np.uint8)).all(axis=2).any()
