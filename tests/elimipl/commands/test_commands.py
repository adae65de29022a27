"""The other commands; help, failures and surprises of all of them."""

import io
import json
import os
import runpy
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from bag_generators.slide import list_slides
from elimipl.answers.predictor import Predictor
from elimipl.answers.trust import measure_trust
from elimipl.commands import COMMANDS
from elimipl.commands import models as models_command
from tests.elimipl.commands.command_line import is_one_sentence_or_two, run
from tests.elimipl.datasets.range_server import Behaviour, serve

ROOT = Path(__file__).resolve().parents[3]


def test_models(toy_folder, capsys):
    assert run("models", "--folder", toy_folder) == 0
    assert capsys.readouterr().out == "toy-row-elimipl  Accuracy 0.900 (n = 24, the training bags).\n"
    assert run("models", "--json", "--folder", toy_folder) == 0
    (entry,) = json.loads(capsys.readouterr().out)
    assert entry["id"] == "toy-row-elimipl"
    said = [entry[name] for name in ("method", "generator", "label_space", "accuracy")]
    assert said == ["elimipl", "row", "toy", 0.9]
    assert entry["calibration"]["n"] == 24
    assert (entry["conformal"], entry["reliability"], entry["trust"]) == (None, None, None)


def test_models_show_what_was_measured_about_explanations(judge_of_evidence, evidence, tmp_path, capsys):
    trust = measure_trust(judge_of_evidence.predictor, evidence.subset(range(4)))
    judge_of_evidence.with_trust(trust).save(tmp_path)
    assert run("models", "--measured", "--folder", tmp_path) == 0
    assert f"AUROC {trust.methods['attention'].auroc:.2f} against" in capsys.readouterr().out
    assert run("models", "--json", "--folder", tmp_path) == 0
    (entry,) = json.loads(capsys.readouterr().out)
    assert entry["trust"]["methods"]["contribution"]["area"] == trust.methods["contribution"].area
    assert entry["conformal"]["coverage"]["n"] == 60
    assert sum(one["n"] for one in entry["reliability"]["bins"]) == 60


def test_the_models_that_ship_are_listed_and_whole(capsys):
    assert run("models", "--json") == 0
    for entry in json.loads(capsys.readouterr().out):
        assert Predictor.load(entry["id"]).card.method == entry["method"]


def test_fetch_a_few_tiles_and_a_whole_set(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("no_proxy", "*")
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name in ("STR", "TUM", "ADI"):
            for i in range(5):
                archive.writestr(f"CRC-VAL-HE-7K/{name}/{name}-{i}.tif", f"tile {i} of {name}")
    few, whole = tmp_path / "few", tmp_path / "whole"
    with serve(Behaviour({"CRC-VAL-HE-7K.zip": content.getvalue()})) as address:
        assert run("fetch", "--out", few, "--per-class", 2, "--classes", "TUM", "STR", "--url", address) == 0
        assert run("fetch", "CRC-VAL-HE-7K", "--whole", "--out", whole, "--url", address, "--quiet") == 0
    said = capsys.readouterr()
    assert f"4 tiles of CRC-VAL-HE-7K (CC BY 4.0) are in {few}.\n15 tiles" in said.out
    assert "4/4" in said.err
    assert sorted(path.parent.name for path in few.rglob("*.tif")) == ["STR", "STR", "TUM", "TUM"]
    assert len(list(whole.rglob("*.tif"))) == 15


def test_doctor_examines_the_models(toy_folder, capsys):
    assert run("doctor", "--folder", toy_folder) == 0
    assert "PASS  1 of 1 models" in capsys.readouterr().out
    (toy_folder / "toy-row-elimipl.safetensors").unlink()
    assert run("doctor", "--folder", toy_folder) == 1
    assert "FAIL  The weights “toy-row-elimipl.safetensors”" in capsys.readouterr().out


FAILURES = {
    "no command": ([], "arguments are required: COMMAND"),
    "unknown command": (["fly"], "invalid choice: 'fly'"),
    "nothing given": (["train"], "required: DATA, --out"),
    "no such data": (["train", "gone.safetensors", "--out", "x"], "no file “gone.safetensors”"),
    "not a data set": (["evaluate", "{text}"], "not a whole bag data set"),
    "not MATLAB": (["evaluate", "{text}.mat"], "text.mat"),
    "setting without value": (["train", "{data}", "--out", "x", "--set", "mu"], "“mu” sets nothing"),
    "too many candidates": (["train", "{data}", "--out", "x", "--r", "5"], "5 false positives"),
    "r and crowd": (["train", "{data}", "--out", "x", "--r", "1", "--crowd"], "not allowed with"),
    "held out": (["train", "{data}", "--out", "x", "--held-out", "1.5"], "share of 1.5"),
    "resume what": (["train", "{data}", "--out", "x", "--resume"], "no checkpoint to resume"),
    "device": (["train", "{data}", "--out", "x", "--device", "abacus"], "no device 'abacus'"),
    "unwritable": (["train", "{data}", "--out", "{text}", "--epochs", "1", "--quiet"], "could not be written"),
    "no method": (["evaluate", "{data}", "--method", "guess"], "no method “guess”"),
    "no presets": (["evaluate", "{data}", "--method", "RC-Mean", "--preset", "published"], "RC-Mean has no presets"),
    "a setting of others": (["evaluate", "{data}", "--method", "PL-AGGD-Mean", "--lr", ".1"], "no setting 'lr'"),
    "no attention": (["evaluate", "{data}", "--method", "RC-Mean", "--attention"], "RC-Mean has no attention"),
    "no splits": (["evaluate", "{data}", "--splits", "0"], "0 splits"),
    "a model and no attention": (["evaluate", "{data}", "--model", "x"], "by --attention only"),
    "no model to explain": (["evaluate", "{data}", "--attention", "--model", "gone"], "no model called “gone”"),
    "no split files": (["evaluate", "{data}", "--index", "gone"], "gone"),
    "no folder": (["bags", "gone", "--generator", "row", "--out", "x"], "no folder “gone”"),
    "no generator": (["bags", ".", "--generator", "brush", "--out", "x"], "invalid choice: 'brush'"),
    "no stain": (["bags", "{tiles}", "--generator", "row", "--stain", "ink", "--out", "x", "--quiet"], "ink"),
    "a folder to write to": (["bags", "{tiles}", "--generator", "row", "--out", "."], "that is a folder"),
    "two forms": (["bags", "b.png", "--unlabelled", "--generator", "row", "--json", "--out", "x"], "not allowed with"),
    "no workers": (["evaluate", "{data}", "--workers", "0", "--quiet"], "0 workers"),
    "no model": (["predict", "--model", "gone", "a.png"], "no model called “gone”"),
    "no model folder": (["models", "--folder", "gone"], "no folder of models “gone”"),
    "no server": (["fetch", "--out", "x", "--url", "http://127.0.0.1:9", "--quiet"], "127.0.0.1"),
}


@pytest.mark.parametrize("case", FAILURES)
def test_every_failure_is_a_sentence(case, data, tiles, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("text", "text.mat"):
        (tmp_path / name).write_text("just text")
    arguments, said = FAILURES[case]
    places = {"data": data, "tiles": tiles, "text": tmp_path / "text"}
    assert run(*(argument.format(**places) for argument in arguments)) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert is_one_sentence_or_two(output.err)
    assert said in output.err


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (RuntimeError("odd"), 2, "fault of the program (RuntimeError: odd)"),
        (MemoryError(), 2, "too little memory"),
        (PermissionError(13, "Permission denied", "x"), 2, "The system refused"),
        (ModuleNotFoundError("No module named 'torch'"), 2, "doctor"),
        (KeyboardInterrupt(), 130, "Stopped."),
    ],
)
def test_what_nobody_expected_is_a_sentence_too(error, code, said, monkeypatch, capsys):
    def fail(_):
        raise error

    monkeypatch.setattr(models_command, "run", fail)
    assert run("models") == code
    output = capsys.readouterr().err
    assert is_one_sentence_or_two(output)
    assert said in output


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command, capsys):
    assert run(command, "--help") == 0
    assert f"python -m elimipl {command}" in capsys.readouterr().out


def test_as_a_program_whose_reader_goes_away(toy_folder):
    """`python -m elimipl models | true`: no complaint about the broken pipe."""
    program = [sys.executable, "-m", "elimipl", "models", "--folder", str(toy_folder)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT) as process:
        process.stdout.close()
        assert process.stderr.read() == b""


def test_the_folder_of_slides_reaches_the_app(tmp_path, monkeypatch):
    (tmp_path / "one.svs").write_bytes(b"x")
    monkeypatch.setenv("ELIMIPL_SLIDES", "")
    monkeypatch.setattr(sys, "argv", ["elimipl"])
    seen = []
    monkeypatch.setattr(runpy, "run_module", lambda *args, **kwargs: seen.append(list_slides()))
    assert run("app", "--slides", tmp_path) == 0
    assert seen == [("one.svs",)]
    assert os.environ["ELIMIPL_SLIDES"] == str(tmp_path)


def test_a_folder_that_is_not_there_is_refused(tmp_path, capsys):
    assert run("app", "--slides", tmp_path / "gone") == 2
    assert "There is no folder" in capsys.readouterr().err


def test_only_fetch_loads_requests_and_none_loads_dask():
    others = ", ".join(f"elimipl.commands.{name}" for name in COMMANDS if name != "fetch")
    program = f"import sys, {others}; assert 'requests' not in sys.modules; import elimipl.commands.fetch"
    program += "; assert 'requests' in sys.modules; assert not {'dask', 'distributed'} & sys.modules.keys()"
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
