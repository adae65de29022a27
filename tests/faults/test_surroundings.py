"""In odd surroundings it starts and predicts: another alphabet, no home, a strange clock, a read-only folder."""

import hashlib
import json
import time
from pathlib import Path

import pytest

from benchmarks.bench_load import tile_png
from elimipl.config import Config
from elimipl.training.loop import fit
from elimipl_app.server.log import timed
from tests.elimipl.toy_bags import toy_bags
from tests.support.programs import ROOT, ended
from tests.support.running_app import running_app
from tests.support.simulated_visitor import Visitor

PICTURE = ROOT / "assets" / "samples" / "phantom-tum.png"
# Python would rescue itself from the C locale; some installations tell it not to.
ASCII = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
SURROUNDINGS: dict[str, dict[str, str | None]] = {
    "ASCII only": {**ASCII},
    "no home, strange time zone, no temporary folder": dict.fromkeys(("HOME", "USER", "LOGNAME"))
    | {"TZ": "Mars/Olympus_Mons", "TMPDIR": "/no/such/folder"},
}
# A folder that even root can't write to, where there is one.
LOCKED = Path("/proc") if Path("/proc/self").exists() else ROOT


@pytest.mark.parametrize("surroundings", SURROUNDINGS)
def test_the_command_line_predicts(surroundings):
    words = ("-m", "elimipl", "predict", "--model", "tissue7-row-elimipl", "--quiet", PICTURE)
    done = ended(*words, environment=SURROUNDINGS[surroundings], cwd=LOCKED)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert sum(json.loads(done.stdout)["probabilities"].values()) == pytest.approx(1)


@pytest.mark.parametrize("words", ["--help", "models", "bags --help"])
def test_a_terminal_without_our_signs_gets_the_rest(words):
    done = ended("-m", "elimipl", *words.split(), environment=ASCII, cwd=LOCKED)
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()


def test_a_refusal_is_readable_in_ascii():
    refused = ended("-m", "elimipl", "predict", "--model", "no-such-model", PICTURE, environment=ASCII, cwd=LOCKED)
    assert refused.returncode == 2
    assert refused.stderr.isascii()
    assert "no-such-model" in refused.stderr
    assert "fault of the program" not in refused.stderr


async def test_the_app_serves_in_all_of_them_at_once_with_the_settings_that_ship(tmp_path):
    together = {name: value for one in SURROUNDINGS.values() for name, value in one.items()}
    log, tile = tmp_path / "log.txt", tile_png(21)
    with running_app(log=log, environment=together, folder=LOCKED) as (address, _):
        async with Visitor(address) as visitor:
            await visitor.run()
            await visitor.upload("upload", "tile.png", tile)
            exported = json.loads(await visitor.download("download-json"))
    assert exported["picture"]["sha256"] == hashlib.sha256(tile).hexdigest()
    assert exported["notice"].startswith("For teaching and research")
    # The settings lie beside app.py and are found from any working folder.
    assert not visitor.usage_reported
    assert b"Network URL" not in log.read_bytes()
    assert b"Traceback" not in log.read_bytes()


def test_a_clock_that_goes_backwards_disturbs_no_measurement(monkeypatch, capsys):
    now = iter(range(10**9, 0, -3600))
    monkeypatch.setattr(time, "time", lambda: float(next(now)))
    with timed("predict"):
        fitted = fit(toy_bags(m=20), Config.preset("default", hidden=8, epochs=3), device="cpu")
    assert all(report.seconds >= 0 for report in fitted.history)
    lines = capsys.readouterr().err.splitlines()
    assert json.loads(lines[-1])["ms"] >= 0
