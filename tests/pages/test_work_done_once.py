"""What is worked out about an upload is worked out once: its hash, its working copy and what the model says."""

import hashlib
import io
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

import bag_generators.image
import bag_generators.tissue.quality
from bag_generators.tissue.phantom import draw
from bag_generators.tissue.quality import measure_for
from elimipl.answers.predictor import Predictor

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def png() -> bytes:
    file = io.BytesIO()
    pixels = np.array(Image.fromarray(np.array(draw("TUM", seed=77).pixels)).resize((300, 260)))
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


@pytest.fixture
def counted(monkeypatch, png):
    """How often the upload was hashed and shrunk."""
    counts = {"hashed": 0, "shrunk": 0}
    sha256, shrink = hashlib.sha256, bag_generators.image.working_copy

    def counting_sha256(data=b"", **more):
        counts["hashed"] += bytes(data) == png
        return sha256(data, **more)

    def counting_shrink(pixels):
        counts["shrunk"] += pixels.shape == (260, 300, 3)
        return shrink(pixels)

    monkeypatch.setattr(hashlib, "sha256", counting_sha256)
    monkeypatch.setattr(bag_generators.image, "working_copy", counting_shrink)
    monkeypatch.setattr(bag_generators.tissue.quality, "working_copy", counting_shrink)
    return counts


def test_an_upload_on_explore_is_hashed_shrunk_read_and_measured_once(counted, png):
    with (
        patch.object(Predictor, "predict", autospec=True, side_effect=Predictor.predict) as predicted,
        patch("elimipl_app.explore.analysis.measure_for", side_effect=measure_for) as measured,
    ):
        page = AppTest.from_file(ROOT / "app.py", default_timeout=120).run()
        before = predicted.call_count, measured.call_count
        page.file_uploader(key="upload").set_value(("mine.png", png, "image/png")).run()
        page.toggle(key="raw").set_value(True).run()
        assert not page.exception
        assert not page.error
        assert counted == {"hashed": 1, "shrunk": 1}
        assert (predicted.call_count - before[0], measured.call_count - before[1]) == (1, 1)


def test_a_file_of_a_batch_is_hashed_once_and_read_whole(counted, png):
    page = AppTest.from_file(ROOT / "app.py", default_timeout=120).switch_page("pages/batch.py").run()
    page.file_uploader(key="batch").set_value([("mine.png", png, "image/png")]).run()
    page.run()
    assert not page.exception
    assert any("1 of 1" in item.value for item in page.markdown)
    assert counted == {"hashed": 1, "shrunk": 0}
