"""“More real samples” on Explore: tiles of a server on this machine, and one sentence where none answers."""

import io
import json
import time
import zipfile
from functools import partial
from pathlib import Path

import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from bag_generators.tissue import phantom
from elimipl.datasets import fetch
from elimipl_app.inputs.gallery import CLASSES, MORE_FAILED
from tests.elimipl.datasets.range_server import Behaviour, serve

ROOT = Path(__file__).resolve().parents[2]
NAME = fetch.DATASETS[0]


@pytest.fixture
def archive() -> bytes:
    """Two drawn tiles of each class, as TIFF files in a zip file."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as members:
        for name in CLASSES:
            for seed in range(2):
                tile = io.BytesIO()
                Image.fromarray(phantom.draw(name, seed=300 + seed).pixels).save(tile, "TIFF")
                members.writestr(f"{NAME}/{name}/{name}-{seed}.tif", tile.getvalue())
    return file.getvalue()


@pytest.fixture
def asked(monkeypatch):
    """Open Explore with Zenodo at another address, and press the button."""
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    monkeypatch.setenv("no_proxy", "*")

    def press(base_url: str) -> AppTest:
        monkeypatch.setattr(fetch, "fetch_tiles", partial(fetch.fetch_tiles, base_url=base_url))
        page = AppTest.from_file(ROOT / "app.py", default_timeout=120)
        page.query_params["labels"] = "tissue7"
        page.run()
        page.button(key="more-samples").click().run()
        assert not page.exception
        return page

    return press


def test_fetched_tiles_are_in_the_gallery_with_their_class_and_licence(asked, archive):
    behaviour = Behaviour({f"{NAME}.zip": archive})
    with serve(behaviour) as address:
        page = asked(address)
        assert behaviour.sent < 0.75 * len(archive)  # ranges, not the whole file
        assert not page.error
    mine = [item for item in page.button if "tile of CRC-VAL-HE-7K (CC BY 4.0)" in (item.label or "")]
    assert {item.label.split()[0] for item in mine} == set(CLASSES)
    next(item for item in mine if item.label.startswith("MUC")).click().run()
    assert any("Shown: MUC tile" in item.value for item in page.caption)
    bars = next(item for item in page.get("plotly_chart") if item.key == "class-bars")
    marked = {
        name: "true" in text
        for trace in json.loads(bars.proto.spec)["data"]
        for name, text in zip(trace["y"], trace["text"], strict=True)
    }
    assert [name for name, is_true in marked.items() if is_true] == ["MUC"]


def test_offline_one_sentence_says_so_and_the_page_stays(asked):
    with serve(Behaviour({})) as address:
        pass  # nobody listens there any more
    page = asked(address)
    assert [item.value.startswith(f"**{MORE_FAILED}**") for item in page.error] == [True]
    assert "Traceback" not in page.error[0].value
    assert not any("tile of CRC-VAL" in (item.label or "") for item in page.button)
    assert page.get("plotly_chart")
