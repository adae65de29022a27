"""Patches as GeoJSON that QuPath takes by drag and drop: polygons in pixels of the whole picture."""

import json
import uuid
from functools import reduce
from typing import Any

import numpy as np

from ui.explore import texts
from ui.explore.analysis import Analysis
from ui.explore.view_state import OF_A_CLASS, ViewState, maps_of
from ui.figures.evenness import times_even_share
from ui.figures.map_colours import channels, class_colours

MOST_OF_ALL_CLASSES = (1_024, 144)
"""Instances; integrated gradients take their time for every class."""
NAMESPACE = uuid.UUID("6f2ad0c6-6f0b-5d0f-9b0a-5c6d3b1d8c11")


def geojson(analysis: Analysis, view: ViewState) -> str:
    """One detection per patch: every map as measurements, classed as what the patch would vote for alone."""
    votes = analysis.every_score("single").argmax(axis=1).tolist()
    names, colours = analysis.labels.names, class_colours(analysis.labels)
    columns = _measurements(analysis)
    features: list[dict[str, Any]] = []
    removed = set(view.removed)
    for i, vote in enumerate(votes):
        outlines = [ring + np.array([analysis.view.x, analysis.view.y]) for ring in analysis.bag.regions.outline(i)]
        features.append(
            {
                "type": "Feature",
                "id": _identity(analysis, i),
                "geometry": _geometry(outlines),
                "properties": {
                    "objectType": "detection",
                    "name": f"patch {i}",
                    "classification": {"name": names[vote], "color": list(channels(colours[vote]))},
                    "measurements": {name: float(values[i]) for name, values in columns.items()},
                    "metadata": {
                        "answer for the picture": analysis.prediction.label,
                        "model": analysis.predictor.card.id,
                        "removed": str(i in removed).lower(),
                    },
                },
            }
        )
    return json.dumps({"type": "FeatureCollection", "features": features}, ensure_ascii=False, allow_nan=False)


def _measurements(analysis: Analysis) -> dict[str, np.ndarray]:
    """Every map of the page by the name QuPath lists it under, (n,) each; of large bags for the answer alone."""
    columns = {
        f"{texts.SOURCE_TITLES['attention']}, {texts.TIMES_EVEN_TITLE}": times_even_share(
            analysis.prediction.attention
        ),
        f"{texts.SOURCE_TITLES['vote']}, probability": analysis.every_score("single").max(axis=1),
    }
    for kind in (kind for kind in maps_of(analysis) if kind in OF_A_CLASS):
        few = len(analysis.bag) <= MOST_OF_ALL_CLASSES[kind == "integrated_gradients"]
        for index in range(len(analysis.labels)) if few else [analysis.prediction.index]:
            columns[f"{texts.MEASUREMENT_TITLES[kind]}: {analysis.labels.names[index]}"] = analysis.scores(kind, index)
    return columns


def _identity(analysis: Analysis, i: int) -> str:
    """The same patch of the same picture and model has the same id, so that QuPath replaces it instead of adding."""
    view, card = analysis.view, analysis.predictor.card
    return str(uuid.uuid5(NAMESPACE, f"{view.picture.sha256} {view.x} {view.y} {view.image.width} {card.sha256} {i}"))


def _geometry(outlines: list[np.ndarray]) -> dict[str, Any]:
    """One valid polygon or several, with their holes: what the rings enclose by the even-odd rule."""
    import shapely  # only when somebody takes the file away: importing it takes a tenth of a second

    area = reduce(shapely.symmetric_difference, [shapely.Polygon(ring) for ring in outlines])
    return dict(shapely.geometry.mapping(shapely.orient_polygons(area)))
