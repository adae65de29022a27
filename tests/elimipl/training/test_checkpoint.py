"""A run that was killed and resumed ends in the model of a run that was not."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import save

from bag_generators.base.errors import InputError
from elimipl.config import Config
from elimipl.training import loop
from elimipl.training.loop import fit
from tests.elimipl.toy_bags import toy_bags

ROOT = Path(__file__).resolve().parents[3]
CONFIG = Config.preset("default", hidden=16, epochs=40, lr=0.05, batch=8, seed=3)

# Saves every epoch and then lingers, so that the kill falls into a running epoch.
VICTIM = """
import sys, time
from pathlib import Path
from elimipl.training import loop
from elimipl.config import Config
from tests.elimipl.toy_bags import toy_bags
loop.CHECKPOINT_SECONDS = 0.0
config = Config.from_dict(eval(sys.argv[2]))
loop.fit(toy_bags(), config, checkpoint=Path(sys.argv[1]), device="cpu", on_epoch=lambda r: time.sleep(0.02))
"""


def same_model(a, b):
    pairs = zip(a.network.state_dict().values(), b.network.state_dict().values(), strict=True)
    return all(torch.equal(x, y) for x, y in pairs) and np.array_equal(a.weights, b.weights)


def without_seconds(history):
    return [(r.epoch, dict(r.losses), r.train_accuracy, r.disambiguation_accuracy, r.lr) for r in history]


def test_resuming_after_kill_9_gives_the_uninterrupted_model(tmp_path):
    path = tmp_path / "run.safetensors"
    victim = subprocess.Popen([sys.executable, "-c", VICTIM, str(path), repr(CONFIG.to_dict())], cwd=ROOT)
    deadline = time.monotonic() + 300
    while not path.exists() and victim.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.1)
    os.kill(victim.pid, signal.SIGKILL)
    assert victim.wait() == -signal.SIGKILL, "the run ended before it could be killed"

    heard = []
    resumed = fit(toy_bags(), CONFIG, checkpoint=path, resume=True, on_epoch=heard.append, device="cpu")
    assert 1 < heard[0].epoch <= CONFIG.epochs
    straight = fit(toy_bags(), CONFIG, device="cpu")
    assert same_model(resumed, straight)
    assert without_seconds(resumed.history) == without_seconds(straight.history)


@pytest.mark.parametrize("preset", ["paper", "published"])
def test_stopping_and_resuming_changes_nothing(tmp_path, preset):
    config = Config.preset(preset, hidden=8, epochs=6, batch=16)
    path = tmp_path / "deep" / "run.safetensors"
    epochs = []
    stopped = fit(
        toy_bags(m=40),
        config,
        checkpoint=path,
        on_epoch=epochs.append,
        should_stop=lambda: len(epochs) == 2,
        device="cpu",
    )
    assert stopped.stopped
    assert [report.epoch for report in stopped.history] == [1, 2]
    whole = fit(toy_bags(m=40), config, device="cpu")
    for begins in (3, None):  # the second time the run has ended, and there is nothing left to do
        del epochs[:]
        resumed = fit(toy_bags(m=40), config, checkpoint=path, resume=True, on_epoch=epochs.append, device="cpu")
        assert [report.epoch for report in epochs] == ([] if begins is None else [3, 4, 5, 6])
        assert not resumed.stopped
        assert same_model(resumed, whole)
    fit(toy_bags(m=40), config, checkpoint=path, on_epoch=epochs.append, device="cpu")
    assert [report.epoch for report in epochs] == [1, 2, 3, 4, 5, 6]  # anew, where nobody asks to resume
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("jump", [-86_400, 86_400])
def test_setting_the_clock_neither_stops_checkpoints_nor_changes_the_model(tmp_path, monkeypatch, jump):
    config, path, kept = Config.preset("default", hidden=8, epochs=4, batch=16), tmp_path / "run.safetensors", []
    whole, clock = fit(toy_bags(m=20), config, device="cpu"), time.time()
    monkeypatch.setattr(time, "time", lambda: clock + jump * len(kept))
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", 0.0)

    def between_epochs():
        kept.append(path.exists())
        return False

    set_back = fit(toy_bags(m=20), config, checkpoint=path, should_stop=between_epochs, device="cpu")
    assert kept == [False, True, True, True]
    assert all(report.seconds >= 0 for report in set_back.history)
    assert same_model(set_back, whole)


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    config = CONFIG.replace(epochs=1)
    path = tmp_path / "c.safetensors"
    fit(toy_bags(m=20), config, checkpoint=path, device="cpu")
    with pytest.raises(InputError, match=r"belongs to lr=0\.05, not 0\.1"):
        fit(toy_bags(m=20), config.replace(lr=0.1), checkpoint=path, resume=True, device="cpu")
    with pytest.raises(InputError, match="on other bags"):
        fit(toy_bags(m=20, seed=8), config, checkpoint=path, resume=True, device="cpu")


def test_a_file_that_is_no_checkpoint_and_a_place_that_can_t_be_written_are_refused(tmp_path):
    path = tmp_path / "c.safetensors"
    for content in (b"", b"not a checkpoint", save({"x": np.ones(2)})):
        path.write_bytes(content)
        with pytest.raises(InputError, match="is not a readable checkpoint"):
            fit(toy_bags(m=20), CONFIG, checkpoint=path, resume=True, device="cpu")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="The checkpoint could not be written"):
        fit(toy_bags(m=20), CONFIG.replace(epochs=1), checkpoint=tmp_path / "file" / "c", device="cpu")
