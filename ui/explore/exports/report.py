"""A printable page with the result: no scripts, no outside files, everything escaped by the template's engine."""

import base64
import io
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from ui.explore.analysis import Analysis
from ui.explore.exports.painted import painted_png
from ui.explore.exports.provenance import provenance_json
from ui.explore.texts import UNRELIABLE, scope_sentence
from ui.figures.score_scale import SCALES, coloured
from ui.frame import texts
from ui.frame.palette import LIGHT

TEMPLATE = Path(__file__).with_name("report.html.jinja")
PRINT_SIDE = 1600


def html_report(analysis: Analysis) -> str:
    """The whole report as one HTML text."""
    from jinja2 import Environment, StrictUndefined  # only when somebody takes the report away

    prediction, verdict = analysis.prediction, analysis.verdict
    map_png = painted_png(analysis, coloured(prediction.attention, SCALES[0]), "Cividis")
    engine = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return engine.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        app_title=texts.APP_TITLE,
        notice=texts.NOT_A_DEVICE,
        unreliable=UNRELIABLE,
        prediction=prediction,
        failed=verdict.failed,
        scope=scope_sentence(verdict),
        picture=_data_uri(_at_print_size(_png(analysis.image.pixels))),
        painted=_data_uri(_at_print_size(map_png)),
        bars=_bars(analysis),
        influence=analysis.scores("leave_one_out", prediction.index),
        provenance=provenance_json(analysis),
    )


def _bars(analysis: Analysis) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "probability": analysis.prediction.probabilities[index],
            "candidate": bool(analysis.candidates[index]),
            "true": index == analysis.true_index,
            "colour": LIGHT.candidate if analysis.candidates[index] else LIGHT.non_candidate,
        }
        for index, name in enumerate(analysis.labels.names)
    ]


def _png(pixels: np.ndarray) -> bytes:
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "PNG")
    return out.getvalue()


def _at_print_size(png: bytes) -> bytes:
    """The same picture, at most `PRINT_SIDE` px: a page has no room for more, and a browser no memory."""
    with Image.open(io.BytesIO(png)) as picture:
        if max(picture.size) <= PRINT_SIDE:
            return png
        picture.thumbnail((PRINT_SIDE, PRINT_SIDE), Image.Resampling.BOX)
        return _png(np.asarray(picture))


def _data_uri(png: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")
