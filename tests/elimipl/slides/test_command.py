"""The command that maps a slide: `python -m elimipl map`."""

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from bag_generators.slide import open_slide
from elimipl.answers.predictor import Predictor
from elimipl.slides import SlideMap, map_slide
from tests.elimipl.commands.command_line import is_one_sentence_or_two, run
from tests.elimipl.slides.aperio import LABEL_COLOUR, SECRETS, write_aperio
from tests.elimipl.slides.kinds import KINDS, LAYOUT
from tests.elimipl.slides.test_mapping import same
from tests.support.phantom_slide import PhantomSlide

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def arguments(kinds_models, tmp_path):
    return ["--model", "kinds-row-elimipl", "--folder", kinds_models, "--out", tmp_path / "map", "--workers", "1"]


def test_a_map_is_made_and_said(kinds_slide_file, kinds_map, arguments, tmp_path, capsys):
    assert run("map", kinds_slide_file, *arguments) == 0
    said = capsys.readouterr()
    assert "100%" in said.err
    assert all(name in said.out for name in KINDS)
    assert "15 tiles of background" in said.out
    assert same(SlideMap.read(tmp_path / "map"), kinds_map)
    assert not (tmp_path / "map" / "unfinished").exists()


def test_killed_and_resumed_gives_the_same_map(kinds_slide_file, kinds_models, kinds_map, arguments, tmp_path):
    out = tmp_path / "map"
    files = [str(path) for path in (kinds_slide_file, kinds_models, out)]
    program = f"from tests.elimipl.slides.test_command import be_killed; be_killed(*{files!r})"
    killed = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert [path.name for path in out.iterdir()] == ["unfinished"]
    assert list((out / "unfinished").glob("row-*"))
    assert run("map", kinds_slide_file, *arguments, "--resume", "--quiet") == 0
    assert same(SlideMap.read(out), kinds_map)
    assert json.loads((out / "map.json").read_text(encoding="utf-8"))["tissue_tiles"] == kinds_map.grid.is_tissue.sum()


def be_killed(slide: str, models: str, out: str) -> None:
    """Map with two processes and end without a word in the middle."""

    def progress(done: int, total: int) -> None:
        if done > 2 * total // 3:
            os.kill(os.getpid(), signal.SIGKILL)

    predictor = Predictor.load("kinds-row-elimipl", Path(models))
    map_slide(open_slide(slide), predictor, Path(out), workers=2, progress=progress)


def test_ctrl_c_says_how_to_go_on(kinds_slide_file, arguments, capsys, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("elimipl.commands.map.map_slide", interrupted)
    assert run("map", kinds_slide_file, *arguments, "--quiet") == 130
    assert "--resume" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("microns", "given", "said"),
    [
        (10, [], "10 µm per pixel; the models need 0.5"),
        (0.5, ["--microns-per-pixel", "0"], "can't be 0 µm large"),
        (0.5, ["--workers", "0"], "0 workers can't do anything"),
    ],
)
def test_a_slide_that_can_not_be_mapped_leaves_nothing(microns, given, said, arguments, tmp_path, capsys):
    PhantomSlide(LAYOUT[:2], microns).write(tmp_path / "slide.tif")
    assert run("map", tmp_path / "slide.tif", *arguments, *given, "--quiet") == 2
    told = capsys.readouterr().err.splitlines()[-1]
    assert said in told
    assert is_one_sentence_or_two(told)
    assert not list((tmp_path / "map").glob("*")) or not (tmp_path / "map" / "map.json").exists()


def test_the_scale_is_taken_from_a_person_or_estimated_and_said(arguments, tmp_path, capsys):
    PhantomSlide(LAYOUT[:2], 353).write(tmp_path / "slide.tif")
    assert run("map", tmp_path / "slide.tif", *arguments, "--quiet") == 0
    about = SlideMap.read(tmp_path / "map").about
    assert (about.microns_per_pixel, about.scale_origin) == (0.5, "assumed")
    assert "Scale by its nuclei: " in capsys.readouterr().err
    PhantomSlide(LAYOUT[:2], 353).write(tmp_path / "slide.tif")
    assert run("map", tmp_path / "slide.tif", *arguments, "--microns-per-pixel", "0.5", "--quiet") == 0
    assert SlideMap.read(tmp_path / "map").about.microns_per_pixel == 0.5


def test_glass_alone_is_no_tissue(arguments, tmp_path, capsys):
    PhantomSlide((("", ""), ("", ""))).write(tmp_path / "glass.tif")
    assert run("map", tmp_path / "glass.tif", *arguments, "--quiet") == 2
    assert "No tissue was found" in capsys.readouterr().err
    assert not (tmp_path / "map").exists()


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
