"""What a visit to Explore keeps: pictures, fields, removed patches, the lens; and what a link holds of them."""

import io
from pathlib import Path

import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from bag_generators.scale import TILE
from bag_generators.tissue import phantom
from elimipl_app.explore import texts

ROOT = Path(__file__).resolve().parents[2]


def opened(query: dict[str, str] | None = None, **widgets) -> AppTest:
    page = AppTest.from_file(ROOT / "app.py", default_timeout=120)
    page.query_params.update(query or {})
    for key, value in widgets.items():
        page.session_state[key] = value
    page.run()
    assert not page.exception
    return page


def upload(page: AppTest, seed: int, side: int = TILE) -> None:
    file = io.BytesIO()
    pixels = phantom.draw("STR", seed=seed).pixels
    Image.fromarray(pixels).resize((side, side)).save(file, "PNG")
    page.file_uploader(key="upload").set_value((f"{seed}.png", file.getvalue(), "image/png")).run()
    assert not page.exception


def said(page: AppTest) -> str:
    return " ".join(item.value for item in [*page.caption, *page.markdown, *page.info])


def test_an_upload_is_there_again_after_another_page_with_its_scale_and_its_removed_patches():
    page = opened(generator="row", labels="tissue7")
    upload(page, 5)
    own = page.session_state["shown_kept"]
    page.segmented_control(key="magnification").set_value("40×").run()
    page.session_state["below"] = texts.WHAT_IF_TAB
    page.run()
    next(item for item in page.multiselect if item.key.startswith("removed-")).set_value([2]).run()
    assert "1 of 8 patches removed" in said(page)
    page.switch_page("pages/doctor.py").run()
    page.switch_page("app.py").run()
    assert not page.exception
    assert page.session_state["shown_kept"] == own
    assert (page.session_state["generator"], page.session_state["labels"]) == ("row", "tissue7")
    assert page.segmented_control(key="magnification").value == "40×"
    assert "0.25 µm per pixel (by hand)" in said(page)
    assert "1 of 8 patches removed" in said(page)


def test_a_replaced_upload_keeps_the_label_space_though_a_drawing_is_shown_in_between():
    page = opened(sample="phantom-tum")
    drawn = page.session_state["labels"]
    upload(page, 5)
    page.segmented_control(key="labels").set_value("tissue7").run()
    page.segmented_control(key="generator").set_value("sbn").run()
    page.file_uploader(key="upload").set_value(None).run()  # what a browser sends when a file is replaced
    assert page.session_state["labels"] == drawn
    upload(page, 6)
    assert (page.session_state["generator"], page.session_state["labels"]) == ("sbn", "tissue7")


def test_the_field_of_one_picture_is_not_used_for_the_next_and_is_found_again():
    page = opened(generator="row", labels="tissue7")
    upload(page, 5, side=512)
    page.slider(key="x").set_value(0).run()
    first = page.session_state["shown_kept"]
    upload(page, 6, side=512)
    assert page.slider(key="x").value == page.slider(key="y").value == (512 - TILE) // 2
    page.session_state["shown_kept"] = first
    page.run()
    assert page.slider(key="x").value == 0


@pytest.mark.parametrize(
    ("query", "patches", "lens"),
    [
        ({"removed": "1.4-5", "lens": "0,0,112,112"}, (1, 4, 5), True),
        ({"removed": "0-7"}, (), False),
        ({"removed": "9"}, (), False),
        ({"removed": "5-1;drop", "lens": "0,0,0,5"}, (), False),
        ({"removed": "9999999999999999999", "lens": "nan"}, (), False),
    ],
    ids=str,
)
def test_a_link_holds_removed_patches_and_a_lens_and_what_does_not_fit_is_said(query, patches, lens):
    page = opened({"sample": "phantom-tum", "generator": "row", "labels": "tissue7", **query})
    (removed, *_) = [*page.session_state["removed"].values(), ()]
    assert removed == patches
    assert any(page.session_state["region"].values()) == lens
    assert ("The link asks for" in said(page)) == (not patches)
    assert ("removed" in page.query_params) == bool(patches)
    assert ("In the lens" in said(page)) == lens


def test_an_older_link_to_a_field_of_a_picture_that_is_read_whole_lays_the_lens_there():
    page = opened({"sample": "restained-section", "generator": "deep", "part": "true", "x": "33", "y": "20"})
    (polygon,) = next(iter(page.session_state["region"].values()))
    assert (polygon[0], polygon[2]) == ((33.0, 20.0), (257.0, 244.0))
    assert "In the lens" in said(page)
    assert "The whole picture" in said(page)


def test_a_slide_on_explore_is_sent_to_its_page_and_the_picture_stays():
    page = opened(generator="row", labels="tissue7")
    page.file_uploader(key="upload").set_value(("scan.svs", b"II*\0", "image/tiff")).run()
    assert not page.exception
    assert any("This is a whole slide" in item.value and "Slide page" in item.value for item in page.error)
    assert "Open the Slide page" in [item.label for item in page.get("page_link")]
    assert page.get("plotly_chart")


def test_the_map_of_the_second_choice_is_one_click_away_and_so_is_the_way_back():
    page = opened(sample="phantom-tum", generator="row", labels="tissue7", map="attention")
    page.button(key="second-choice").click().run()
    assert (page.session_state["map"], page.session_state["map_class"]) == ("contribution", "second")
    assert not page.exception
    page.button(key="second-choice").click().run()
    assert (page.session_state["map"], page.session_state["map_class"]) == ("attention", "first")


def test_what_was_removed_at_one_scale_is_not_removed_at_another():
    page = opened({"sample": "restained-crypt", "generator": "deep", "removed": "0-15"})
    assert "16 of 256 cells removed" in said(page)
    page.segmented_control(key="magnification").set_value("40×").run()
    assert "cells removed" not in said(page)
    page.segmented_control(key="magnification").set_value("20×").run()
    assert "16 of 256 cells removed" in said(page)
