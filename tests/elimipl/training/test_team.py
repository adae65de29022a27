"""Two processes train the model of one."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from elimipl import Predictor
from elimipl.cards.card import Card
from elimipl.commands import main
from elimipl.training.team import Part
from tests.elimipl.toy_bags import toy_bags
from tests.elimipl.training import two_processes

ROOT = Path(__file__).resolve().parents[3]


def torchrun(*arguments):
    """Two processes on this machine; a port of their own."""
    start = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    return subprocess.run([*start, *map(str, arguments)], cwd=ROOT, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def together(tmp_path_factory):
    """The folder in which two processes left what they trained; they went on from a checkpoint of one."""
    folder = tmp_path_factory.mktemp("team")
    counted = iter(range(1, 10))
    toy_bags(m=30).save(folder / "bags.safetensors")
    two_processes.train("default", checkpoint=folder / "one.ckpt", should_stop=lambda: next(counted) >= 2)
    ended = torchrun("-m", "tests.elimipl.training.two_processes", folder)
    assert ended.returncode == 0, ended.stderr[-3000:]
    (folder / "said").write_text(ended.stdout)
    (folder / "complained").write_text(ended.stderr)
    return folder


@pytest.mark.parametrize("way", two_processes.WAYS)
def test_two_processes_train_the_model_of_one(together, way):
    alone = two_processes.results(two_processes.train(way))
    for run in (way, "resumed") if way == "default" else (way,):  # from the checkpoint of one
        first, second = (np.load(together / f"{run} {rank}.npz") for rank in (0, 1))
        for name, expected in alone.items():
            np.testing.assert_array_equal(first[name], second[name])
            np.testing.assert_allclose(first[name], expected, atol=1e-5, rtol=0)


def test_one_process_goes_on_from_the_checkpoint_of_two(together):
    resumed = two_processes.train("default", checkpoint=together / "two.ckpt", resume=True)
    assert [report.epoch for report in resumed.history] == [1, 2, 3, 4]
    alone = two_processes.results(two_processes.train("default"))
    for name, found in two_processes.results(resumed).items():
        np.testing.assert_allclose(found, alone[name], atol=1e-5, rtol=0)


def test_the_command_writes_and_says_everything_once(together, tmp_path, capsys):
    options = ["--hidden", "16", "--epochs", "4", "--batch", "5", "--device", "cpu", "--quiet"]
    assert main(["train", str(together / "bags.safetensors"), "--out", str(tmp_path), *options]) == 0
    alone = Predictor.load(Card.read(next(tmp_path.glob("*.json"))).id, tmp_path)
    shared = Predictor.load(alone.card.id, together / "models")
    for name, expected in alone.network.state_dict().items():
        torch.testing.assert_close(shared.network.state_dict()[name], expected, atol=1e-5, rtol=0)
    assert shared.card.accuracy == alone.card.accuracy
    said, complained = ((together / name).read_text() for name in ("said", "complained"))
    assert said.count("held-out bags") == 1
    assert complained.count("There is no file") == 1
    assert complained.count("torchrun only helps training") == 2  # which evaluate is not


def test_every_bag_is_read_by_one_process():
    for count in (0, 1, 5, 64):
        assert [i for rank in range(3) for i in range(count)[Part(rank, 3).of(count)]] == list(range(count))
