"""A result with everything needed to get it again."""

import json
import platform
from importlib.metadata import version
from typing import Any

import numpy as np

from ui.explore.analysis import Analysis
from ui.frame import texts

LIBRARIES = ("torch", "numpy", "scikit-image", "opencv-python-headless", "Pillow", "streamlit", "plotly")


def provenance(analysis: Analysis) -> dict[str, Any]:
    """Plain JSON values: the picture's hash, how the bag was made, which model read it, what came out."""
    card, prediction, names = analysis.predictor.card, analysis.prediction, analysis.labels.names
    return {
        "notice": texts.NOT_A_DEVICE,
        "picture": {
            "sha256": analysis.image.sha256,
            "width": analysis.image.width,
            "height": analysis.image.height,
            "field_of_view": {"x": analysis.view.x, "y": analysis.view.y},
            "sample": analysis.sample.id if analysis.sample else None,
            "notes": list(analysis.image.notes),
        },
        "bag": {
            "generator": analysis.bag.generator,
            "params": dict(analysis.bag.params),
            "instances": len(analysis.bag.features),
        },
        "model": {
            "id": card.id,
            "sha256": card.sha256,
            "method": card.method,
            "label_space": analysis.labels.id,
        },
        "candidates": [names[i] for i in np.flatnonzero(analysis.candidates)],
        "true_label": None if analysis.true_index is None else names[analysis.true_index],
        "prediction": {
            "label": prediction.label,
            "probabilities": dict(zip(names, prediction.probabilities.tolist(), strict=True)),
            "raw": dict(zip(names, prediction.raw.tolist(), strict=True)),
            "attention": prediction.attention.tolist(),
        },
        **analysis.verdict.to_dict(),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}},
    }


def provenance_json(analysis: Analysis) -> str:
    """The same as text."""
    return json.dumps(provenance(analysis), indent=2, ensure_ascii=False)
