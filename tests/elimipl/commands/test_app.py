"""The command that starts the app."""

import os
import runpy
import sys

from bag_generators.slide import list_slides
from tests.elimipl.commands.command_line import run


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
