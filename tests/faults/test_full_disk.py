"""A disk that is full, read-only or refuses: nothing half-written, one sentence, and no result thrown away."""

import errno
import os
import resource
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from bag_generators.base.errors import InputError
from bag_generators.base.storage import check_writable, write_together, write_whole
from elimipl.config import Config
from elimipl.datasets.dataset import BagDataset
from elimipl.training import loop
from elimipl.training.loop import fit
from tests.elimipl.toy_bags import toy_bags
from tests.support.programs import ended

CONFIG = Config.preset("default", hidden=8, epochs=5, batch=16)


def failing(code: int) -> Callable[..., None]:
    def fail(*_args, **_settings) -> None:
        raise OSError(code, os.strerror(code))

    return fail


def no_file_above(limit: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EIO, errno.EDQUOT])
def test_the_old_file_survives_a_write_that_fails(tmp_path, monkeypatch, step, code):
    path = tmp_path / "model.json"
    write_whole(path, b"old", "The model card")
    if step == "fsync":
        monkeypatch.setattr(os, "fsync", failing(code))
    else:
        monkeypatch.setattr(Path, "replace", failing(code))
    with pytest.raises(InputError, match="The model card could not be written") as refused:
        write_whole(path, b"new", "The model card")
    assert os.strerror(code) in refused.value.what
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_larger_than_the_system_allows_leaves_nothing(tmp_path):
    program = (
        "import sys; from pathlib import Path; from bag_generators.base.storage import write_whole\n"
        "write_whole(Path(sys.argv[1]) / 'a', bytes(1_000_000), 'The model')"
    )
    limited = ended("-c", program, tmp_path, preexec_fn=no_file_above(100_000))
    assert "InputError: The model could not be written" in limited.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_place_is_refused_before_the_work_and_left_as_it_was(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="could not be written"):
        check_writable(tmp_path / "file" / "model", "The model")
    check_writable(tmp_path / "new" / "deep" / "model", "The model")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_disk_that_fills_up_while_training_costs_no_epoch(tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", 0.0)
    path = tmp_path / "run.safetensors"
    whole = fit(toy_bags(m=40), CONFIG, device="cpu")

    def fill_up(report) -> None:
        if report.epoch == 3:
            monkeypatch.setattr(os, "fsync", failing(errno.ENOSPC))

    fitted = fit(toy_bags(m=40), CONFIG, checkpoint=path, on_epoch=fill_up, device="cpu")
    assert fitted.unsaved is not None
    assert "No space left" in fitted.unsaved.what
    assert len(fitted.history) == CONFIG.epochs
    pairs = zip(fitted.network.state_dict().values(), whole.network.state_dict().values(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)
    assert list(tmp_path.iterdir()) == [path]

    monkeypatch.undo()  # there is room again: the run goes on from the last whole checkpoint
    heard = []
    resumed = fit(toy_bags(m=40), CONFIG, checkpoint=path, resume=True, on_epoch=heard.append, device="cpu")
    assert heard[0].epoch == 3
    assert resumed.unsaved is None
    assert np.array_equal(resumed.weights, whole.weights)


@pytest.fixture
def bag_file(tmp_path) -> Path:
    path = tmp_path / "bags.safetensors"
    toy_bags(m=40).save(path)
    return path


def train(bag_file: Path, out: Path, *words: object, **more) -> subprocess.CompletedProcess[str]:
    """`elimipl train` in a process of its own."""
    short = ("--epochs", 3, "--hidden", 64, "--quiet")
    return ended("-m", "elimipl", "train", bag_file, "--out", out, *short, *words, **more)


def test_a_model_that_can_t_be_saved_is_one_sentence_and_no_half_file(bag_file, tmp_path):
    limited = no_file_above(2_000)
    done = train(bag_file, tmp_path / "out", "--checkpoint", tmp_path / "run.ckpt", preexec_fn=limited)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "could not be written" in done.stderr
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert left == [bag_file]


def test_a_model_whose_folder_vanished_is_saved_elsewhere(bag_file, tmp_path, monkeypatch):
    from elimipl.candidates.crowd import Candidates
    from elimipl.cards.finish import finish
    from elimipl.commands.train import _saved

    bags = BagDataset.load(bag_file)
    fitted = fit(bags, CONFIG, device="cpu")
    finished = finish(fitted, bags, Candidates(), created_by="a test")
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    path = _saved(finished, tmp_path / "file" / "models")
    assert path.exists()
    assert path.with_suffix(".safetensors").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_rights_is_refused_before_training(bag_file, tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o555)
    refused = train(bag_file, locked)
    assert refused.returncode == 2
    assert "could not be written" in refused.stderr


def test_two_files_are_replaced_together_or_not_at_all(tmp_path, monkeypatch):
    old, new = ({tmp_path / name: text for name in ("x.safetensors", "x.json")} for text in (b"old", b"new"))
    write_together(old, "The model")
    fsync, synced = os.fsync, []

    def full_at_the_second(file: int) -> None:
        synced.append(file)
        (fsync if len(synced) == 1 else failing(errno.ENOSPC))(file)

    monkeypatch.setattr(os, "fsync", full_at_the_second)
    with pytest.raises(InputError, match="The model could not be written"):
        write_together(new, "The model")
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == old
