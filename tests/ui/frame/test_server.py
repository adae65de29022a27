"""What is set once for the whole server."""

import gc
import tomllib
from pathlib import Path

import cv2
import streamlit as st
import torch
from streamlit.testing.v1 import AppTest

from ui.frame import server
from ui.frame.server import prepare_server

ROOT = Path(__file__).resolve().parents[3]


def test_modules_are_spared_once_and_later_things_are_still_collected():
    page = AppTest.from_file(ROOT / "app.py", default_timeout=120).run()
    page.run()
    spared = gc.get_freeze_count()
    assert spared > 100_000
    page.run()
    page.run()
    assert gc.get_freeze_count() <= spared  # objects that end leave; none were added
    assert not page.exception

    class Knot:
        pass

    knot = Knot()
    knot.self = knot
    del knot
    assert gc.collect() > 0


def test_garbage_is_collected_now_and_then_but_not_for_every_run(monkeypatch):
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert settings["runner"]["postScriptGC"] is False
    prepare_server()
    collected = []
    monkeypatch.setattr(server.gc, "collect", lambda: collected.append(1))
    prepare_server()
    assert collected == []
    server._collect_garbage.clear()  # as when the time has passed
    prepare_server()
    prepare_server()
    assert collected == [1]


def test_one_thread_per_computation():
    st.cache_resource.clear()  # another test may have had it done and changed it
    prepare_server()
    assert torch.get_num_threads() == 1
    assert cv2.getNumThreads() == 1
