"""`elimipl bags --unlabelled`: its three forms of output and its exit codes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from bag_generators import __main__ as former
from bag_generators.base import bag_file
from bag_generators.image import load
from bag_generators.registry import GENERATORS, generate
from elimipl import commands

ROOT = Path(__file__).resolve().parents[3]


def main(arguments):
    generator = [] if "--generator" in arguments else ["--generator", "sbn"]
    return commands.main(["bags", "--unlabelled", *arguments, *generator])


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


def test_out_writes_a_bag_file_with_all_there_is_to_know(folder, broken, capsys):
    out = folder / "bags.safetensors"
    assert main([str(folder), "--generator", "kmeansseg", "--out", str(out)]) == 1
    assert f"3 bags are in {out}." in capsys.readouterr().err
    file = bag_file.read(out)
    assert [Path(name).name for name in file.names] == ["a.JPG", "b.png", "c.tif"]
    for i, name in enumerate(file.names):
        bag = generate("kmeansseg", load(Path(name)))
        rows = slice(file.offsets[i], file.offsets[i + 1])
        assert np.array_equal(file.instances[rows], bag.features)
        assert [tuple(box) for box in file.boxes[rows]] == [bag.regions.box(j) for j in range(len(bag))]
        assert file.image_sha256[i] == bag.image_sha256
    assert len(file.instances) == len(file.boxes) == file.offsets[-1]
    assert file.instances.dtype == np.float32
    assert file.generator == "kmeansseg"
    assert file.params == generate("kmeansseg", load(folder / "b.png")).params
    assert file.feature_names == GENERATORS["kmeansseg"].feature_names
    assert [Path(name).name for name in file.failed] == ["broken.png"]
    assert "incomplete or damaged" in file.reasons[0]
    assert file.label_space is None


def test_out_of_nothing_but_broken_files_is_a_file_of_no_bags(folder, broken):
    assert main([str(broken), "--out", str(folder / "bags.safetensors")]) == 1
    file = bag_file.read(folder / "bags.safetensors")
    assert (len(file.names), file.offsets.tolist(), len(file.failed)) == (0, [0], 1)


def test_labelled_bags_need_a_folder_and_a_file_and_the_former_command_says_what_to_type(capsys, folder):
    assert former.main() == 2
    assert "type “elimipl bags --unlabelled PATH" in capsys.readouterr().err
    for given in ([str(folder)], [str(folder), str(folder), "--out", str(folder / "bags.safetensors")]):
        assert commands.main(["bags", *given, "--generator", "row"]) == 2
        assert "or add --unlabelled." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["{folder}/b.png", "--workers", "0"], "0 workers can't do anything. Ask for at least 1."),
        (["{folder}/empty"], "empty”. Name another folder."),
        (["{folder}/b.png", "--out", "{folder}/nowhere/bags.safetensors"], "there is no folder"),
        (["{folder}/b.png", "--out", "{folder}"], "that is a folder. Add the name of a file."),
        (["{folder}/b.png", "--out", "{folder}/bags.npz"], "Name the file “bags.safetensors” instead."),
    ],
)
def test_wrong_usage_is_one_sentence_and_code_2(folder, arguments, words, capsys):
    (folder / "empty").mkdir()
    assert main([argument.format(folder=folder) for argument in arguments]) == 2
    shown = capsys.readouterr()
    assert words in shown.err
    assert shown.err.count("\n") == 1
    assert shown.out == ""


def test_a_name_that_is_not_utf8_costs_nothing(folder, capsys):
    name = os.fsencode(folder) + b"/caf\xe9.png"
    Path(os.fsdecode(name)).write_bytes((folder / "b.png").read_bytes())
    out = folder / "bags.safetensors"
    assert main([str(folder), "--out", str(out)]) == 0
    assert "caf�.png" in [Path(name).name for name in bag_file.read(out).names]
    assert b"caf\xe9.png" in out.read_bytes()


def test_as_a_command_with_workers_and_a_reader_that_leaves(folder):
    command = [sys.executable, "-m", "elimipl", "bags", "--unlabelled", str(folder), "--workers", "2", "--json"]
    command += ["--generator", "sbn"]
    whole = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert [Path(json.loads(line)["file"]).name for line in whole.stdout.splitlines()] == ["a.JPG", "b.png", "c.tif"]
    assert "3/3" in whole.stderr
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as left:
        left.stdout.close()
        complaint = left.stderr.read()
    assert left.returncode == 1
    assert "Traceback" not in complaint
    assert "BrokenPipe" not in complaint
