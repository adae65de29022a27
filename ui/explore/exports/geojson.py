"""Instances as GeoJSON that QuPath takes by drag and drop: polygons in pixels of the whole picture."""

import json
from typing import Any

import numpy as np

from ui.explore.analysis import Analysis

Ring = list[list[float]]


def geojson(analysis: Analysis) -> str:
    """One detection per instance with its attention as a measurement, classed as what the model predicts."""
    label = analysis.prediction.label
    colour = analysis.labels.colours[analysis.prediction.index]
    rgb = [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
    features: list[dict[str, Any]] = []
    for i, attention in enumerate(analysis.prediction.attention.tolist()):
        outlines = [ring + np.array([analysis.view.x, analysis.view.y]) for ring in analysis.bag.regions.outline(i)]
        features.append(
            {
                "type": "Feature",
                "geometry": _geometry(outlines),
                "properties": {
                    "objectType": "detection",
                    "name": f"instance {i}",
                    "classification": {"name": label, "color": rgb},
                    "measurements": {"attention": attention},
                },
            }
        )
    return json.dumps({"type": "FeatureCollection", "features": features})


def _geometry(outlines: list[np.ndarray]) -> dict[str, Any]:
    """Outer rings with their holes. Outer rings run clockwise on the screen, holes the other way."""
    outer = [ring for ring in outlines if _signed_area(ring) > 0]
    polygons: list[list[Ring]] = [[_closed(ring)] for ring in outer]
    for hole in (ring for ring in outlines if _signed_area(ring) <= 0):
        around = [place for place, ring in enumerate(outer) if _inside(_point_in_hole(hole), ring)]
        smallest = min(around, key=lambda place: _signed_area(outer[place]))
        polygons[smallest].append(_closed(hole))
    if len(polygons) == 1:
        return {"type": "Polygon", "coordinates": polygons[0]}
    return {"type": "MultiPolygon", "coordinates": polygons}


def _signed_area(ring: np.ndarray) -> float:
    x, y = ring[:, 0], ring[:, 1]
    return float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum() / 2)


def _closed(ring: np.ndarray) -> Ring:
    return [*ring.tolist(), ring[0].tolist()]


def _point_in_hole(hole: np.ndarray) -> np.ndarray:
    """A point beside the middle of the hole's first edge, a quarter of a pixel into the hole (to its left)."""
    start, end = hole[0], hole[1]
    dx, dy = np.sign(end - start)
    return (start + end) / 2 + 0.25 * np.array([dy, -dx])


def _inside(point: np.ndarray, ring: np.ndarray) -> bool:
    """Even-odd rule: how many of the ring's edges a ray to the right crosses."""
    start, end = ring, np.roll(ring, -1, axis=0)
    crosses = (start[:, 1] > point[1]) != (end[:, 1] > point[1])
    edges = np.where(crosses)[0]
    rise = end[edges, 1] - start[edges, 1]
    x = start[edges, 0] + (point[1] - start[edges, 1]) * (end[edges, 0] - start[edges, 0]) / rise
    return bool((x > point[0]).sum() % 2)
