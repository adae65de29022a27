"""Instances as GeoJSON that QuPath takes by drag and drop: polygons in pixels of the whole picture."""

import json
from functools import reduce
from typing import Any

import numpy as np

from ui.explore.analysis import Analysis


def geojson(analysis: Analysis) -> str:
    """One detection per instance with its attention as a measurement, classed as what the model predicts."""
    label = analysis.prediction.label
    colour = analysis.labels.colours[analysis.prediction.index]
    rgb = [int(colour[start : start + 2], 16) for start in (1, 3, 5)]
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
    """One valid polygon or several, with their holes: what the rings enclose by the even-odd rule."""
    import shapely  # only when somebody takes the file away: importing it takes a tenth of a second

    area = reduce(shapely.symmetric_difference, [shapely.Polygon(ring) for ring in outlines])
    return dict(shapely.geometry.mapping(shapely.orient_polygons(area)))
