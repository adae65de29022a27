"""The command that classifies pictures."""

import json
import os
import subprocess
import sys
from pathlib import Path

from bag_generators import generate, load
from bag_generators.tissue.quality import measure
from bag_generators.tissue.samples import list_samples
from elimipl.predictor import Predictor
from elimipl.scope import judge
from tests.elimipl.commands.command_line import run


def test_predict_checks_a_picture_as_the_pages_do(capsys):
    samples = {sample.id: sample for sample in list_samples()}
    files = [samples[name].folder / samples[name].file for name in ("restained-crypt", "phantom-tum")]
    assert run("predict", "--model", "tissue7-row-elimipl", "--quiet", *files) == 0
    predictor = Predictor.load("tissue7-row-elimipl")
    for file, text in zip(files, capsys.readouterr().out.splitlines(), strict=True):
        line, image = json.loads(text), load(file)
        bag = generate("row", image)
        expected = judge(measure(image).numbers(), predictor, bag, predictor.predict(bag)).to_dict()
        assert {name: line[name] for name in expected} == expected
        assert len(line["checks"]) == 6
        assert line["in_scope"] is False


def test_predict_survives_a_name_that_is_no_text(toy_folder, tiles, tmp_path):
    name = os.fsencode(tmp_path) + b"/\xff\n.png"
    Path(os.fsdecode(name)).write_bytes((tiles / "pink" / "0.png").read_bytes())
    command = [sys.executable, "-m", "elimipl", "predict", "--model", "toy-row-elimipl", "--folder", toy_folder, name]
    done = subprocess.run([*command, "--quiet"], cwd=Path(__file__).parents[3], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["file"].endswith("/?\n.png")
    assert len(done.stdout.splitlines()) == 1


def test_predict_without_a_failure_ends_well(toy_folder, tiles, capsys):
    file = tiles / "white" / "3.png"
    assert run("predict", "--model", "toy-row-elimipl", "--folder", toy_folder, file) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["label"] == "white"
    assert "1/1" in said.err
