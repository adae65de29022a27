"""The Slide page without a browser: slides of the folder, uploads, the demo, maps in the background, regions."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from bag_generators import InputError, TissueImage
from bag_generators.base.storage import write_whole
from bag_generators.slide import open_slide
from bag_generators.slide.demo import pyramid
from bag_generators.tissue.phantom import draw
from elimipl.jobs import DONE, SERVER, STOPPED
from elimipl_app.shell.handover import HandedOver
from elimipl_app.slide import mapping, sources, texts
from elimipl_app.slide.seen import field_image
from elimipl_app.slide.sources import Chosen

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 120


@pytest.fixture(scope="module")
def pixels():
    """4 × 3 tiles: the left half muscle, the right half lymphocytes."""
    tiles = {kind: draw(kind, 1, 224, coverage=0.9).pixels for kind in ("MUS", "LYM")}
    row = np.concatenate([tiles["MUS"], tiles["MUS"], tiles["LYM"], tiles["LYM"]], axis=1)
    return np.concatenate([row, row, row])


@pytest.fixture
def folder(tmp_path, monkeypatch, pixels):
    """A folder of slides with one slide in it; everything the page keeps goes below it."""
    slides = tmp_path / "slides"
    slides.mkdir()
    (slides / "a slide.tif").write_bytes(pyramid([pixels, pixels[::2, ::2]], 0.5))
    monkeypatch.setenv("ELIMIPL_SLIDES", str(slides))
    work = tmp_path / "work"
    for module in (sources, mapping):
        monkeypatch.setattr(module, "work_folder", lambda: work)
    kept = sources.OwnSlides(work / "own")
    monkeypatch.setattr(sources, "own_slides", lambda: kept)
    return slides


@pytest.fixture
def page(folder):
    return opened()


def opened(**state):
    page = AppTest.from_file(ROOT / "app.py", default_timeout=SECONDS).switch_page("pages/slide.py")
    page.query_params.update(generator="Row", labels="7 tissues")
    for key, value in state.items():
        page.session_state[key] = value
    return page.run()


def viewer(page):
    """What the viewer was sent; None where there is none."""
    found = page.get("bidi_component")
    return json.loads(found[0].proto.json) if found else None


def said(page):
    return " ".join(item.value for item in (*page.caption, *page.info, *page.warning, *page.error, *page.markdown))


def jobs(page):
    return SERVER.of(page.session_state["visitor"], "slide")


def mapped(page):
    page.button(key="slide_start").click().run()
    jobs(page)[0].join(SECONDS)
    return page.run()


def test_a_slide_of_the_folder_is_shown_by_its_name_and_nothing_tells_where_it_lies(page, folder):
    assert not page.exception
    assert page.selectbox(key="slide").options == ["a slide.tif"]
    assert "896 × 672 px · 0.45 × 0.34 mm · 0.5 µm per pixel" in said(page)
    sent = viewer(page)
    assert (sent["slide"]["width"], sent["slide"]["levels"], sent["maps"]) == (896, 3, [])
    assert [pane["title"] for pane in sent["panes"]] == ["a slide.tif"]
    assert str(folder) not in json.dumps(sent) + said(page)


def test_with_no_slide_the_page_explains_and_draws_a_demo(monkeypatch, folder, pixels):
    monkeypatch.delenv("ELIMIPL_SLIDES")
    monkeypatch.setattr(sources, "write_demo_slide", lambda path: write_whole(path, pyramid([pixels], 0.5), "It"))
    page = opened()
    assert viewer(page) is None
    assert page.info[0].value.count(". ") == 1
    page.button(key="slide_demo").click().run()
    assert not page.exception
    assert viewer(page)["panes"][0]["title"] == "Demo slide"


def test_an_upload_is_chosen_and_a_bad_one_gets_a_sentence_and_changes_nothing(page, pixels):
    good = pyramid([pixels[:224]], 0.5)
    page.file_uploader(key="slide_upload").set_value(("../../Mrs Smith.tif", good, "image/tiff")).run()
    assert not page.exception
    assert page.selectbox(key="slide").value == "Your slide 1"
    assert viewer(page)["slide"]["height"] == 224
    assert page.query_params["slide"] == "Your slide 1"  # not the name of the file
    page.file_uploader(key="slide_upload").set_value(("b.tif", good[:300], "image/tiff")).run()
    assert len(page.error) == 1
    assert page.selectbox(key="slide").value == "Your slide 1"
    assert "elimipl app --slides FOLDER" in said(page)
    page.file_uploader(key="slide_upload").set_value(("c.mrxs", b"\xff\xd8\xff", "")).run()
    assert len(page.error) == 1
    assert texts.SEVERAL_FILES[0].rstrip(".") in page.error[0].value


def test_bad_slides_get_a_sentence_each_and_the_page_stays_usable(folder):
    (folder / "cut.svs").write_bytes((folder / "a slide.tif").read_bytes()[:500])
    (folder / "empty.ndpi").write_bytes(b"")
    (folder / "notes.txt").write_text("not listed")
    page = opened()
    assert page.selectbox(key="slide").options == ["a slide.tif", "cut.svs", "empty.ndpi"]
    for name in ("cut.svs", "empty.ndpi"):
        page.selectbox(key="slide").set_value(name).run()
        assert not page.exception
        assert len(page.error) == 1
        assert viewer(page) is None
    page.selectbox(key="slide").set_value("a slide.tif").run()
    assert viewer(page) is not None
    (folder / "a slide.tif").unlink()
    assert not page.run().exception


def test_without_a_scale_the_page_goes_by_nuclei_until_it_is_told(folder, pixels):
    (folder / "a slide.tif").unlink()
    Image.fromarray(pixels).save(folder / "plain.png")
    page = opened()
    assert any("nuclei" in one.value for one in page.info)
    assert page.button(key="slide_start")
    next(one for one in page.number_input if "per pixel" in one.label).set_value(0.4).run()
    assert viewer(page)["slide"]["microns"] == 0.4
    assert page.button(key="slide_start")


def test_a_map_is_made_in_the_background_listed_and_there_after_a_reload(page):
    page = mapped(page)
    assert not page.exception
    (job,) = jobs(page)
    assert job.progress.state == DONE
    assert page.selectbox(key="slide_map").options == ["tissue7-row-elimipl", "none"]
    assert [one["title"] for one in viewer(page)["maps"]] == ["tissue7-row-elimipl"]
    (row,) = page.dataframe[0].value.to_dict("records")
    assert (row["model"], row["slide"], row["state"], row["tiles"]) == (
        "tissue7-row-elimipl",
        "a slide.tif",
        "done",
        12,
    )
    page.selectbox(key="slide_beside").set_value("the slide without a map").run()
    assert [pane["map"] for pane in viewer(page)["panes"]] == [None, 0]
    again = opened(visitor=page.session_state["visitor"])
    assert len(viewer(again)["maps"]) == 1
    assert viewer(opened())["maps"] == []  # another visitor


def test_two_models_stand_side_by_side(page):
    page = mapped(page)
    page.segmented_control(key="method").set_value("demipl").run()
    page = mapped(page)
    assert page.selectbox(key="slide_map").options[:2] == ["tissue7-row-demipl", "tissue7-row-elimipl"]
    page.selectbox(key="slide_map").set_value("tissue7-row-elimipl").run()
    page.selectbox(key="slide_beside").set_value("tissue7-row-demipl").run()
    sent = viewer(page)
    assert [pane["title"] for pane in sent["panes"]] == ["tissue7-row-elimipl", "tissue7-row-demipl"]
    assert [pane["map"] for pane in sent["panes"]] == [0, 1]
    assert sent["maps"][0]["probability"] != sent["maps"][1]["probability"]


def test_a_map_is_stopped_and_said_to_be(page, monkeypatch):
    def endless(*_, progress, stop, **__):
        progress(3, 12)
        while not stop():
            pass
        raise mapping.MapStoppedError

    monkeypatch.setattr(mapping, "map_slide", endless)
    page.button(key="slide_start").click().run()
    page.button(key="slide_stop").click().run()
    assert jobs(page)[0].progress.state == STOPPED
    assert "goes on from there" in said(page.run())
    assert page.button(key="slide_start")


def test_what_can_not_be_mapped_says_why(folder):
    (folder / "a slide.tif").write_bytes(pyramid([np.full((500, 500, 3), 245, np.uint8)], 0.5))
    page = mapped(opened())
    assert "No tissue was found" in page.error[0].value


def test_annotations_come_in_and_are_measured(page):
    ring = [[448, 0], [896, 0], [896, 672], [448, 672], [448, 0]]
    features = [
        {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [ring]}, "properties": {"name": "*half*"}},
        {"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 1]}, "properties": {}},
    ]  # fmt: skip
    page = mapped(page)
    page.file_uploader(key="slide_geojson").set_value(("a.geojson", json.dumps(features).encode(), "")).run()
    assert not page.exception
    assert "1 region brought along. 1 without an area left out." in said(page)
    (region,) = viewer(page)["regions"]
    assert region["name"] == "*half*"
    table = next(one.value for one in page.dataframe if "area" in one.value)
    assert table["area"][0] == pytest.approx(0.224 * 0.336)
    assert table["mapped"][0] == pytest.approx(1)
    assert 0 < table["attention"][0] < 1
    page.file_uploader(key="slide_geojson").set_value(("b.geojson", b"{", "")).run()
    assert "is not JSON" in page.error[0].value
    assert len(viewer(page)["regions"]) == 1


def test_forgetting_takes_slides_and_maps_away(page, pixels):
    upload = ("mine.tif", pyramid([pixels], 0.5), "image/tiff")
    page = mapped(page.file_uploader(key="slide_upload").set_value(upload).run())
    page.file_uploader(key="slide_upload").set_value(None)
    page.button(key="slide_forget").click().run()
    assert not page.exception
    assert page.selectbox(key="slide").options == ["a slide.tif"]
    assert jobs(page) == []


@pytest.fixture
def chosen(folder):
    return Chosen("known", "a slide.tif", open_slide(folder / "a slide.tif"))


def test_a_field_has_the_pixels_of_its_place_at_the_models_scale(chosen, pixels):
    field, x, y = field_image(chosen, {"x": 224, "y": 0, "slide": "known"})
    assert (field.width, field.microns_per_pixel, x, y) == (672, 0.5, 224, 0)
    assert np.abs(field.pixels.astype(int) - pixels[:672, 224:896]).mean() < 6


@pytest.mark.parametrize(
    "sent",
    [None, 3, [], {}, {"x": 1, "y": 1}, {"x": 1, "y": 1, "slide": "other"}, {"x": -1, "y": 0, "slide": "known"},
     {"x": 896, "y": 0, "slide": "known"}, {"x": "a", "y": 0, "slide": "known"},
     {"x": 1e400, "y": 0, "slide": "known"}],
)  # fmt: skip
def test_a_field_elsewhere_is_refused(chosen, sent):
    with pytest.raises(InputError, match="does not lie on this slide"):
        field_image(chosen, sent)


def test_explore_shows_the_field_among_the_pictures_of_the_visit(pixels):
    page = AppTest.from_file(ROOT / "app.py", default_timeout=SECONDS)
    page.session_state["handed_over"] = HandedOver(TissueImage.from_array(pixels), "field of a slide at 0.10, 0.20 mm")
    page.run()
    assert not page.exception
    assert any("Shown: field of a slide at 0.10, 0.20 mm." in caption.value for caption in page.caption)
    assert "handed_over" not in page.session_state
