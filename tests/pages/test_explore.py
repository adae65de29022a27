"""The Explore page without a browser: every sample × generator × label space, and what a person can do to it."""

import io
import json
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from bag_generators import generate
from bag_generators.scale import field_size, is_large
from bag_generators.tissue import phantom
from bag_generators.tissue.samples import list_samples
from elimipl.answers.answer import NO_ANSWER, NONE_OF_THESE
from elimipl.answers.explain import without_instances
from elimipl.answers.predictor import Predictor
from elimipl.cards.files import usable_models
from elimipl_app.charts.bars import PALE
from elimipl_app.charts.map_layer import COLOUR_PAIRS
from elimipl_app.explore import texts
from elimipl_app.explore.analysis import OF_A_CLASS, CandidateSet, View, analyse
from elimipl_app.explore.answer import switch_clicked
from elimipl_app.shell.palette import LIGHT
from tests.elimipl_app.figure_json import drawn_chart, numbers

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


def bars(page: AppTest) -> dict[str, float]:
    shown: dict[str, float] = {}
    for trace in drawn_chart(page, "class-bars")["data"]:
        if trace["name"] != "before":
            shown |= dict(zip(trace["y"], numbers(trace["x"]), strict=True))
    return shown


def removed(page: AppTest):
    """The control that lists the patches taken out; its key belongs to the bag at hand."""
    if page.session_state["below"] != texts.WHAT_IF_TAB:
        page.session_state["below"] = texts.WHAT_IF_TAB
        page.run()
    return next(item for item in page.multiselect if item.key.startswith("removed-"))


@pytest.mark.parametrize("model", [card.id for card in usable_models()[0] if card.method == "elimipl"])
def test_every_sample_gives_finite_and_aligned_figures(model):
    predictor = Predictor.load(model)
    generator, space = predictor.card.generator, predictor.card.label_space.id
    page = opened(generator=generator, labels=space, sample=next(iter(SAMPLES)), map="attention", painted="filled")
    for sample in SAMPLES.values():
        page.session_state["generator"], page.session_state["labels"] = generator, space
        page.session_state["reads_drawings"] = sample.kind == "phantom"  # stay with this model
        page.selectbox(key="sample").set_value(sample.id).run()
        assert not page.exception
        assert sum(bars(page).values()) == pytest.approx(1)
        heatmap = next(trace for trace in drawn_chart(page, "overlay")["data"] if trace["type"] == "heatmap")
        x, y = numbers(heatmap["x"]), numbers(heatmap["y"])
        image, corner = sample.load(), (0, 0)
        if is_large(image) and generator != "deep":  # looked at through a field of view
            corner = (page.session_state["x"], page.session_state["y"])
            image = image.tile(*corner, field_size(image))
        assert (heatmap["zmin"], heatmap["zmax"]) == (-1, 1)
        bag = generate(generator, image, **predictor.card.generator_params)
        x_edges, y_edges, _ = bag.regions.grid(np.zeros(len(bag.features)))
        np.testing.assert_array_equal(x, x_edges + corner[0])
        np.testing.assert_array_equal(y, y_edges + corner[1])
        assert bars(page) == pytest.approx(
            dict(zip(predictor.card.label_space.titles, predictor.predict(bag).probabilities, strict=True))
        )


def test_candidate_colours_follow_the_candidate_set():
    page = opened(sample="phantom-tum", labels="tissue7", generator="row")
    members, others = drawn_chart(page, "class-bars")["data"]
    assert (members["name"], others["name"]) == ("candidate (simulated)", "non-candidate (simulated)")
    assert set(members["y"]) == set(SAMPLES["phantom-tum"].candidates)
    assert members["marker"]["color"] == LIGHT.candidate
    page.segmented_control(key="candidates_from").set_value("hand").run()
    assert drawn_chart(page, "class-bars")["data"][0]["name"] == "in the model's own 90 % set"


def upload(page: AppTest, sample_id: str) -> None:
    """Bring a sample's file as one's own picture."""
    sample = SAMPLES[sample_id]
    data = (sample.folder / sample.file).read_bytes()
    page.file_uploader(key="upload").set_value((f"{sample_id}.png", data, "image/png")).run()
    assert not page.exception


def charts_of(page: AppTest) -> set[str]:
    return {item.key for item in page.get("plotly_chart")}


def ticks(page: AppTest):
    """The control for what the person finds possible; its key belongs to the picture at hand."""
    return next(item for item in page.pills if str(item.key).startswith("candidates_tissue7_"))


def test_nobody_has_labelled_an_upload_until_the_person_ticks_what_they_find_possible():
    page = opened(sample="restained-crowded", generator="row", labels="tissue7", candidates_from="crowd")
    upload(page, "restained-crypt")
    assert not [item for item in page.segmented_control if item.key == "candidates_from"]
    answer = Predictor.load("tissue7-row-elimipl")
    prediction = answer.predict(generate("row", SAMPLES["restained-crypt"].load(), **answer.card.generator_params))
    members, others = drawn_chart(page, "class-bars")["data"]
    assert (members["name"], others["name"]) == ("in the model's own 90 % set", "not in it")
    assert tuple(members["y"]) == prediction.label_set()
    assert (members["marker"]["color"], others["marker"]["color"]) == (LIGHT.in_set, LIGHT.outside_set)
    said = " ".join(item.value for item in page.caption)
    assert "nobody has ticked any" in said
    assert "the model's own 90 % set" in said
    assert "annotator" not in said
    assert "figure-two" not in charts_of(page)

    ticks(page).set_value(["STR", "MUS"]).run()
    assert drawn_chart(page, "class-bars")["data"][0]["y"] == ["MUS", "STR"]
    assert any("Candidate labels ticked by hand: MUS, STR." in item.value.replace("\\", "") for item in page.caption)
    assert "figure-two" in charts_of(page)
    upload(page, "restained-lumen")  # what was ticked for one picture says nothing about the next
    assert drawn_chart(page, "class-bars")["data"][0]["name"] == "in the model's own 90 % set"


def test_crowd_candidates_change_with_the_seed_and_hold_the_truth():
    page = opened(sample="phantom-str", labels="tissue7", generator="row", candidates_from="crowd")
    seen = set()
    for seed in range(6):
        page.number_input(key="crowd_seed").set_value(seed).run()
        trace = next(
            trace for trace in drawn_chart(page, "class-bars")["data"] if trace["name"] == "candidate (simulated)"
        )
        assert "STR" in trace["y"]
        seen.add(tuple(trace["y"]))
    assert len(seen) > 1


def test_removing_an_instance_equals_a_fresh_prediction_without_it():
    page = opened(sample="phantom-lym", generator="sbn", labels="tissue7")
    predictor = Predictor.load("tissue7-sbn-elimipl")
    bag = generate("sbn", SAMPLES["phantom-lym"].load(), **predictor.card.generator_params)
    before = bars(page)
    removed(page).set_value([2, 5]).run()
    expected = without_instances(predictor, bag, [2, 5]).probabilities
    assert bars(page) == pytest.approx(dict(zip(predictor.card.label_space.names, expected, strict=True)))
    ghost = next(trace for trace in drawn_chart(page, "class-bars")["data"] if trace["name"] == "before")
    assert dict(zip(ghost["y"], numbers(ghost["x"]), strict=True)) == pytest.approx(before)
    removed(page).set_value(list(range(len(bag)))).run()  # everything: nothing is removed
    assert bars(page) == pytest.approx(before)


@pytest.mark.parametrize(
    "move",
    [
        lambda page: page.selectbox(key="sample").set_value("phantom-tum"),
        lambda page: page.slider(key="x").set_value(3),
        lambda page: page.slider(key="y").set_value(3),
        lambda page: page.segmented_control(key="generator").set_value("sift"),
        lambda page: page.file_uploader(key="upload").set_value(("a.png", drawn_png(), "image/png")),
    ],
    ids=["sample", "x", "y", "generator", "upload"],
)
def test_removed_patches_never_leak(move):
    """Another picture, field of view or generator starts whole: bars, ghosts and what is taken away."""
    page = opened(sample="restained-section", generator="sbn", labels="tissue7")
    removed(page).set_value([1, 2, 3]).run()
    assert any(trace["name"] == "before" for trace in drawn_chart(page, "class-bars")["data"])
    move(page).run()
    assert not page.exception
    assert removed(page).value == []
    assert not any(trace["name"] == "before" for trace in drawn_chart(page, "class-bars")["data"])
    assert sum(bars(page).values()) == pytest.approx(1)


def drawn_png() -> bytes:
    file = io.BytesIO()
    Image.fromarray(phantom.draw("STR", seed=5).pixels).save(file, "PNG")
    return file.getvalue()


@pytest.mark.parametrize("source", OF_A_CLASS)
def test_every_map_and_colour_is_drawn(source):
    page = opened(sample="phantom-norm", generator="kmeansseg", labels="tissue7", map=source, painted="filled")
    page.selectbox(key="map_class").set_value("TUM").run()
    assert "TUM" in json.dumps(drawn_chart(page, "overlay")["data"][0]["colorbar"]["title"])
    for colours in COLOUR_PAIRS:
        page.segmented_control(key="colours").set_value(colours).run()
        assert not page.exception


def test_the_field_of_view_moves():
    page = opened(sample="restained-section", generator="row", labels="tissue7", painted="filled")
    page.slider(key="x").set_value(0).run()
    shown = drawn_chart(page, "overlay")
    frame = next(shape for shape in shown["layout"]["shapes"] if shape["type"] == "rect")
    assert (frame["x0"], frame["x1"]) == (0, 224)
    heatmap = next(trace for trace in shown["data"] if trace["type"] == "heatmap")
    assert (numbers(heatmap["x"])[[0, -1]] == [0, 224]).all()
    assert (numbers(heatmap["y"])[[0, -1]] == [144, 368]).all()


def test_an_upload_stays_in_the_gallery_after_a_sample_was_chosen():
    page = opened()
    said = [item.value for item in [*page.caption, *page.markdown, *page.info] if "medical device" in item.value]
    assert len(said) == 1
    page.file_uploader(key="upload").set_value(("mine.png", drawn_png(), "image/png")).run()
    assert not page.error
    own = bars(page)
    assert sum(own.values()) == pytest.approx(1)
    page.button(key="thumb-restained-crypt").click().run()
    assert not page.exception
    assert bars(page) != own
    mine = next(item for item in page.button if item.label.startswith("upload "))
    mine.click().run()
    assert bars(page) == own
    page.button(key="forget").click().run()
    assert not any(item.label.startswith("upload ") for item in page.button)


def test_a_click_on_a_bar_switches_its_candidate_label():
    page = opened(sample="phantom-tum", labels="tissue7", generator="row")
    predictor = Predictor.load("tissue7-row-elimipl")
    space, sample = predictor.card.label_space, SAMPLES["phantom-tum"]
    members = np.isin(space.names, sample.candidates)
    analysis = analyse(View(sample.load()), sample, predictor, CandidateSet(members, "sample"))
    key = f"candidates_tissue7_{sample.load().sha256[:12]}"
    chart = {"selection": {"points": [{"customdata": space.index("LYM")}]}}
    with patch("elimipl_app.explore.answer.st") as streamlit, patch("elimipl_app.shell.charts.st", streamlit):
        streamlit.session_state = {"class-bars": chart}
        switch_clicked("class-bars", analysis)
        assert streamlit.session_state[key] == ["LYM", "NORM", "TUM"]
        chart["selection"]["points"] = []  # a second click takes the selection away
        switch_clicked("class-bars", analysis)
        assert streamlit.session_state[key] == ["LYM", "NORM", "TUM"]
        assert streamlit.session_state["candidates_from"] == "hand"
        upload_alone = analyse(View(sample.load()), None, predictor)
        streamlit.session_state = {"class-bars": {"selection": {"points": [{"customdata": space.index("LYM")}]}}}
        switch_clicked("class-bars", upload_alone)
        assert streamlit.session_state[key] == ["LYM"]
        assert "candidates_from" not in streamlit.session_state
    for name, value in (("candidates_from", "hand"), (key, ["LYM", "NORM", "TUM"])):
        page.session_state[name] = value
    page.run()
    trace = next(trace for trace in drawn_chart(page, "class-bars")["data"] if trace["name"] == "candidate")
    assert trace["y"] == ["LYM", "NORM", "TUM"]
    assert not page.warning


def test_a_failed_check_is_no_answer_with_its_reason_and_pale_bars():
    page = opened(sample="phantom-muc", generator="deep", labels="tissue7")
    assert any(item.value in (NONE_OF_THESE, NO_ANSWER) for item in page.subheader)
    assert any("would answer" in item.value for item in page.caption)
    assert {trace["marker"]["opacity"] for trace in drawn_chart(page, "class-bars")["data"]} == {PALE}
    assert drawn_chart(page, "overlay")["data"]


def test_the_smallest_set_that_flips_is_removed_and_the_label_changes():
    page = opened(sample="phantom-tum", generator="sift", labels="tissue7", below=texts.WHAT_IF_TAB)
    before = max(bars(page), key=bars(page).get)
    page.button(key="flip").click().run()
    assert not page.exception
    taken = removed(page).value
    assert bool(taken) == (max(bars(page), key=bars(page).get) != before)
    assert any("Smallest set found" in item.value or "No set" in item.value for item in page.caption)


def test_settings_of_the_map_survive_reruns_and_other_pictures():
    page = opened(sample="phantom-tum", generator="row", labels="tissue7")
    page.segmented_control(key="map").set_value("vote").run()
    page.slider(key="opacity").set_value(0.4).run()
    page.selectbox(key="sample").set_value("phantom-lym").run()
    painted = [trace for trace in drawn_chart(page, "overlay")["data"] if trace["type"] == "heatmap"]
    assert painted
    assert {trace["opacity"] for trace in painted} == {0.4}
    page.button(key="hide").click().run()
    assert not any(trace["type"] == "heatmap" for trace in drawn_chart(page, "overlay")["data"])


def test_every_tab_opens_and_the_truth_of_phantoms_is_red_and_steelblue():
    page = opened(sample="phantom-mus", generator="sift", labels="tissue7")
    named = {trace["name"]: trace["marker"]["color"] for trace in drawn_chart(page, "figure-five")["data"]}
    assert named == {"carries the class": LIGHT.positive, "does not": LIGHT.negative}
    assert LIGHT.negative == "#4682B4"
    for tab in (texts.TRUST_TAB, texts.SUM_TAB, texts.BAG_TAB):
        page.session_state["below"] = tab
        assert not page.run().exception
        assert not page.error
