"""`python -m elimipl map` of a folder: a line for each slide, none twice, a bad one with its reason."""

import shutil

import pytest

from elimipl.slides import SlideMap, folder_maps
from elimipl.slides.folder_maps import SlideLine, summary_of
from tests.elimipl.commands.command_line import run
from tests.support.phantom_slide import PhantomSlide

SMALL = (("", "LYM", "LYM"), ("", "MUC", "MUC"))


@pytest.fixture
def slides(tmp_path):
    folder = tmp_path / "slides"
    folder.mkdir()
    PhantomSlide(SMALL).write(folder / "a.tif")
    shutil.copy(folder / "a.tif", folder / "b, a copy.tif")
    PhantomSlide((("", ""), ("", ""))).write(folder / "glass.tif")
    (folder / "no|slide.tif").write_bytes(b"no slide")
    return folder


@pytest.fixture
def arguments(slides, kinds_models, tmp_path):
    return ["map", slides, "--model", "kinds-row-elimipl", "--folder", kinds_models, "--out", tmp_path / "maps",
            "--workers", 1, "--quiet"]  # fmt: skip


def test_every_slide_is_a_line_and_none_is_mapped_twice(arguments, slides, tmp_path, capsys, monkeypatch):
    out = tmp_path / "maps"
    assert run(*arguments) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("a.tif: 0.0")
    assert "mm² of tissue" in lines[0]
    assert lines[1] == "b, a copy.tif: the same slide as a.tif"
    assert lines[2].startswith("glass.tif: No tissue was found")
    assert lines[3].startswith("no|slide.tif: ")
    assert {path.name for path in out.iterdir() if not path.name.startswith(".")} == {"a.tif", "summary.md"}
    assert not (out / "a.tif" / "unfinished").exists()
    said = (out / "summary.md").read_text(encoding="utf-8")
    assert "1 have a map, 2 could not be mapped, 1 are copies." in said
    assert "| no\\|slide.tif |" in said
    made = SlideMap.read(out / "a.tif")

    monkeypatch.setattr(folder_maps, "sha256_of", lambda _path: pytest.fail("a slide was read again"))
    (slides / "no|slide.tif").unlink()
    (slides / "glass.tif").unlink()
    assert run(*arguments) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.endswith("(mapped before).")
    assert second == lines[1]
    assert SlideMap.read(out / "a.tif").about == made.about


def test_changed_slides_other_models_and_other_scales_are_mapped_anew(arguments, slides, tmp_path, capsys):
    for name in ("b, a copy.tif", "glass.tif", "no|slide.tif"):
        (slides / name).unlink()
    assert run(*arguments) == 0
    PhantomSlide((SMALL[1], SMALL[0])).write(slides / "a.tif")
    assert run(*arguments) == 0
    assert run(*arguments, "--microns-per-pixel", 0.4) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.endswith("(mapped before).") for line in said] == [False] * 3
    assert SlideMap.read(tmp_path / "maps" / "a.tif").about.microns_per_pixel == 0.4


def test_a_slide_that_was_renamed_keeps_its_map(arguments, slides, tmp_path, capsys):
    for name in ("b, a copy.tif", "glass.tif", "no|slide.tif"):
        (slides / name).unlink()
    assert run(*arguments) == 0
    (slides / "a.tif").rename(slides / "z.tif")
    capsys.readouterr()
    assert run(*arguments) == 0
    assert capsys.readouterr().out == "z.tif: the same slide as a.tif\n"
    shutil.rmtree(tmp_path / "maps" / "a.tif")  # the map has gone, and so has the name
    assert run(*arguments) == 0
    assert (tmp_path / "maps" / "z.tif" / "map.json").exists()


def test_a_map_that_was_stopped_goes_on(arguments, slides, tmp_path, capsys, monkeypatch):
    def stopped(*args, **kwargs):
        made(*args, **kwargs)
        raise KeyboardInterrupt

    made = folder_maps.map_slide
    monkeypatch.setattr(folder_maps, "map_slide", stopped)
    assert run(*arguments) == 130
    assert "run it again to go on" in capsys.readouterr().err
    rows = sorted((tmp_path / "maps" / "a.tif" / "unfinished").iterdir())
    before = [path.stat().st_mtime_ns for path in rows]
    assert len(before) > 1
    assert run(*arguments) == 130
    assert [path.stat().st_mtime_ns for path in rows] == before
    monkeypatch.undo()
    assert run(*arguments) == 1
    assert not (tmp_path / "maps" / "a.tif" / "unfinished").exists()


def test_rows_of_another_plan_are_not_in_the_way(arguments, slides, kinds_models, tmp_path):
    left = tmp_path / "maps" / "a.tif" / "unfinished"
    left.mkdir(parents=True)
    (left / "plan.json").write_text("{}", encoding="utf-8")
    assert run(*arguments) == 1
    assert SlideMap.read(tmp_path / "maps" / "a.tif").grid.is_tissue.any()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--workers", 0], "0 workers can't do anything"),
        (["--model", "none"], "none"),
        (["--out", "FILE"], "is a file"),
    ],
    ids=str,
)
def test_what_is_wrong_for_all_slides_is_said_once(given, said, arguments, tmp_path, capsys):
    (tmp_path / "file").touch()
    assert run(*arguments, *(tmp_path / "file" if one == "FILE" else one for one in given)) == 2
    told = capsys.readouterr()
    assert said in told.err
    assert told.out == ""


def test_an_empty_folder_and_a_scheduler_for_one_slide_are_refused(arguments, slides, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    assert run("map", tmp_path / "empty", *arguments[2:]) == 2
    assert "There are no slides in the folder" in capsys.readouterr().err
    assert run("map", slides / "a.tif", *arguments[2:], "--scheduler", "local") == 2
    assert "A scheduler maps a folder of slides" in capsys.readouterr().err


def test_the_summary_is_in_the_order_of_names():
    lines = [SlideLine("b", 2.0, {"X": 0.25, "Y": 0.75}, "3 s"), SlideLine("a", note="the same slide as b")]
    table = summary_of(lines, "m_x").splitlines()[-4:]
    assert table == [
        "| Slide | Tissue, mm² | X, % | Y, % |  |",
        "| --- | ---: | ---: | ---: | --- |",
        "| a |  |  |  | the same slide as b |",
        "| b | 2.000 | 25.0 | 75.0 | 3 s |",
    ]
