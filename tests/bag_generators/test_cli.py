"""`python -m bag_generators`: its three forms of output and its exit codes."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from bag_generators.__main__ import main
from bag_generators.image import load
from bag_generators.registry import GENERATORS, generate

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder(tmp_path):
    """Three pictures, one of them in a folder below, and files that are none."""
    rng = np.random.default_rng(0)
    places = [tmp_path / "b.png", tmp_path / "a.JPG", tmp_path / "below" / "c.tif"]
    places[2].parent.mkdir()
    for place in places:
        blocks = rng.integers(0, 256, (5, 5, 3), dtype=np.uint8)
        Image.fromarray(blocks).resize((80, 70)).save(place)
    (tmp_path / "notes.txt").write_text("not a picture")
    (tmp_path / "._b.png").write_bytes(b"left behind by a Mac")
    return tmp_path


@pytest.fixture
def broken(folder):
    path = folder / "broken.png"
    path.write_bytes((folder / "b.png").read_bytes()[:100])
    return path


def test_a_folder_gives_a_table_of_its_pictures(folder, capsys):
    assert main([str(folder)]) == 0
    shown = capsys.readouterr()
    assert shown.out.splitlines() == [
        "instances  features  file",
        f"        9        15  {folder / 'a.JPG'}",
        f"        9        15  {folder / 'b.png'}",
        f"        9        15  {folder / 'below' / 'c.tif'}",
    ]
    assert "3/3" in shown.err


def test_a_broken_file_is_told_in_its_line_and_in_the_exit_code(folder, broken, capsys):
    assert main([str(broken), str(folder / "b.png"), "--generator", "row"]) == 1
    shown = capsys.readouterr()
    assert f"–         –  {broken}  The PNG picture is incomplete or damaged." in shown.out
    assert f"8         9  {folder / 'b.png'}" in shown.out
    assert shown.err.endswith("1 of 2 files could not be used.\n")


def test_notes_and_strange_names_in_the_table(tmp_path, capsys):
    path = tmp_path / "\x1b[31mred\u202e.png"
    Image.new("L", (70, 70), 90).save(path)
    assert main([str(path)]) == 0
    line = capsys.readouterr().out.splitlines()[1]
    assert line.isprintable()
    assert "�[31mred�.png  The picture has no colour" in line


@pytest.mark.parametrize("name", GENERATORS)
def test_json_holds_the_bag_exactly(folder, broken, name, capsys):
    assert main([str(folder), "--json", "--generator", name]) == 1
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [Path(line["file"]).name for line in lines] == ["a.JPG", "b.png", "c.tif", "broken.png"]
    assert lines[3]["error"]["what"] == "The PNG picture is incomplete or damaged."
    assert "n" not in lines[3]
    said = lines[1]
    bag = generate(name, load(folder / "b.png"))
    assert np.array_equal(np.array(said["features"], np.float32), bag.features)
    assert (said["n"], said["d"]) == bag.features.shape
    assert [tuple(box) for box in said["boxes"]] == [bag.regions.box(i) for i in range(len(bag))]
    assert said["image"] == {"width": 80, "height": 70, "sha256": bag.image_sha256}
    assert said["params"] == bag.params
    assert said["notes"] == []


def test_out_writes_flat_arrays_that_need_no_pickle(folder, broken, capsys):
    out = folder / "bags.npz"
    assert main([str(folder), "--generator", "kmeansseg", "--out", str(out)]) == 1
    assert f"3 bags are in {out}." in capsys.readouterr().err
    with np.load(out, allow_pickle=False) as arrays:
        names = [Path(name).name for name in arrays["names"]]
        assert names == ["a.JPG", "b.png", "c.tif"]
        for i, name in enumerate(arrays["names"]):
            bag = generate("kmeansseg", load(Path(name)))
            rows = slice(arrays["offsets"][i], arrays["offsets"][i + 1])
            assert np.array_equal(arrays["features"][rows], bag.features)
            assert [tuple(box) for box in arrays["boxes"][rows]] == [bag.regions.box(j) for j in range(len(bag))]
            assert arrays["image_sha256"][i] == bag.image_sha256
        assert len(arrays["features"]) == len(arrays["boxes"]) == arrays["offsets"][-1]
        assert arrays["features"].dtype == np.float32
        assert arrays["generator"] == "kmeansseg"
        assert json.loads(str(arrays["params"])) == generate("kmeansseg", load(folder / "b.png")).params
        assert tuple(arrays["feature_names"]) == GENERATORS["kmeansseg"].feature_names
        assert [Path(name).name for name in arrays["failed"]] == ["broken.png"]
        assert "incomplete or damaged" in arrays["reasons"][0]


def test_out_of_nothing_but_broken_files_is_an_archive_of_no_bags(folder, broken):
    assert main([str(broken), "--out", str(folder / "bags.npz")]) == 1
    with np.load(folder / "bags.npz") as arrays:
        assert (len(arrays["names"]), arrays["offsets"].tolist(), len(arrays["failed"])) == (0, [0], 1)


def test_out_replaces_a_file_whole_or_not_at_all(folder, monkeypatch, capsys):
    out = folder / "bags.npz"
    out.write_bytes(b"the old one")

    def full(file, **_):
        file.write(b"half of the new o")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    assert main([str(folder / "b.png"), "--out", str(out)]) == 2
    assert out.read_bytes() == b"the old one"
    assert "can't be written: No space left on device." in capsys.readouterr().err
    assert [file.name for file in folder.iterdir() if "tmp" in file.name] == []


def test_list_names_the_generators(capsys):
    assert main(["--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(GENERATORS)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "No picture was given. Name at least one"),
        (["{folder}/b.png", "--generator", "rows"], "There is no generator called 'rows'. Choose one of 'row', "),
        (["{folder}/b.png", "--workers", "0"], "0 workers can't do anything. Ask for at least 1."),
        (["{folder}/empty"], "empty”. Name another folder."),
        (["{folder}/b.png", "--out", "{folder}/nowhere/bags.npz"], "can't be written. Name a file in an existing"),
        (["{folder}/b.png", "--out", "{folder}"], "can't be written. Name a file in an existing"),
    ],
)
def test_wrong_usage_is_one_sentence_and_code_2(folder, arguments, words, capsys):
    (folder / "empty").mkdir()
    assert main([argument.format(folder=folder) for argument in arguments]) == 2
    shown = capsys.readouterr()
    assert words in shown.err
    assert shown.err.count("\n") == 1
    assert shown.out == ""


def test_json_and_out_exclude_each_other(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["b.png", "--json", "--out", "bags.npz"])
    assert "not allowed with argument" in capsys.readouterr().err


def test_as_a_command_with_workers_and_a_reader_that_leaves(folder):
    command = [sys.executable, "-m", "bag_generators", str(folder), "--workers", "2", "--json"]
    whole = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert [Path(json.loads(line)["file"]).name for line in whole.stdout.splitlines()] == ["a.JPG", "b.png", "c.tif"]
    assert "3/3" in whole.stderr
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as left:
        left.stdout.close()
        complaint = left.stderr.read()
    assert left.returncode == 1
    assert "Traceback" not in complaint
    assert "BrokenPipe" not in complaint
