"""Regions as GeoJSON: what QuPath exports comes in, what goes out can be dragged onto the slide in QuPath."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import shapely

from bag_generators import InputError
from bag_generators.base.errors import shown_name
from bag_generators.base.validation import parse_json, validated
from elimipl.slides.exports import geojson_feature
from elimipl.slides.regions.numbers import RegionNumbers
from elimipl.slides.regions.region import MOST_CORNERS, MOST_REGIONS, Region, on_slide, refuse_if_tangled

MOST_BYTES = 20 * 2**20
_CALLED = "The file of regions"
_FIX = "Export the annotations as GeoJSON, in QuPath: File → Export objects as GeoJSON."
_Ring = list[list[float]]


@dataclass(frozen=True)
class Imported:
    """Regions of a file, and how many of its shapes could not be used."""

    regions: tuple[Region, ...]
    outside: int = 0
    """Shapes that do not lie on this slide."""
    not_areas: int = 0
    """Points, lines and shapes without a geometry."""


def read_regions(data: bytes, width: int, height: int, first_number: int = 1) -> Imported:
    """The polygons of a GeoJSON file, as regions of a slide of that size."""
    if len(data) > MOST_BYTES:
        raise InputError(f"{_CALLED} is larger than {MOST_BYTES // 2**20} MB.", "Export fewer annotations.")
    regions: list[Region] = []
    outside = not_areas = 0
    features = _features(parse_json(data, _CALLED, _FIX))
    shapes = [_shape(feature.get("geometry")) for feature in features]
    refuse_if_tangled(shape for shape in shapes if shape is not None)
    for feature, shape in zip(features, shapes, strict=True):
        if shape is None:
            not_areas += 1
            continue
        try:
            area = on_slide(shape, width, height)
        except InputError:
            outside += 1
            continue
        name, classification = _names(feature.get("properties"))
        number = first_number + len(regions)
        regions.append(Region(number, name or classification or f"Region {number}", area, classification))
    return Imported(tuple(regions), outside, not_areas)


def write_regions(regions: Iterable[Region], numbers: Mapping[int, RegionNumbers]) -> str:
    """Regions with their measurements as annotations for QuPath."""
    features = []
    for region in regions:
        kind = {"name": region.classification} if region.classification else {}
        measured = numbers.get(region.number)
        features.append(
            geojson_feature(region.area, "annotation", region.name, kind, _measurements(measured) if measured else {})
        )
    return json.dumps({"type": "FeatureCollection", "features": features}, ensure_ascii=False, allow_nan=False)


def _measurements(numbers: RegionNumbers) -> dict[str, float]:
    found = {
        "area mm²": numbers.area_mm2,
        "mapped share": numbers.mapped,
        "attention share": numbers.attention_share,
        "AUROC attention": numbers.auroc_attention,
        "AUROC main class": numbers.auroc_class,
        **{f"share {name}": share for name, share in numbers.class_shares.items()},
    }
    return {name: value for name, value in found.items() if value is not None}


def _features(content: Any) -> list[dict[str, Any]]:
    """QuPath writes a collection, a list of features, or one."""
    found = content.get("features") if isinstance(content, dict) and "features" in content else content
    found = [found] if isinstance(found, dict) else found
    if not isinstance(found, list) or not all(isinstance(one, dict) and one.get("type") == "Feature" for one in found):
        raise InputError(f"{_CALLED} holds no GeoJSON features.", _FIX)
    if len(found) > MOST_REGIONS:
        raise InputError(f"{_CALLED} holds {len(found):,} shapes.", f"Export at most {MOST_REGIONS} annotations.")
    return found


def _shape(geometry: Any) -> Any:
    """A polygon or several; None for everything else."""
    kind = geometry.get("type") if isinstance(geometry, dict) else None
    if kind not in ("Polygon", "MultiPolygon"):
        return None
    given = geometry.get("coordinates")
    polygons = validated(list[list[_Ring]], [given] if kind == "Polygon" else given, f"A shape of {_LOWER}", _FIX)
    corners = [corner for polygon in polygons for ring in polygon for corner in ring]
    short = any(len(ring) < 4 for polygon in polygons for ring in polygon) or not all(polygons)
    if short or not polygons or not all(len(corner) >= 2 and max(map(abs, corner)) < 1e9 for corner in corners):
        raise InputError(f"A shape of {_LOWER} is not a closed line around an area.", _FIX)
    if len(corners) > MOST_CORNERS:
        raise InputError(f"A shape of {_LOWER} has {len(corners):,} corners.", f"Export at most {MOST_CORNERS:,}.")
    flat = [[[corner[:2] for corner in ring] for ring in polygon] for polygon in polygons]
    return shapely.MultiPolygon([(rings[0], rings[1:]) for rings in flat])


def _names(properties: Any) -> tuple[str, str | None]:
    """The name and the class of an annotation; a text of any other kind is none."""
    known = properties if isinstance(properties, dict) else {}
    kind = known.get("classification")
    texts = (known.get("name"), kind.get("name") if isinstance(kind, dict) else kind)
    name, classification = (shown_name(text) if isinstance(text, str) else "" for text in texts)
    return name, classification or None


_LOWER = _CALLED[0].lower() + _CALLED[1:]
