"""The files a person takes away: complete, safe and in the pixels of the whole picture."""

import base64
import csv
import dataclasses
import hashlib
import io
import json
import uuid
from html.parser import HTMLParser

import numpy as np
import pytest
import shapely
from PIL import Image

from bag_generators import GENERATORS
from elimipl.answers.answer import Answer
from elimipl.answers.predictor import Predictor
from elimipl.cards.limits import Limits
from elimipl.commands import main
from elimipl_app.charts.map_layer import is_even
from elimipl_app.explore import exports
from elimipl_app.explore.analysis import Analysis, CandidateSet, View, ViewState, analyse
from elimipl_app.explore.exports import geojson, instances_csv, provenance, provenance_json
from elimipl_app.explore.picture_export import figure_png
from elimipl_app.explore.report import html_report
from elimipl_app.explore.texts import scope_sentence
from elimipl_app.shell.palette import LIGHT
from elimipl_app.shell.texts import sureness
from tests.elimipl_app.explore.large_sample import SAMPLES, analysis_of, file_of

SHOWN = ViewState(kind="contribution", opacity=0.6, threshold=0.2, removed=(0, 2))


@pytest.fixture(scope="module", params=list(GENERATORS))
def analysis(request) -> Analysis:
    return analysis_of(request.param)


def test_geojson_covers_exactly_the_instances_and_holds_every_map_for_qupath(analysis):
    collection = json.loads(geojson(analysis, SHOWN))
    assert collection["type"] == "FeatureCollection"
    features, votes = collection["features"], analysis.every_score("single")
    assert len({uuid.UUID(feature["id"]) for feature in features}) == len(features) == len(analysis.bag)
    rows, columns = np.indices((224, 224)) + 0.5
    contributions = analysis.scores("contribution", analysis.labels.index("TUM"))
    for i, feature in enumerate(features):
        polygon, mask = shapely.geometry.shape(feature["geometry"]), analysis.bag.regions.mask(i)
        inside = shapely.contains_xy(polygon, columns + analysis.view.x, rows + analysis.view.y)
        np.testing.assert_array_equal(inside, mask)
        assert polygon.is_valid, shapely.is_valid_reason(polygon)
        assert polygon.area == mask.sum()
        parts = polygon.geoms if polygon.geom_type == "MultiPolygon" else [polygon]
        assert all(part.exterior.is_ccw and not any(hole.is_ccw for hole in part.interiors) for part in parts)
        properties = feature["properties"]
        measured = properties["measurements"]
        assert properties["objectType"] == "detection"
        assert properties["classification"]["name"] == analysis.labels.names[votes[i].argmax()]
        assert len(properties["classification"]["color"]) == 3
        assert all(isinstance(value, float) for value in measured.values())
        assert all(isinstance(value, str) for value in properties["metadata"].values())
        assert properties["metadata"]["removed"] == str(i in SHOWN.removed).lower()
        assert measured["Attention, times an even share"] == len(analysis.bag) * analysis.prediction.attention[i]
        assert measured["Contribution: TUM"] == contributions[i]
    of_gradients = 7 if len(analysis.bag) <= 144 else 1  # they take their time: of large bags for the answer alone
    assert len(measured) == 2 + 3 * 7 + of_gradients


def test_csv_has_a_row_per_instance_in_numbers(analysis):
    rows = list(csv.DictReader(io.StringIO(instances_csv(analysis, ViewState()))))
    assert len(rows) == len(analysis.bag.features)
    for i, row in enumerate(rows):
        assert all(np.isfinite(float(value)) for value in row.values())
        assert int(row["x0"]) == analysis.view.x + analysis.bag.regions.box(i)[0]
        assert float(row["attention"]) == pytest.approx(analysis.prediction.attention[i], rel=1e-4)
    assert sorted(int(row["attention_rank"]) for row in rows) == list(range(1, len(rows) + 1))


def test_the_json_names_everything_needed_to_get_the_result_again(analysis):
    told = json.loads(provenance_json(analysis, SHOWN))
    sample = SAMPLES["restained-section"]
    assert told["picture"]["sha256"] == sample.sha256 == hashlib.sha256(file_of(sample).read_bytes()).hexdigest()
    assert told["picture"]["field"] == {"x": 30, "y": 70, "width": 224, "height": 224}
    assert (told["picture"]["microns_per_pixel"], told["picture"]["scale_source"]) == (0.5, "PNG resolution (pHYs)")
    assert told["model"]["sha256"] == analysis.predictor.card.sha256
    assert told["bag"]["params"] == dict(analysis.bag.params)
    assert told["bag"]["removed"] == [0, 2]
    assert (told["candidates"], told["candidates_from"]) == (["DEB", "MUS", "NORM", "TUM"], "ticked by hand")
    assert told["map"]["kind"] == "contribution"
    assert sum(told["prediction"]["probabilities"].values()) == pytest.approx(1)
    assert told["without_removed"] != told["prediction"]
    assert told["versions"]["torch"]
    assert told["answer"]["in_scope"] is analysis.answer_without(SHOWN.removed)[1].verdict.in_scope is not None
    checks = [item["name"] for item in told["answer"]["checks"]]
    assert checks[:6] == ["size", "tissue", "blur", "colour", "distance", "entropy"]
    assert told["answer"]["trained_on"] == "tissue tiles"


def test_replaying_the_json_gives_the_same_numbers(analysis, tmp_path, capsys):
    result = tmp_path / "result.json"
    for view in (ViewState(), SHOWN):
        result.write_text(provenance_json(analysis, view), encoding="utf-8")
        assert main(["replay", str(result), str(file_of(SAMPLES["restained-section"]))]) == 0
        assert capsys.readouterr().out.startswith("The same result: ")


def test_the_files_say_what_is_set_and_how_even_attention_is():
    analysis = analysis_of("row")
    view = dataclasses.replace(SHOWN, class_index=6, painted="filled")
    said, report = " ".join(exports.all_sentences(analysis, view)), html_report(analysis, view)
    for words in ("added to the score of TUM", "opacity 60%", "below 20%", "0.5 µm per pixel", "Attention is "):
        assert words in said
        assert words in report
    assert exports.colour_bar(analysis, view).title in report
    votes = ViewState(kind="vote")
    assert sum(entry.share for entry in exports.legend(analysis, votes)) == pytest.approx(1)
    assert all(f"{entry.name} {entry.share:.0%} of the area" in html_report(analysis, votes)
               for entry in exports.legend(analysis, votes))  # fmt: skip
    assert exports.legend(analysis, view) == []
    assert exports.colour_bar(analysis, votes) is None


def test_the_report_shows_the_raw_output_where_it_is_set():
    analysis = analysis_of("row")
    assert "<h2>Class probabilities</h2>" in html_report(analysis, ViewState())
    raw = html_report(analysis, ViewState(raw=True))
    assert "<h2>Raw output of the network</h2>" in raw
    assert f"width:{analysis.prediction.raw[0]:.1%}" in raw


def test_an_answer_that_counts_is_said_with_its_set_and_its_reliability():
    sample, predictor = SAMPLES["phantom-tum"], Predictor.load("drawn7-deep-elimipl")
    analysis = analyse(View(sample.load()), sample, predictor)
    answer = Answer.of(predictor, analysis.prediction, analysis.verdict)
    assert not answer.declined
    assert exports.headline(analysis, ViewState()).endswith(f", {sureness(answer.probability)}")
    said = exports.answer_sentences(analysis, ViewState())
    assert "the model's own 90 % set" in said[0].lower()
    assert "100 of 100 answers this sure were right" in said[1]
    assert figure_png(analysis, ViewState())


def test_that_nothing_is_painted_is_said_of_the_map_of_attention_only():
    analysis = analysis_of("sbn")
    assert is_even(analysis.prediction.attention)
    assert "so nothing is painted" in exports.evenness_sentence(analysis, ViewState())
    assert "painted" not in exports.evenness_sentence(analysis, ViewState(kind="vote"))


class Tags(HTMLParser):
    """Collects what a page would load or run."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.sources: list[str] = []

    def handle_starttag(self, tag, attributes):
        self.names.append(tag)
        self.sources += [value for name, value in attributes if name in ("src", "href")]


def test_report_is_one_file_of_two_pages_without_scripts_or_json(analysis):
    report, tags = html_report(analysis, SHOWN), Tags()
    tags.feed(report)
    assert not {"script", "pre"} & {*tags.names}
    assert tags.sources
    assert all(source.startswith("data:image/png;base64,") for source in tags.sources)
    shown = Image.open(io.BytesIO(base64.b64decode(tags.sources[0].partition(",")[2])))
    np.testing.assert_array_equal(np.asarray(shown), analysis.image.pixels)
    assert "label_set" not in report
    assert "{&#34;" not in report
    assert (report.count("<section"), report.count("break-before: page")) == (2, 1)


def test_names_of_classes_and_notes_can_not_break_out_of_the_report():
    analysis = analysis_of("row")
    name = """"'><img src=x onerror=alert(1)>{{ 7 * 7 }}{% raw %}</style></pre>"""
    space = dataclasses.replace(analysis.labels, names=(name, *analysis.labels.names[1:]), titles=())
    named = dataclasses.replace(analysis, prediction=dataclasses.replace(analysis.prediction, label_space=space))
    hostile, plain = (
        dataclasses.replace(one, view=View(dataclasses.replace(analysis.image, notes=(note,))))
        for one, note in ((named, "<script>alert(1)</script>"), (analysis, "A note."))
    )
    report, tags, usual = html_report(hostile, ViewState()), Tags(), Tags()
    tags.feed(report)
    usual.feed(html_report(plain, ViewState()))
    assert tags.names == usual.names
    assert "{{ 7 * 7 }}" in report  # a name is no template either
    assert "&lt;script&gt;" in report


def test_no_file_says_that_somebody_named_candidates_where_nobody_did():
    analysis = dataclasses.replace(analysis_of("row"), candidates=None)
    told, report = json.loads(provenance_json(analysis, SHOWN)), html_report(analysis, SHOWN)
    assert (told["candidates"], told["candidates_from"]) == ([], None)
    said = " ".join(exports.all_sentences(analysis, SHOWN))
    for words in (said, report):
        assert "No candidate labels: nobody has ticked any" in words
        assert "Candidate labels" not in words
        assert "annotator" not in words
    assert "in the model&#39;s own 90 % set" in report
    assert LIGHT.in_set in report
    assert LIGHT.candidate not in report.partition("<body>")[2]
    assert "candidate" not in instances_csv(analysis, SHOWN)


@pytest.mark.parametrize(("source", "words"), [("crowd", "simulated"), ("sample", "simulated"), ("hand", "by hand")])
def test_every_file_says_who_named_the_candidates(source, words):
    analysis = analysis_of("row")
    analysis = dataclasses.replace(analysis, candidates=CandidateSet(analysis.candidates.members, source))
    assert words in json.loads(provenance_json(analysis, SHOWN))["candidates_from"]
    (said,) = [line for line in exports.all_sentences(analysis, SHOWN) if line.startswith("Candidate labels")]
    assert words in said
    assert said.endswith(": DEB, MUS, NORM, TUM.")
    report = html_report(analysis, SHOWN)
    assert said in report
    assert ("candidate (simulated)" in report) == (words == "simulated")


def test_a_model_without_limits_says_not_checked():
    checked = analysis_of("row")
    predictor = checked.predictor
    unlimited = Predictor(predictor.network, predictor.scaler, dataclasses.replace(predictor.card, checks=Limits()))
    analysis = analyse(checked.view, None, unlimited, checked.candidates)
    assert provenance(analysis, ViewState()).answer["in_scope"] is None
    assert "Not checked whether the model knows" in html_report(analysis, ViewState())
    assert "size, tissue, focus, stain, likeness to the training pictures, certainty" in scope_sentence(
        analysis.verdict
    )
