"""The files of a map: numbers that agree, polygons that are valid and lie on the pixels, text that stays text."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest
import shapely
from PIL import Image

from elimipl.candidates.labels import LabelSpace
from elimipl.slides.exports import geojson, map_summary, outline, picture_png, report_html, table_csv, write_map
from tests.elimipl.slides.kinds import KINDS
from tests.support.phantom_slide import CELL


def shapes(slide_map):
    """Class → geometry, as a reader of the file gets them."""
    text = json.dumps(geojson(slide_map))
    return {
        feature["properties"]["classification"]["name"]: shapely.from_geojson(json.dumps(feature["geometry"]))
        for feature in json.loads(text)["features"]
    }


def test_outlines_are_valid_and_lie_on_the_pixels_of_level_0(kinds_map):
    found = shapes(kinds_map)
    assert set(found) == set(KINDS)
    for name, shape in found.items():
        assert shape.is_valid
        corners = shapely.get_coordinates(shape)
        assert set(corners[:, 0]) <= set(kinds_map.grid.x_edges.astype(float))
        assert set(corners[:, 1]) <= set(kinds_map.grid.y_edges.astype(float))
        cells = [
            shapely.box(*kinds_map.tile(row, column).box)
            for row, column in np.argwhere(kinds_map.classes == KINDS.index(name))
        ]
        assert shape.equals(shapely.union_all(cells))
        assert shape.area * 0.0005**2 == pytest.approx(kinds_map.mm2()[name])
    assert found["LYM"].contains(shapely.Point(1.5 * CELL, 1.5 * CELL))
    assert not found["LYM"].contains(shapely.Point(2.5 * CELL, 2.5 * CELL))  # the hole
    assert sum(len(part.interiors) for part in found["LYM"].geoms) == 1


def test_any_pattern_of_tiles_has_a_valid_outline(kinds_map):
    rng = np.random.default_rng(1)
    boxes = np.array([[shapely.box(*kinds_map.tile(r, c).box) for c in range(8)] for r in range(6)])
    for density in (0.2, 0.5, 0.7, 0.9):
        for _ in range(25):
            chosen = rng.random((6, 8)) < density
            if chosen.any():
                shape = outline(kinds_map, chosen)
                assert shape.is_valid
                assert shape.equals(shapely.union_all(boxes[chosen]))


def test_the_files_of_a_map_agree(kinds_map, kinds_slide, tmp_path):
    write_map(kinds_map, kinds_slide, tmp_path)
    names = {"map.json", "map.geojson", "map.csv", "map.png", "map.safetensors", "report.html"}
    assert {path.name for path in tmp_path.iterdir()} == names
    facts = json.loads((tmp_path / "map.json").read_text(encoding="utf-8"))
    assert facts["slide"]["microns_per_pixel"] == 0.5
    assert facts["slide"]["sha256"] == kinds_map.about.slide_sha256
    assert facts["model"] == {
        "id": kinds_map.about.model,
        "sha256": kinds_map.about.model_sha256,
        "generator": "row",
        "label_space": "kinds",
    }
    lines = list(csv.DictReader(io.StringIO((tmp_path / "map.csv").read_text(encoding="utf-8"))))
    assert len(lines) == 48
    for one in facts["classes"]:
        of_class = [line for line in lines if line["class"] == one["name"]]
        assert len(of_class) == one["tiles"]
        pixels = sum(int(line["width"]) * int(line["height"]) for line in of_class)
        assert one["mm2"] == pytest.approx(pixels * 0.0005**2)
    assert sum(line["left_out"] == "background" for line in lines) == facts["left_out"]["background"]
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert all(f"{one['mm2']:.3f}" in report for one in facts["classes"])
    assert "<script" not in report


def test_the_picture_has_the_colour_of_the_class_on_its_pixels(kinds_map, kinds_slide):
    thumbnail = kinds_slide.thumbnail(836)  # half the slide's size
    painted = np.asarray(Image.open(io.BytesIO(picture_png(kinds_map, thumbnail)))).astype(int)
    assert painted.shape == thumbnail.shape
    changed = np.abs(painted - thumbnail).sum(axis=2) > 3
    assert not changed[: CELL // 2 - 1].any()  # a row of glass
    assert not changed[:, : CELL // 2 - 1].any()
    assert changed[CELL // 2 + 1 : 4 * CELL // 2 - 1, CELL // 2 + 1 : -1].mean() > 0.99


@pytest.mark.parametrize("name", ["=cmd()", "＝cmd()", "a;=1", "a;＋1", "-1"], ids=ascii)
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_no_cell_of_the_table_begins_a_formula(kinds_map, name, delimiter):
    hostile = LabelSpace.of(["ADI", name, "MUS"], id="kinds")
    members = np.broadcast_to(kinds_map.grid.is_tissue[:, :, None], kinds_map.probabilities.shape).copy()
    bad = replace(kinds_map, about=kinds_map.about.model_copy(update={"label_space": hostile}), label_sets=members)
    table = table_csv(bad)
    cells = [cell for line in csv.reader(io.StringIO(table), delimiter=delimiter) for cell in line]
    assert [cell for cell in cells if cell.strip().startswith(tuple("=+-@＝＋"))] == []
    assert name.strip(";") in table.replace("'", "")


def test_names_of_strangers_stay_text(kinds_map):
    hostile = LabelSpace.of(["<script>alert(1)</script>", "=cmd()", "MUS"], id="kinds")
    about = kinds_map.about.model_copy(update={"label_space": hostile, "slide": "<b>x</b>.svs"})
    bad = replace(kinds_map, about=about)
    report = report_html(bad, b"")
    assert "<script>" not in report
    assert "<b>x</b>" not in report
    json.dumps(map_summary(bad))
