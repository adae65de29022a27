"""The files a person takes away: complete, safe and in the pixels of the whole picture."""

import csv
import dataclasses
import io
import json
from html.parser import HTMLParser
from itertools import pairwise

import cv2
import numpy as np
import pytest
import shapely
from PIL import Image

from bag_generators import GENERATORS
from bag_generators.tissue.samples import list_samples
from elimipl.cards.limits import Limits
from elimipl.predictor import Predictor
from elimipl.scope import Check, Verdict
from ui.explore.analysis import Analysis, View, analyse
from ui.explore.exports.geojson import geojson
from ui.explore.exports.instances_csv import instances_csv
from ui.explore.exports.painted import painted_png
from ui.explore.exports.provenance import provenance
from ui.explore.exports.report import html_report
from ui.explore.texts import scope_sentence
from ui.figures.score_scale import coloured

PASSED = Check("size", True, 224.0, 112.0, "The shorter side measures 224 px.")
SAMPLES = {sample.id: sample for sample in list_samples()}


def analysis_of(generator: str, x: int = 30, y: int = 70) -> Analysis:
    """The analysis of a field of view of the large sample."""
    image = SAMPLES["restained-section"].load().tile(x, y, 224)
    predictor = Predictor.load(f"tissue7-{generator}-elimipl")
    candidates = np.array([True, False, False, True, True, False, True])
    return analyse(View(image, x, y), None, predictor, candidates)


@pytest.fixture(scope="module", params=list(GENERATORS))
def analysis(request) -> Analysis:
    return analysis_of(request.param)


def filled(geometry: dict, shape: tuple[int, int]) -> np.ndarray:
    """Pixels inside a GeoJSON polygon, holes left out."""
    polygons = geometry["coordinates"] if geometry["type"] == "MultiPolygon" else [geometry["coordinates"]]
    inside = np.zeros(shape, dtype=bool)
    rows, columns = np.indices(shape) + 0.5
    for rings in polygons:
        crossings = np.zeros(shape, dtype=int)
        for ring in rings:
            for (x0, y0), (x1, y1) in pairwise(ring):
                if x0 == x1:  # only upright edges are crossed by a ray to the right
                    crossings += (min(y0, y1) < rows) & (rows < max(y0, y1)) & (columns < x0)
        inside |= crossings % 2 == 1
    return inside


def test_geojson_covers_exactly_the_instances_in_the_whole_picture(analysis):
    features = json.loads(geojson(analysis))["features"]
    assert len(features) == len(analysis.bag.features)
    for i, feature in enumerate(features):
        expected = np.zeros((512, 512), dtype=bool)
        x, y = analysis.view.x, analysis.view.y
        expected[y : y + 224, x : x + 224] = analysis.bag.regions.mask(i)
        np.testing.assert_array_equal(filled(feature["geometry"], (512, 512)), expected)
        assert feature["properties"]["measurements"]["attention"] == analysis.prediction.attention[i]
        assert len(feature["properties"]["classification"]["color"]) == 3


def test_polygons_are_valid_and_as_large_as_the_instances(analysis):
    for i, feature in enumerate(json.loads(geojson(analysis))["features"]):
        polygon = shapely.geometry.shape(feature["geometry"])
        assert polygon.is_valid, shapely.is_valid_reason(polygon)
        assert polygon.area == analysis.bag.regions.mask(i).sum()
        outer = polygon.geoms if polygon.geom_type == "MultiPolygon" else [polygon]
        assert all(part.exterior.is_ccw and not any(hole.is_ccw for hole in part.interiors) for part in outer)


def test_rings_are_closed(analysis):
    for feature in json.loads(geojson(analysis))["features"]:
        geometry = feature["geometry"]
        polygons = geometry["coordinates"] if geometry["type"] == "MultiPolygon" else [geometry["coordinates"]]
        assert all(ring[0] == ring[-1] for rings in polygons for ring in rings)


def test_csv_has_a_row_per_instance_in_numbers(analysis):
    rows = list(csv.DictReader(io.StringIO(instances_csv(analysis))))
    assert len(rows) == len(analysis.bag.features)
    for i, row in enumerate(rows):
        assert all(np.isfinite(float(value)) for value in row.values())
        assert int(row["x0"]) == analysis.view.x + analysis.bag.regions.box(i)[0]
        assert float(row["attention"]) == pytest.approx(analysis.prediction.attention[i], rel=1e-4)
    assert sorted(int(row["attention_rank"]) for row in rows) == list(range(1, len(rows) + 1))


def test_provenance_names_everything_needed_to_get_the_result_again(analysis):
    told = json.loads(json.dumps(provenance(analysis)))
    assert told["picture"]["sha256"] == analysis.image.sha256
    assert told["picture"]["field_of_view"] == {"x": 30, "y": 70}
    assert told["model"]["sha256"] == analysis.predictor.card.sha256
    assert told["bag"]["params"] == dict(analysis.bag.params)
    assert told["candidates"] == ["DEB", "MUS", "NORM", "TUM"]
    assert sum(told["prediction"]["probabilities"].values()) == pytest.approx(1)
    assert told["versions"]["torch"]


def test_painted_png_changes_only_what_instances_cover(analysis):
    png = painted_png(analysis, coloured(analysis.prediction.attention, "rank"), "Viridis", opacity=0.5)
    pixels = np.asarray(Image.open(io.BytesIO(png)))
    covered = np.isfinite(analysis.bag.regions.paint(np.ones(len(analysis.bag.features))))
    np.testing.assert_array_equal(pixels[~covered], analysis.image.pixels[~covered])
    assert (pixels[covered] != analysis.image.pixels[covered]).mean() > 0.9


class Tags(HTMLParser):
    """Collects what a page would load or run."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.sources: list[str] = []

    def handle_starttag(self, tag, attributes):
        self.names.append(tag)
        self.sources += [value for name, value in attributes if name in ("src", "href")]


def test_report_is_one_file_without_scripts(analysis):
    tags = Tags()
    tags.feed(html_report(analysis))
    assert "script" not in tags.names
    assert tags.sources
    assert all(source.startswith("data:image/png;base64,") for source in tags.sources)


def test_report_escapes_what_it_is_given():
    analysis = analysis_of("row")
    image = dataclasses.replace(analysis.image, notes=("<script>alert(1)</script>",))
    report = html_report(dataclasses.replace(analysis, view=View(image)))
    assert "<script>" not in report
    assert "&lt;script&gt;" in report


def test_names_of_classes_can_not_break_out_of_the_report():
    analysis = analysis_of("row")
    name = """"'><img src=x onerror=alert(1)>{{ 7 * 7 }}{% raw %}</style></pre>"""
    space = dataclasses.replace(analysis.labels, names=(name, *analysis.labels.names[1:]))
    named = dataclasses.replace(analysis, prediction=dataclasses.replace(analysis.prediction, label_space=space))
    report, tags, usual = html_report(named), Tags(), Tags()
    tags.feed(report)
    usual.feed(html_report(analysis))
    assert tags.names == usual.names
    assert "{{ 7 * 7 }}" in report  # a name is no template either


def test_report_shows_the_picture_itself(analysis):
    import base64

    source = next(part for part in html_report(analysis).split('"') if part.startswith("data:image/png"))
    shown = cv2.imdecode(np.frombuffer(base64.b64decode(source.partition(",")[2]), np.uint8), cv2.IMREAD_COLOR)
    np.testing.assert_array_equal(cv2.cvtColor(shown, cv2.COLOR_BGR2RGB), analysis.image.pixels)


def test_the_json_says_what_was_checked(analysis):
    told = provenance(analysis)
    assert told["in_scope"] is False
    assert [item["name"] for item in told["checks"]] == ["size", "tissue", "blur", "colour", "distance", "entropy"]
    assert (told["not_checked"], told["trained_on"]) == ([], "tissue tiles")


def test_a_model_without_limits_says_not_checked():
    checked = analysis_of("row")
    predictor = checked.predictor
    unlimited = Predictor(predictor.network, predictor.scaler, dataclasses.replace(predictor.card, checks=Limits()))
    analysis = analyse(checked.view, None, unlimited, checked.candidates)
    assert provenance(analysis)["in_scope"] is None
    assert "Not checked whether the model knows" in html_report(analysis)
    said = scope_sentence(analysis.verdict)
    assert said.startswith("Not checked")
    assert "passed" not in said
    assert "size, tissue, focus, stain, likeness to the training pictures, certainty" in said


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (Verdict((PASSED,), ()), "The picture passed all checks: size."),
        (
            Verdict((PASSED,), ("blur",)),
            "Not checked whether the model knows pictures like this one. The picture passed: size. "
            "This model came without limits for: focus.",
        ),
        (
            Verdict((PASSED,), (), "drawn phantoms"),
            "The picture passed all checks: size. This model has learned from drawn phantoms only.",
        ),
    ],
)
def test_what_the_page_says_of_the_scope(verdict, said):
    assert scope_sentence(verdict) == said
