"""What a visit leaves in the log: every step with its picture, model and time; nothing the person typed or named."""

import hashlib
import io
import json
import zipfile
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from bag_generators.tissue import phantom

ROOT = Path(__file__).resolve().parents[2]
NAME = "Jane_Doe_1970-01-01_biopsy.png"
LABELS = ("janedoe", "johnroe", "moepoe")


def tile(seed: int) -> bytes:
    return cv2.imencode(".png", cv2.cvtColor(phantom.draw("TUM", seed).pixels, cv2.COLOR_RGB2BGR))[1].tobytes()


@pytest.fixture
def page() -> AppTest:
    return AppTest.from_file(ROOT / "app.py", default_timeout=120).run()


def events(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def test_an_upload_is_loaded_bagged_predicted_and_never_named(page, capsys):
    data = tile(4242)
    page.file_uploader(key="upload").set_value((NAME, data, "image/png")).run()
    assert not page.exception
    written = capsys.readouterr().err
    told = {line["event"]: line for line in events(written)}
    sha = hashlib.sha256(data).hexdigest()[:12]
    for event in ("load", "bag", "predict"):
        assert told[event]["image"] == sha
        assert told[event]["outcome"] == "ok"
        assert told[event]["ms"] >= 0
    assert told["bag"]["generator"] == told["predict"]["generator"] == "deep"
    assert told["predict"]["model"] == "colon-deep-elimipl"
    assert "Jane" not in written
    assert str(ROOT) not in written


def test_a_refusal_is_logged_without_its_words(page, capsys):
    page.file_uploader(key="upload").set_value((NAME, b"Jane Doe's letter", "image/png")).run()
    written = capsys.readouterr().err
    refused = [line for line in events(written) if line["outcome"] == "refused"]
    assert {line["event"] for line in refused} == {"load", "shown"}
    assert "Jane" not in written


def test_a_batch_leaves_one_line_a_file(capsys):
    page = AppTest.from_file(ROOT / "app.py", default_timeout=120).switch_page("pages/batch.py").run()
    capsys.readouterr()
    files = [(NAME, tile(5), "image/png"), ("Jane.png", b"no picture", "image/png")]
    page.file_uploader(key="batch").set_value(files).run()
    written = capsys.readouterr().err
    assert [line["outcome"] for line in events(written) if line["event"] == "predict"] == ["ok", "refused"]
    assert "Jane" not in written


def test_a_training_on_ones_own_labels_names_none_of_them(capsys):
    page = AppTest.from_file(ROOT / "app.py", default_timeout=120).switch_page("pages/train.py").run()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for number in range(9):
            pixels = np.random.default_rng(number).integers(60 * (number % 3), 60 + 60 * (number % 3), (64, 64, 3))
            picture = io.BytesIO()
            Image.fromarray(pixels.astype(np.uint8)).save(picture, "PNG")
            archive.writestr(f"{LABELS[number % 3]}/{number}.png", picture.getvalue())
    page.segmented_control(key="train_data").set_value("own").run()
    page.file_uploader(key="train_upload").set_value(("jane.zip", buffer.getvalue(), "application/zip")).run()
    page.toggle(key="train_slow").set_value(False)
    page.number_input(key="train_epochs").set_value(2).run()
    page.button(key="start").click().run()
    page.session_state["train_run"].join(60)
    assert not page.exception
    written = capsys.readouterr().err
    training = [line for line in events(written) if line["event"] == "train"]
    assert [line["outcome"] for line in training] == ["started", "done"]
    assert training[1]["epochs"] == 2
    assert training[1]["model"].startswith("mine-")
    assert not [word for word in (*LABELS, "jane.zip") if word in written]
