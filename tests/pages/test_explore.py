"""The Explore page without a browser: every sample × generator × label space, and what a person can do to it."""

import json
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from bag_generators import GENERATORS, generate
from bag_generators.tissue.samples import list_samples
from elimipl.explain import without_instances
from elimipl.predictor import Predictor
from ui.explore.figures.heatmap import COLOUR_MAPS
from ui.figures.score_scale import SCALES
from ui.frame.palette import LIGHT

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = {sample.id: sample for sample in list_samples()}
PHANTOMS = [sample.id for sample in SAMPLES.values() if sample.kind == "phantom"]


def opened(**widgets) -> AppTest:
    page = AppTest.from_file(ROOT / "app.py", default_timeout=120)
    for key, value in widgets.items():
        page.session_state[key] = value
    page.run()
    assert not page.exception
    return page


def figure(page: AppTest, key: str) -> dict:
    chart = next(item for item in page.get("plotly_chart") if item.key == key)
    return json.loads(chart.proto.spec)


def decoded(values) -> np.ndarray:
    """Plotly sends arrays as lists or as base64 with a type."""
    if isinstance(values, dict):
        import base64

        array = np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"])
        return array.reshape([int(part) for part in values["shape"].split(",")]) if "shape" in values else array
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def bars(page: AppTest) -> dict[str, float]:
    shown: dict[str, float] = {}
    for trace in figure(page, "class-bars")["data"]:
        if trace["name"] != "before":
            shown |= dict(zip(trace["y"], decoded(trace["x"]), strict=True))
    return shown


@pytest.mark.parametrize("generator", list(GENERATORS))
@pytest.mark.parametrize("space", ["tissue7", "lesion5"])
def test_every_sample_gives_finite_and_aligned_figures(generator, space):
    page = opened(generator=generator, labels=space, sample=next(iter(SAMPLES)))
    predictor = Predictor.load(f"{space}-{generator}-elimipl")
    for sample in SAMPLES.values():
        page.selectbox(key="sample").set_value(sample.id).run()
        assert not page.exception
        assert sum(bars(page).values()) == pytest.approx(1)
        heatmap = next(trace for trace in figure(page, "overlay")["data"] if trace["type"] == "heatmap")
        x, y = decoded(heatmap["x"]), decoded(heatmap["y"])
        image = sample.load()
        if image.width >= 336:  # looked at through a field of view
            continue
        bag = generate(generator, image, **predictor.card.generator_params)
        x_edges, y_edges, _ = bag.regions.grid(np.zeros(len(bag.features)))
        np.testing.assert_array_equal(x, x_edges)
        np.testing.assert_array_equal(y, y_edges)
        assert bars(page) == pytest.approx(
            dict(zip(predictor.card.label_space.names, predictor.predict(bag).probabilities, strict=True))
        )


def test_candidate_colours_follow_the_candidate_set():
    page = opened(sample="phantom-tum", labels="tissue7")
    for trace in figure(page, "class-bars")["data"]:
        if trace["name"] == "candidate":
            assert set(trace["y"]) == set(SAMPLES["phantom-tum"].candidates)
            assert trace["marker"]["color"] == LIGHT.candidate
    page.segmented_control(key="candidates_from").set_value("hand").run()
    page.pills(key="candidates_tissue7").set_value(["LYM"]).run()
    trace = next(trace for trace in figure(page, "class-bars")["data"] if trace["name"] == "candidate")
    assert trace["y"] == ["LYM"]


def test_crowd_candidates_change_with_the_seed_and_hold_the_truth():
    page = opened(sample="phantom-str", labels="tissue7", candidates_from="crowd")
    seen = set()
    for seed in range(6):
        page.number_input(key="crowd_seed").set_value(seed).run()
        trace = next(trace for trace in figure(page, "class-bars")["data"] if trace["name"] == "candidate")
        assert "STR" in trace["y"]
        seen.add(tuple(trace["y"]))
    assert len(seen) > 1


def test_removing_an_instance_equals_a_fresh_prediction_without_it():
    page = opened(sample="phantom-lym", generator="sbn", labels="tissue7")
    predictor = Predictor.load("tissue7-sbn-elimipl")
    bag = generate("sbn", SAMPLES["phantom-lym"].load(), **predictor.card.generator_params)
    before = bars(page)
    page.pills(key="removed").set_value([2, 5]).run()
    expected = without_instances(predictor, bag, [2, 5]).probabilities
    assert bars(page) == pytest.approx(dict(zip(predictor.card.label_space.names, expected, strict=True)))
    ghost = next(trace for trace in figure(page, "class-bars")["data"] if trace["name"] == "before")
    assert dict(zip(ghost["y"], decoded(ghost["x"]), strict=True)) == pytest.approx(before)


def test_removing_everything_removes_nothing():
    page = opened(sample="phantom-lym", generator="row", labels="tissue7")
    before = bars(page)
    page.pills(key="removed").set_value(list(range(8))).run()
    assert bars(page) == pytest.approx(before)


@pytest.mark.parametrize("source", ["leave_one_out", "integrated_gradients"])
def test_every_map_scale_and_colour_is_drawn(source):
    page = opened(sample="phantom-norm", generator="kmeansseg", labels="tissue7", map=source)
    for scale in SCALES:
        page.segmented_control(key="scale").set_value(scale).run()
        assert not page.exception
    page.selectbox(key="map_class").set_value("TUM").run()
    assert "TUM" in json.dumps(figure(page, "overlay")["data"][0]["colorbar"]["title"])
    page.segmented_control(key="map").set_value("attention").run()
    for colours in COLOUR_MAPS:
        page.selectbox(key="colours").set_value(colours).run()
        assert not page.exception
    page.toggle(key="side_by_side").set_value(True).run()
    assert figure(page, "original")["data"] == []


def test_truth_of_phantoms_is_red_and_steelblue():
    page = opened(sample="phantom-mus", generator="sift", labels="tissue7")
    named = {trace["name"]: trace["marker"]["color"] for trace in figure(page, "figure-five")["data"]}
    assert named == {"carries the class": LIGHT.positive, "does not": LIGHT.negative}
    assert LIGHT.negative == "#4682B4"


def test_field_of_view_moves_and_all_tiles_are_classified():
    page = opened(sample="restained-section", generator="row", labels="tissue7")
    first = figure(page, "overlay")["layout"]["images"][0]["source"]
    page.slider(key="x").set_value(0).run()
    assert figure(page, "overlay")["layout"]["images"][0]["source"] != first
    page.button(key="classify-all").click().run()
    assert not page.exception
    filled = [trace for trace in figure(page, "overview")["data"] if trace.get("fill") == "toself"]
    assert sum(trace["x"].count(None) for trace in filled) == 4


def test_first_visit_says_once_that_it_is_no_medical_device():
    page = opened()
    said = [item.value for item in [*page.caption, *page.markdown, *page.info] if "medical device" in item.value]
    assert len(said) == 1


@pytest.mark.parametrize(
    ("data", "told"),
    [(b"", "empty"), (b"%PDF-1.7 nothing", "PDF"), (b"hello", "not an image")],
    ids=["empty", "pdf", "text"],
)
def test_bad_upload_gets_a_sentence_and_the_page_stays(data, told):
    page = opened()
    page.file_uploader(key="upload").set_value(("picture.png", data, "image/png")).run()
    assert not page.exception
    assert told in page.error[0].value.replace("\\", "")


def test_upload_is_analysed():
    page = opened()
    data = (SAMPLES["phantom-deb"].folder / SAMPLES["phantom-deb"].file).read_bytes()
    page.file_uploader(key="upload").set_value(("mine.png", data, "image/png")).run()
    assert not page.exception
    assert not page.error
    assert sum(bars(page).values()) == pytest.approx(1)
