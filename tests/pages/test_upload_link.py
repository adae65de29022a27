"""A link made with somebody's own picture waits for it in a fresh browser, and restores the view."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from bag_generators.tissue.samples import list_samples

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = {sample.id: sample for sample in list_samples()}


def file_of(sample_id: str) -> tuple[str, bytes, str]:
    sample = SAMPLES[sample_id]
    return sample.file, (sample.folder / sample.file).read_bytes(), "image/png"


def opened(query: dict[str, str | list[str]]) -> AppTest:
    visit = AppTest.from_file(ROOT / "app.py", default_timeout=120)
    visit.query_params.update(query)
    return visit.run()


def said(visit: AppTest) -> str:
    return " ".join(item.value for item in visit.info)


@pytest.fixture(scope="module")
def link() -> dict[str, str | list[str]]:
    """The address of a view of an upload with everything set."""
    visit = opened({"generator": "row", "map": "vote"})
    visit.file_uploader(key="upload").set_value(file_of("restained-section")).run()
    visit.slider(key="x").set_value(33).run()
    assert not visit.exception
    address = {"x": "33", **visit.query_params}  # the browser writes sliders into the address itself
    assert SAMPLES["restained-section"].sha256[:16] in address["picture"]
    return address


def test_a_fresh_browser_is_told_which_picture_is_missing_and_gets_the_view_with_it(link):
    visit = opened(link)
    assert not visit.exception
    digits = SAMPLES["restained-section"].sha256[:16]
    assert f"This link was made with a picture you don't have (sha256 {digits}…)" in said(visit)
    assert not visit.get("plotly_chart")
    visit.file_uploader(key="upload").set_value(file_of("restained-section")).run()
    assert not visit.exception
    assert "This link" not in said(visit)
    assert visit.session_state["map"] == "vote"
    assert visit.session_state["generator"] == "row"
    assert visit.session_state["x"] == 33
    assert visit.get("plotly_chart")


def test_another_picture_is_shown_with_a_word_and_a_sample_can_be_shown_instead(link):
    visit = opened(link)
    visit.file_uploader(key="upload").set_value(file_of("restained-crypt")).run()
    assert not visit.exception
    assert "The link was made with another picture" in said(visit)
    assert visit.get("plotly_chart")
    assert SAMPLES["restained-crypt"].sha256[:16] in visit.query_params["picture"]
    visit = opened(link)
    visit.button(key="stop-waiting").click().run()
    assert not visit.exception
    assert visit.get("plotly_chart")
    assert "picture" not in visit.query_params


def test_what_is_no_hash_is_named_and_a_sample_puts_no_picture_into_the_address():
    visit = opened({"picture": "../../etc/passwd"})
    assert not visit.exception
    assert "which is not the sha256 of a picture" in said(visit)
    assert visit.get("plotly_chart")
    assert "picture" not in visit.query_params
    visit.file_uploader(key="upload").set_value(file_of("restained-crypt")).run()
    assert "picture" in visit.query_params
    visit.file_uploader(key="upload").set_value(None).run()
    visit.run()
    assert "picture" not in visit.query_params
