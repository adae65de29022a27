"""A result to print on two pages: no scripts, no outside files, everything escaped by the template's engine."""

import base64
import io
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from elimipl_app.charts.map_layer import Layer, times_even_share
from elimipl_app.explore import exports, texts
from elimipl_app.explore.analysis import OF_A_CLASS, Analysis, ViewState
from elimipl_app.explore.answer import bar_groups
from elimipl_app.explore.picture_export import painted_panels
from elimipl_app.shell.palette import LIGHT
from elimipl_app.shell.texts import APP_TITLE, NOT_A_DEVICE

TEMPLATE = Path(__file__).with_name("report.html.jinja")
PRINT_SIDE = 1600
MOST_PATCHES = 12  # rows of the table: what fits on the second page


def html_report(analysis: Analysis, view: ViewState) -> str:
    """The whole report as one HTML text, with everything as it is set on the page."""
    from jinja2 import Environment, StrictUndefined  # only when somebody takes the report away

    labels = analysis.labels
    prediction, answer = analysis.answer_without(view.removed)
    shown, whole = (one.raw if view.raw else one.probabilities for one in (prediction, analysis.prediction))
    groups = bar_groups(analysis, answer, LIGHT)
    bars = [
        {
            "name": texts.class_in_words(labels, index),
            "probability": shown[index],
            "before": whole[index] if view.removed else None,
            "true": index == analysis.true_index,
            "colour": next(group.colour for group in groups if group.members[index]),
        }
        for index in range(len(labels))
    ]
    # The table holds the map's scores where it is about a class, else leave-one-out.
    scored = (view.kind, view.class_index) if view.kind in OF_A_CLASS else ("leave_one_out", analysis.prediction.index)
    maps = [panel for panel in painted_panels(analysis, view) if panel[0] != texts.ORIGINAL_TITLE]
    engine = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return engine.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        app_title=APP_TITLE,
        notice=NOT_A_DEVICE,
        headline=exports.headline(analysis, view),
        description=labels.descriptions[prediction.index],
        failed=answer.declined,
        answer_sentences=exports.answer_sentences(analysis, view),
        picture=_data_uri(analysis.image.pixels),
        painted=[(title, _data_uri(pixels)) for title, pixels in maps],
        map_sentence=exports.map_caption(analysis, view),
        evenness=exports.evenness_sentence(analysis, view),
        region=exports.region_sentence(analysis, view),
        removed=exports.removed_sentence(analysis, view),
        scale=texts.scale_sentence(analysis.image),
        colour_bar=_colour_bar(exports.colour_bar(analysis, view), view.opacity),
        legend=exports.legend(analysis, view),
        groups=groups,
        candidates=texts.candidates_sentence(analysis),
        bars_heading=texts.RAW_LABEL if view.raw else "Class probabilities",
        bars=bars,
        patches=_patches(analysis, view, analysis.scores(*scored)),
        patch_count=len(analysis.bag),
        score_title=texts.map_title(scored[0], labels.titles[scored[1]]),
        checks=answer.checks,
        titles=texts.CHECK_TITLES,
        facts=_facts(analysis, view),
    )


def _colour_bar(layer: Layer | None, opacity: float) -> dict[str, Any] | None:
    """The scale as a CSS gradient from left to right, and its ticks in percent of its length."""
    if layer is None:
        return None
    stops = ", ".join(f"{colour} {position:.1%}" for position, colour in layer.scale)
    ticks = [{"left": (position - layer.low) / (1 - layer.low), "text": text} for position, text in layer.ticks]
    return {"title": layer.title, "gradient": f"linear-gradient(to right, {stops})", "opacity": opacity, "ticks": ticks}


def _patches(analysis: Analysis, view: ViewState, scores: np.ndarray) -> list[dict[str, Any]]:
    """The patches that weigh most."""
    times, single = times_even_share(analysis.prediction.attention), analysis.every_score("single")
    rows = []
    for patch in np.argsort(-times, kind="stable")[:MOST_PATCHES].tolist():
        x0, y0, _, _ = analysis.bag.regions.box(patch)
        rows.append(
            {
                "number": patch,
                "where": f"{analysis.view.x + x0}, {analysis.view.y + y0}",
                "times": times[patch],
                "vote": analysis.labels.titles[int(single[patch].argmax())],
                "share": single[patch].max(),
                "score": scores[patch],
                "removed": patch in view.removed,
            }
        )
    return rows


def _facts(analysis: Analysis, view: ViewState) -> list[tuple[str, str]]:
    """What was done to which file, in words; the JSON file holds the same for a program."""
    result = exports.provenance(analysis, view)
    picture, field, bag, model = result.picture, result.picture.field, result.bag, result.model
    params = ", ".join(f"{name} {value}" for name, value in bag.params.items())
    title = analysis.labels.title
    candidates = ", ".join(map(title, result.candidates))
    libraries = ("python", "torch", "numpy", "opencv-python-headless")
    facts = (
        ("Picture", f"sha256 {picture.sha256}, {picture.width} × {picture.height} px"),
        ("Field of view", f"{field.width} × {field.height} px, left {field.x}, top {field.y}"),
        ("Sample", picture.sample or ""),
        ("Converted on loading", " ".join(picture.notes)),
        ("Bag", f"{bag.generator}, {bag.instances} patches" + (f" ({params})" if params else "")),
        ("Model", f"{analysis.predictor.card.called}, sha256 {model.sha256}"),
        ("Candidate labels", f"{candidates} ({result.candidates_from})" if candidates else ""),
        ("True label", title(result.true_label) if result.true_label else "not known"),
        ("Versions", ", ".join(f"{name} {result.versions[name]}" for name in libraries)),
        ("To get it again", "take the JSON file away as well: python -m elimipl replay result.json picture"),
    )
    return [fact for fact in facts if fact[1]]


def _data_uri(pixels: np.ndarray) -> str:
    """The picture as PNG, at most `PRINT_SIDE` px: a page has no room for more, and a browser no memory."""
    picture = Image.fromarray(pixels)
    picture.thumbnail((PRINT_SIDE, PRINT_SIDE), Image.Resampling.BOX)
    out = io.BytesIO()
    picture.save(out, "PNG")
    return "data:image/png;base64," + base64.b64encode(out.getvalue()).decode("ascii")
