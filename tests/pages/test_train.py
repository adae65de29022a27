"""The Train page without a browser: every kind of data, a run from start to Explore, uploads good and bad."""

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from elimipl.candidates.labels import LabelSpace
from elimipl.datasets.dataset import BagDataset
from elimipl.datasets.shipped import load_bag_set
from elimipl.methods import METHODS, network_method, register_method
from elimipl.methods.networks import SUMMARIES
from elimipl.registries import LOSSES, register_loss
from tests.elimipl_app.figure_json import drawn_chart

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def page():
    return AppTest.from_file(ROOT / "app.py", default_timeout=120).switch_page("pages/train.py").run()


def start(page, epochs=4):
    """Start a short run at full speed and wait for its end."""
    page.toggle(key="train_slow").set_value(False)
    page.number_input(key="train_epochs").set_value(epochs)
    page.run()
    page.button(key="start").click().run()
    page.session_state["train_run"].join(120)
    page.run()
    assert not page.exception
    return page.session_state["train_run"].progress


def told(page):
    return " ".join(item.value for item in (*page.markdown, *page.success, *page.error, *page.info, *page.caption))


def test_first_visit_shows_where_training_begins(page):
    assert not page.exception
    assert "147** bags to train on, **63** held out" in told(page)
    for trace in drawn_chart(page, "weights")["data"]:
        assert sum(trace["y"]) == pytest.approx(1)
        assert max(trace["y"]) == pytest.approx(0.5)


def test_a_run_ends_in_curves_weights_and_a_model_for_the_explore_page(page):
    progress = start(page, epochs=20)
    assert progress.state == "done"
    assert "Done: 20 epochs" in told(page)
    curves = {trace["name"]: trace["y"] for trace in drawn_chart(page, "losses")["data"]}
    assert len(curves["total"]) == 20
    assert curves["total"][-1] < curves["total"][0]
    page.slider(key="weights_at").set_value(0).run()
    assert max(drawn_chart(page, "weights")["data"][0]["y"]) == pytest.approx(0.5)
    assert list(page.session_state["trained_models"]) == ["mine-1-phantoms-sbn-elimipl"]

    page.switch_page("app.py").run()
    page.segmented_control(key="model_origin").set_value("trained").run()
    assert not page.exception
    assert page.selectbox(key="trained_sbn").value == "mine-1-phantoms-sbn-elimipl"
    assert page.selectbox(key="trained_sbn").options == ["mine-1-phantoms-sbn-elimipl: ELIMIPL on drawn phantoms, SBN"]
    assert "on drawn phantoms" in told(page)
    for other in ("pages/batch.py", "pages/slide.py", "app.py"):
        page.switch_page(other).run()
        assert "This model has learned from drawn phantoms only." in told(page), other
    page.selectbox(key="sample").set_value("restained-crypt").run()
    # Real tissue is never in the scope of drawings.
    assert {"None of these classes", "No answer"} & {item.value for item in page.subheader}
    assert any("drawn phantoms only" in item.value for item in page.caption)
    page.selectbox(key="sample").set_value("phantom-tum").run()
    assert not page.exception
    assert "drawn phantoms only" in " ".join([told(page), *(item.value for item in page.markdown)])
    page.segmented_control(key="generator").set_value("row").run()
    assert not page.exception  # no model of this visit reads rows: the shipped ones answer


def test_every_method_trains(page):
    page.segmented_control(key="train_data").set_value("digits").run()
    for method in SUMMARIES:
        page.selectbox(key="train_method").set_value(method).run()
        assert start(page, epochs=2).state == "done"
        run = page.session_state["train_run"]
        assert run.plan.config.method == ("demipl" if method == "DEMIPL" else "elimipl")
        assert run.plan.title == f"{method} on digits"


def test_methods_since_train_or_say_why_not(page):
    for method in ("MIPLMA", "CDL-SAM-CN-sigmoid", "DAM-CLI", "ABMIL"):
        page.selectbox(key="train_method").set_value(method).run()
        assert start(page, epochs=2).state == "done"
        assert page.session_state["train_run"].plan.config.method == method.removesuffix("-sigmoid").lower()
    page.selectbox(key="train_method").set_value("FastMIPL").run()
    assert not page.exception
    assert any("FastMIPL doesn't train the network" in item.value for item in page.error)
    page.button(key="what_if_start").click().run()
    assert not page.exception


def test_tissue_tiles_train_with_a_crowd(page):
    page.segmented_control(key="train_data").set_value("tissue7").run()
    page.segmented_control(key="train_candidates").set_value("crowd").run()
    for generator in ("row", "kmeansseg"):  # bags of one size and of several
        page.segmented_control(key="train_generator").set_value(generator).run()
        card = start(page, epochs=2).result.predictor.card
        assert card.generator == generator
        assert card.training_data.licence == "CC BY 4.0"
        assert 1.9 < card.candidates.average_size < 2.3


def test_a_second_run_has_its_own_settings_and_name(page):
    first = start(page)
    page.number_input(key="train_seed").set_value(5).run()
    second = start(page)
    assert len(page.session_state["trained_models"]) == 2
    assert first.result.predictor.card.sha256 != second.result.predictor.card.sha256


def upload(page, name, content):
    page.segmented_control(key="train_data").set_value("own").run()
    page.file_uploader(key="train_upload").set_value((name, content, "application/octet-stream")).run()
    assert not page.exception


def test_a_bag_file_of_ones_own(page, tmp_path):
    load_bag_set("phantoms-row").save(tmp_path / "bags.safetensors")
    upload(page, "bags.safetensors", (tmp_path / "bags.safetensors").read_bytes())
    assert page.segmented_control(key="train_own_candidates").value == "own"
    assert "210 bags of 8 instances" in told(page)
    assert start(page).result.predictor.card.candidates.scheme == "as in the data set"


def class_folders():
    """A zip of twelve pictures in three class folders, and one that is none."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for number in range(12):
            name = ("cat", "dog", "owl")[number % 3]
            pixels = np.random.default_rng(number).integers(60 * (number % 3), 60 + 60 * (number % 3), (64, 64, 3))
            picture = io.BytesIO()
            Image.fromarray(pixels.astype(np.uint8)).save(picture, "PNG")
            archive.writestr(f"{name}/{number}.png", picture.getvalue())
        archive.writestr("dog/broken.png", b"no picture")
    return buffer.getvalue()


def visit(visitor):
    """The page as a browser finds it that comes with this visitor's cookie."""
    page = AppTest.from_file(ROOT / "app.py", default_timeout=120)
    page.session_state["visitor"] = visitor
    return page.switch_page("pages/train.py").run()


def test_own_pictures_in_three_clicks_are_there_after_a_look_at_explore_and_a_reload():
    page = visit("somebody")
    clicks = [
        page.segmented_control(key="train_data").set_value("own").run,
        lambda: (
            page.file_uploader(key="train_upload").set_value(("mine.zip", class_folders(), "application/zip")).run()
        ),
        lambda: page.button(key="start").click().run(),
    ]
    for click in clicks:
        click()
        assert not page.exception
    run = page.session_state["train_run"]
    assert run.plan.title == "ELIMIPL on mine.zip, SBN"
    assert "1 picture left out" in " ".join(item.value for item in page.warning)
    run.join(120)
    page.run()
    assert "**ELIMIPL on mine.zip, SBN**. Done: 60 epochs" in told(page)
    model = run.progress.result.predictor.card
    assert model.label_space.names == ("cat", "dog", "owl")
    assert model.training_data.name == "ELIMIPL on mine.zip, SBN"

    page.switch_page("app.py").run()
    page.switch_page("pages/train.py").run()
    assert "**mine.zip** is still here" in told(page)
    assert "12 bags of 9 instances" in told(page)
    assert page.session_state["train_run"] is run
    run.watched_by(lambda: False)  # the tab is closed

    again = visit("somebody")
    again.segmented_control(key="train_data").set_value("own").run()
    assert "**mine.zip** is still here" in told(again)
    assert again.session_state["train_run"] is run
    assert "**ELIMIPL on mine.zip, SBN**. Done: 60 epochs" in told(again)
    explore = AppTest.from_file(ROOT / "app.py", default_timeout=120)  # a reload of the Explore page
    explore.session_state["visitor"] = "somebody"
    explore.session_state["generator"] = "sbn"
    explore.session_state["model_origin"] = "trained"
    explore.run()
    assert explore.selectbox(key="trained_sbn").options == [f"{model.id}: ELIMIPL on mine.zip, SBN"]

    stranger = visit("somebody else")
    stranger.segmented_control(key="train_data").set_value("own").run()
    assert "still here" not in told(stranger)
    assert "train_run" not in stranger.session_state
    again.button(key="train_forget").click().run()
    assert "Upload" in again.info[0].value
    assert "still here" not in told(again)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("bags.safetensors", b"nothing", "“the uploaded file” is not a whole bag data set"),
        ("mine.zip", b"PK nothing", "not a whole zip file"),
    ],
)
def test_a_bad_upload_gets_a_sentence(page, name, content, sentence):
    upload(page, name, content)
    assert sentence in page.error[0].value.replace("\\", "")


def test_bags_of_more_classes_than_a_page_can_show(page, tmp_path):
    space = LabelSpace.of([f"class {number}" for number in range(51)])
    BagDataset.from_bags([np.ones((2, 3))] * 51, space, np.arange(51)).save(tmp_path / "bags.safetensors")
    upload(page, "bags.safetensors", (tmp_path / "bags.safetensors").read_bytes())
    assert "51 classes; this page shows up to 50" in page.error[0].value.replace("\\", "")


def test_nothing_uploaded_asks_for_a_file(page):
    page.segmented_control(key="train_data").set_value("own").run()
    assert not page.exception
    assert "Upload" in page.info[0].value


def test_a_registered_loss_and_method_are_offered_and_train():
    register_loss("pull", lambda energies, candidates, weights: -(weights * energies.log_softmax(1)).sum(1).mean())
    register_method(network_method("Narrow", "A narrow embedding.", hidden=4))
    try:
        page = AppTest.from_file(ROOT / "app.py", default_timeout=120).switch_page("pages/train.py").run()
        page.selectbox(key="train_method").set_value("Narrow").run()
        assert "A narrow embedding." in told(page)
        page.selectbox(key="train_loss").set_value("pull").run()
        progress = start(page)
        assert progress.state == "done"
        assert progress.result.fitted.config.loss == "pull"
        assert progress.result.fitted.config.hidden == 4
        assert [trace["name"] for trace in drawn_chart(page, "losses")["data"]] == ["total"]
    finally:
        LOSSES.unregister("pull")
        METHODS.unregister("Narrow")


def test_what_surrounds_the_class_is_said_where_it_is_akin_to_one_or_left_out(page):
    captions = [caption.value for caption in page.caption]
    assert any("akin to stroma (STR), which is one of the seven" in caption for caption in captions)
    assert any("those of stroma, which is none of their labels here" in caption for caption in captions)


def test_what_if_draws_a_curve_at_every_change_and_keeps_the_ones_before(page):
    page.button(key="what_if_start").click().run()
    for r in (1, 4):
        page.slider(key="train_false_labels").set_value(r).run()
        run = page.session_state["what_if_run"]
        assert run.plan.title == f"ELIMIPL, 4 of 16 patches, r = {r}"
        run.join(120)
        page.run()
        assert not page.exception
        assert f"r = {r}**" in told(page)
        assert "with an AUROC of 0." in told(page)
    first, second, *_ = drawn_chart(page, "what-if")["data"]
    assert len(first["y"]) == len(second["y"]) == 30
    assert first["y"][-1] > second["y"][-1]  # four of five false labels leave little to learn from
