"""The folder of a server: only folders of dead servers are removed, and a full disk is one sentence."""

import errno
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from bag_generators import InputError
from elimipl_app.server import work_folder as module
from elimipl_app.server.app import DiskErrors
from elimipl_app.server.work_folder import PREFIX, remove_left_folders, remove_work_folder, work_folder
from tests.support.programs import python

HOLDING = """
from elimipl_app.server.work_folder import work_folder
(work_folder() / "slide.svs").write_text("a patient")
print(work_folder(), flush=True)
input()
"""


@pytest.fixture
def temporary(tmp_path, monkeypatch) -> Path:
    """A place for temporary files, and a program that has no folder yet."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(module, "_held", [])
    return tmp_path


def test_only_own_folders_of_dead_servers_are_removed(temporary):
    own = work_folder()
    environment = {"TMPDIR": str(temporary)}
    alive, dead = (python("-c", HOLDING, environment=environment, stdin=-1) for _ in range(2))
    kept, left = (Path(one.stdout.readline().strip()) for one in (alive, dead))
    dead.kill()
    dead.communicate()
    (temporary / f"{PREFIX}new").mkdir()  # a server that is just making its folder
    (temporary / "elsewhere").mkdir()
    (temporary / f"{PREFIX}link").symlink_to(temporary / "elsewhere")
    (temporary / f"{PREFIX}file").write_text("")
    old = temporary / f"{PREFIX}old"  # of a version without locks
    old.mkdir()
    os.utime(old, (0, 0))
    assert remove_left_folders() == 2
    assert not left.exists()
    assert not old.exists()
    assert (kept / "slide.svs").exists()
    assert own.exists()
    assert {path.name for path in temporary.iterdir()} == {
        own.name, kept.name, "elsewhere", *(f"{PREFIX}{end}" for end in ("new", "link", "file"))
    }  # fmt: skip
    alive.communicate("\n")
    remove_work_folder()
    assert not own.exists()


def test_no_place_for_a_folder_is_one_sentence(temporary, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(temporary / "missing"))
    with pytest.raises(InputError, match="no place to keep files") as refused:
        work_folder()
    assert str(temporary) not in str(refused.value)


async def test_an_upload_on_a_full_disk_is_answered_with_a_sentence():
    async def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/tmp/secret")

    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await DiskErrors(full)({"type": "http", "method": "PUT", "path": "/", "headers": []}, full, send)
    assert sent[0]["status"] == 507
    assert sent[1]["body"].decode() == (
        "The upload could not be kept: the server's disk is full, or may not be written to."
    )
    with pytest.raises(OSError, match="No space"):  # what is no upload is not hidden
        await DiskErrors(full)({"type": "http", "method": "GET", "path": "/", "headers": []}, full, send)
