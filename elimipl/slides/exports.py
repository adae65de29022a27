"""The files of a finished map: numbers, polygons for QuPath, a table, a picture and a page to print.

`map.json` is written last: a folder that has it has them all.
"""

from __future__ import annotations

import base64
import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from jinja2 import Environment, StrictUndefined
from PIL import Image, ImageColor, ImageDraw, ImageFont
from scipy import ndimage

from bag_generators.base.storage import write_whole
from bag_generators.regions import trace
from bag_generators.slide import Slide
from elimipl.class_marks import class_marks
from elimipl.csv_cells import defused
from elimipl.slides.slide_map import SlideMap

NOTICE = "For teaching and research. Not a medical device: never use it for a diagnosis."
SUMMARY = "map.json"
_PICTURE_SIDE = 2000
_LETTERS = 24  # px
_TEMPLATE = Path(__file__).with_name("report.html.jinja")


def write_map(slide_map: SlideMap, slide: Slide, folder: Path) -> None:
    """Write every file of a map into a folder, each whole or not at all."""
    picture = picture_png(slide_map, slide.thumbnail(_PICTURE_SIDE))
    (folder / SUMMARY).unlink(missing_ok=True)
    slide_map.save(folder)
    for name, content in (
        ("map.geojson", json.dumps(geojson(slide_map)).encode()),
        ("map.csv", table_csv(slide_map).encode()),
        ("map.png", picture),
        ("report.html", report_html(slide_map, picture).encode()),
        (SUMMARY, json.dumps(map_summary(slide_map), indent=2, ensure_ascii=False).encode()),
    ):
        write_whole(folder / name, content, "The map")


def map_summary(slide_map: SlideMap) -> dict[str, Any]:
    """Plain JSON values: slide, model, how it was made, the area of each class, what was left out."""
    about = slide_map.about
    areas, shares, classes = slide_map.mm2(), slide_map.shares(), slide_map.classes
    return {
        "notice": NOTICE,
        "made": about.made,
        "slide": {
            "name": about.slide,
            "sha256": about.slide_sha256,
            "width": about.width,
            "height": about.height,
            "microns_per_pixel": about.microns_per_pixel,
            "scale_origin": about.scale_origin,
        },
        "model": {
            "id": about.model,
            "sha256": about.model_sha256,
            "generator": about.generator,
            "label_space": about.label_space.id,
        },
        "grid": {
            "rows": slide_map.grid.rows,
            "columns": slide_map.grid.columns,
            "pixels_a_tile": about.step,
            "tiles_per_field": about.field_side**2,
        },
        "tissue_tiles": int(slide_map.grid.is_tissue.sum()),
        "tissue_mm2": sum(areas.values()),
        "classes": [
            {"name": name, "tiles": int((classes == index).sum()), "share": shares[name], "mm2": areas[name]}
            for index, name in enumerate(about.label_space.names)
        ],
        "left_out": slide_map.left_out,
    }


def geojson(slide_map: SlideMap) -> dict[str, Any]:
    """One annotation per class for QuPath: the merged outline of its tiles, in pixels of level 0."""
    areas, shares, classes = slide_map.mm2(), slide_map.shares(), slide_map.classes
    features = []
    for index, name in enumerate(slide_map.label_space.names):
        if (classes == index).any():
            colour = slide_map.label_space.colours[index]
            classification = {"name": name, "color": ImageColor.getrgb(colour)}
            measured = {"area mm²": areas[name], "share of tissue": shares[name]}
            area = outline(slide_map, classes == index)
            features.append(geojson_feature(area, "annotation", name, classification, measured))
    return {"type": "FeatureCollection", "features": features}


def geojson_feature(
    area: Any, kind: str, name: str, classification: dict[str, Any], measurements: dict[str, float]
) -> dict[str, Any]:
    """A shape as an object of QuPath, with the rings of its polygons as GeoJSON wants them."""
    properties: dict[str, Any] = {"objectType": kind, "name": name}
    properties |= {"classification": classification} if classification else {}
    properties |= {"measurements": measurements} if measurements else {}
    geometry = dict(shapely.geometry.mapping(shapely.orient_polygons(area)))
    return {"type": "Feature", "geometry": geometry, "properties": properties}


def outline(slide_map: SlideMap, chosen: np.ndarray) -> Any:
    """The outline of the chosen tiles (rows, columns) in whole pixels of level 0: a valid polygon, or several."""
    labels, _ = ndimage.label(chosen)
    polygons = []
    for number, (rows, columns) in enumerate(ndimage.find_objects(labels), start=1):
        rings = trace(labels[rows, columns] == number)
        corners = [
            np.stack(
                [slide_map.grid.x_edges[ring[:, 0] + columns.start], slide_map.grid.y_edges[ring[:, 1] + rows.start]],
                axis=1,
            )
            for ring in rings
        ]
        # Tiles that hang together have one outer ring, the one around all others; what lies in it are holes.
        corners.sort(key=lambda ring: -np.ptp(ring[:, 0]) * np.ptp(ring[:, 1]))
        polygons.append(shapely.Polygon(corners[0], corners[1:]))
    return polygons[0] if len(polygons) == 1 else shapely.MultiPolygon(polygons)


def table_csv(slide_map: SlideMap) -> str:
    """One line per tile with its place in level 0, why it was left out, or what the model says of it."""
    names = slide_map.label_space.names
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(
        ["row", "column", "x", "y", "width", "height", "left_out", "class", "probability", "label_set", "attention"]
        + [defused(f"{what} {name}") for what in ("probability", "votes") for name in names]
    )
    for row in range(slide_map.grid.rows):
        for column in range(slide_map.grid.columns):
            tile = slide_map.tile(row, column)
            x0, y0, x1, y1 = tile.box
            where = [row, column, x0, y0, x1 - x0, y1 - y0]
            if tile.left_out is not None:
                table.writerow([*where, tile.left_out])
                continue
            chances, votes = slide_map.probabilities[row, column], slide_map.votes[row, column]
            members = defused(" ".join(tile.label_set or ()))
            said = ["", defused(tile.label or ""), f"{tile.probability:.4f}", members, f"{tile.attention:.4f}"]
            table.writerow([*where, *said, *(f"{value:.4f}" for value in (*chances, *votes))])
    return out.getvalue()


def picture_png(slide_map: SlideMap, thumbnail: np.ndarray) -> bytes:
    """The slide with every tile half in the colour of its class, and the codes of the classes on their regions."""
    height, width = thumbnail.shape[:2]
    columns, rows = (
        np.clip(np.searchsorted(cuts, (np.arange(pixels) + 0.5) * length / pixels, "right") - 1, 0, len(cuts) - 2)
        for cuts, pixels, length in (
            (slide_map.grid.x_edges, width, slide_map.about.width),
            (slide_map.grid.y_edges, height, slide_map.about.height),
        )
    )
    colours = np.array([ImageColor.getrgb(colour) for colour in slide_map.label_space.colours], np.uint16)
    classes = slide_map.classes[rows][:, columns]
    tinted = ((thumbnail + colours[classes]) // 2).astype(np.uint8)
    picture = Image.fromarray(np.where((classes >= 0)[:, :, None], tinted, thumbnail))
    _write_codes(picture, slide_map)
    out = io.BytesIO()
    picture.save(out, "PNG", compress_level=2)
    return out.getvalue()


def _write_codes(picture: Image.Image, slide_map: SlideMap) -> None:
    draw, letters = ImageDraw.Draw(picture), ImageFont.load_default(_LETTERS)
    across, down = picture.width / slide_map.about.width, picture.height / slide_map.about.height
    x_edges, y_edges, codes = slide_map.grid.x_edges, slide_map.grid.y_edges, slide_map.label_space.codes
    for mark in class_marks(slide_map.classes):
        x, y = x_edges[mark.column : mark.column + 2].mean(), y_edges[mark.row : mark.row + 2].mean()
        place = (float(x * across), float(y * down))
        draw.text(place, codes[mark.label], "black", letters, "mm", stroke_width=3, stroke_fill="white")


def report_html(slide_map: SlideMap, picture: bytes) -> str:
    """A page to print: no scripts, no outside files, everything escaped by the template's engine."""
    engine = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    facts = map_summary(slide_map)
    return engine.from_string(_TEMPLATE.read_text(encoding="utf-8")).render(
        facts=facts,
        classes=sorted(facts["classes"], key=lambda one: -one["mm2"]),
        colours=dict(zip(slide_map.label_space.names, slide_map.label_space.colours, strict=True)),
        codes=dict(zip(slide_map.label_space.names, slide_map.label_space.codes, strict=True)),
        titles=dict(zip(slide_map.label_space.names, slide_map.label_space.titles, strict=True)),
        words=dict(zip(slide_map.label_space.names, slide_map.label_space.descriptions, strict=True)),
        picture="data:image/png;base64," + base64.b64encode(picture).decode("ascii"),
        provenance=json.dumps(facts, indent=2, ensure_ascii=False),
    )
