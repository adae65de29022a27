"""A result with everything needed to get it again: `python -m elimipl replay` reads it."""

import json
import platform
from importlib.metadata import version
from typing import Any

from bag_generators.bag_file import plain_json
from bag_generators.validation import plain
from elimipl.answer import Answer
from elimipl.predictor import Prediction
from elimipl.result_file import Field, Instances, Model, Numbers, Picture, Result
from ui.explore.analysis import Analysis
from ui.explore.texts import CANDIDATES_FROM
from ui.explore.view_state import ViewState
from ui.frame import texts

LIBRARIES = ("torch", "numpy", "scikit-image", "opencv-python-headless", "Pillow", "streamlit", "plotly")


def shown_prediction(analysis: Analysis, view: ViewState) -> Prediction:
    """The prediction as the page shows it: without the patches that were taken out."""
    return analysis.answer_without(view.removed)[0]


def shown_answer(analysis: Analysis, view: ViewState) -> Answer:
    """The answer that belongs to it."""
    return analysis.answer_without(view.removed)[1]


def provenance(analysis: Analysis, view: ViewState) -> Result:
    """The file's hash, where in it the model looked, how the bag was made, which model read it, what came out."""
    card, names, candidates = analysis.predictor.card, analysis.labels.names, analysis.candidates
    return Result(
        notice=texts.NOT_A_DEVICE,
        picture=_picture(analysis),
        bag=Instances(
            generator=analysis.bag.generator,
            params=plain_json(analysis.bag.params),
            instances=len(analysis.bag.features),
            removed=view.removed,
        ),
        model=Model(id=card.id, sha256=card.sha256, method=card.method, label_space=analysis.labels.id),
        candidates=analysis.candidate_names,
        candidates_from=None if candidates is None else CANDIDATES_FROM[candidates.source],
        true_label=None if analysis.true_index is None else names[analysis.true_index],
        prediction=Numbers.of(analysis.prediction),
        without_removed=Numbers.of(shown_prediction(analysis, view)) if view.removed else None,
        answer=shown_answer(analysis, view).to_dict(),
        map=_map(analysis, view),
        versions={"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}},
    )


def provenance_json(analysis: Analysis, view: ViewState) -> str:
    """The same as text."""
    return json.dumps(plain(provenance(analysis, view)), indent=2, ensure_ascii=False)


def _picture(analysis: Analysis) -> Picture:
    whole, image = analysis.view.picture, analysis.image
    return Picture(
        sha256=whole.sha256,
        width=whole.width,
        height=whole.height,
        field=Field(x=analysis.view.x, y=analysis.view.y, width=image.width, height=image.height),
        microns_per_pixel=image.microns_per_pixel,
        scale_source=image.scale_source,
        sample=analysis.sample.id if analysis.sample else None,
        notes=image.notes,
    )


def _map(analysis: Analysis, view: ViewState) -> dict[str, Any]:
    """What was painted; the class only for maps that are about one."""
    of_a_class = view.kind not in ("attention", "vote")
    return {
        "kind": view.kind,
        "class": analysis.labels.names[view.class_index] if of_a_class else None,
        "opacity": view.opacity,
        "colours": view.colours,
        "threshold": view.threshold,
        "hidden": view.hidden,
        "outlined": view.outlined,
        "panels": view.panels,
        "region": [[list(corner) for corner in polygon] for polygon in view.region],
    }
