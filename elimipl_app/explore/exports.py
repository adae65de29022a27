"""What files hold that are taken away: sentences below a map, the result as JSON, the patches as CSV and GeoJSON."""

import csv
import io
import json
import platform
import uuid
from functools import reduce
from importlib.metadata import version

import numpy as np
from PIL import ImageColor

from bag_generators.base.bag_file import plain_json
from bag_generators.base.validation import plain
from elimipl.answers.answer import WITHOUT_CHECKS
from elimipl.csv_cells import defused
from elimipl.result_file import Field, Instances, Model, Numbers, Result, SavedPicture
from elimipl_app.charts.contours import QUARTER
from elimipl_app.charts.map_layer import Layer, class_colours, is_even, times_even_share
from elimipl_app.explore import texts
from elimipl_app.explore.analysis import CONTOURS, OF_A_CLASS, TWO_CLASSES, Analysis, ViewState, maps_of
from elimipl_app.explore.maps import LegendEntry, contour_legend, drawn_contours, drawn_numbers, panels_of, vote_legend
from elimipl_app.shell.texts import NOT_A_DEVICE, sureness

MOST_NUMBERED = 12  # removed patches that a sentence names
MOST_FEATURES = 4_000_000  # numbers; bags too large for a spreadsheet go without features
MOST_OF_ALL_CLASSES = (1_024, 144)
"""Instances; integrated gradients take their time for every class."""
LIBRARIES = ("torch", "numpy", "scikit-image", "opencv-python-headless", "Pillow", "streamlit", "plotly")
NAMESPACE = uuid.UUID("6f2ad0c6-6f0b-5d0f-9b0a-5c6d3b1d8c11")


def colour_bar(analysis: Analysis, view: ViewState) -> Layer | None:
    """The layer whose scale stands beside the picture; None where a legend does, or nothing is painted."""
    layers = [layer for panel in panels_of(analysis, view) for layer in panel.layers]
    return next((layer for layer in layers if layer.ticks and layer.painted), None)


def legend(analysis: Analysis, view: ViewState) -> list[LegendEntry]:
    """The classes of the vote, largest share first, or what the lines go around; none for maps that are filled."""
    if view.kind == "vote" and not view.hidden:
        return vote_legend(analysis)
    return contour_legend(drawn_contours(panels_of(analysis, view)))


def headline(analysis: Analysis, view: ViewState) -> str:
    """The answer as the page gives it: none where a check failed or nothing was decided."""
    answer = analysis.answer_without(view.removed)[1]
    if answer.declined:
        return answer.headline
    words = texts.class_in_words(analysis.labels, analysis.labels.index(answer.label))
    return f"{words}, {sureness(answer.probability)}"


def answer_sentences(analysis: Analysis, view: ViewState) -> tuple[str, ...]:
    """What else is possible, how reliable that is, and what speaks against the answer or which checks it passed."""
    answer = analysis.answer_without(view.removed)[1]
    if not answer.declined:
        return (*texts.certainty(answer, analysis.predictor.card), texts.scope_sentence(answer.verdict))
    words = texts.class_in_words(analysis.labels, analysis.labels.index(answer.label))
    failed = (check.reason for check in answer.checks if not check.passed)
    return (*failed, f"{WITHOUT_CHECKS} {words}, {sureness(answer.probability)}.")


def map_caption(analysis: Analysis, view: ViewState) -> str:
    """Which map is painted, and how."""
    if view.hidden:
        return "The map is hidden."
    title = texts.SOURCE_TITLES[view.kind]
    if view.panels == TWO_CLASSES:
        left, right = (panel.title for panel in panels_of(analysis, view))
        title += f" ({texts.map_title(view.kind, texts.left_and_right(left, right))})"
    elif view.kind in OF_A_CLASS:
        title += f" ({texts.map_title(view.kind, analysis.labels.titles[view.class_index])})"
    below = f", what lies below {view.threshold:.0%} of the scale is left clear" if view.threshold else ""
    if view.painted == CONTOURS and view.kind != "vote":
        return f"Map: {title}, in lines around at most {QUARTER:.0%} of the picture{below}."
    return f"Map: {title}, opacity {view.opacity:.0%}{below}."


def removed_sentence(analysis: Analysis, view: ViewState) -> str:
    """Which patches were taken out, and what the answer was before; nothing where all stayed."""
    if not view.removed:
        return ""
    gone = sorted(set(analysis.blocks[list(view.removed)].tolist()))
    numbers = ", ".join(str(number) for number in gone[:MOST_NUMBERED])
    more = "" if len(gone) <= MOST_NUMBERED else f" and {len(gone) - MOST_NUMBERED} more"
    what, where, seen = (
        ("cells", "in the blocks ", f" {texts.NEIGHBOURS_SAW}") if analysis.in_blocks else ("patches", "", "")
    )
    whole = analysis.prediction
    return (
        f"{len(view.removed)} of {len(analysis.bag)} {what} were removed (crossed out): {where}{numbers}{more}. "
        f"With all of them the answer is {whole.title}, {sureness(whole.probability)}.{seen}"
    )


def region_sentence(analysis: Analysis, view: ViewState) -> str:
    """What the region that was drawn holds; nothing where there is none."""
    if not view.region:
        return ""
    said = texts.region_sentence(drawn_numbers(analysis, view), texts.SOURCE_TITLES[view.kind]).replace("**", "")
    return f"Outlined: a region that a person gave, not the model. {said}"


def evenness_sentence(analysis: Analysis, view: ViewState) -> str:
    """How the attention is spread; that nothing is painted is said of its own map only."""
    attention = analysis.prediction.attention
    return texts.evenness(attention, is_even(attention), painted=view.kind == "attention")


def all_sentences(analysis: Analysis, view: ViewState) -> list[str]:
    """Everything there is to say below a picture, in order."""
    said = (
        map_caption(analysis, view),
        evenness_sentence(analysis, view),
        region_sentence(analysis, view),
        removed_sentence(analysis, view),
        texts.candidates_sentence(analysis),
        *answer_sentences(analysis, view),
        texts.scale_sentence(analysis.image),
    )
    return [sentence for sentence in said if sentence]


def provenance(analysis: Analysis, view: ViewState) -> Result:
    """The file's hash, where in it the model looked, how the bag was made, which model read it, what came out."""
    card, names, candidates = analysis.predictor.card, analysis.labels.names, analysis.candidates
    whole, image = analysis.view.picture, analysis.image
    prediction, answer = analysis.answer_without(view.removed)
    return Result(
        notice=NOT_A_DEVICE,
        picture=SavedPicture(
            sha256=whole.sha256,
            width=whole.width,
            height=whole.height,
            field=Field(x=analysis.view.x, y=analysis.view.y, width=image.width, height=image.height),
            microns_per_pixel=image.microns_per_pixel,
            scale_source=image.scale_source,
            sample=analysis.sample.id if analysis.sample else None,
            notes=image.notes,
        ),
        bag=Instances(
            generator=analysis.bag.generator,
            params=plain_json(analysis.bag.params),
            instances=len(analysis.bag.features),
            removed=view.removed,
        ),
        model=Model(id=card.id, sha256=card.sha256, method=card.method, label_space=analysis.labels.id),
        candidates=analysis.candidate_names,
        candidates_from=None if candidates is None else texts.CANDIDATES_FROM[candidates.source],
        true_label=None if analysis.true_index is None else names[analysis.true_index],
        prediction=Numbers.of(analysis.prediction),
        without_removed=Numbers.of(prediction) if view.removed else None,
        answer=answer.to_dict(),
        map={
            "kind": view.kind,
            "class": names[view.class_index] if view.kind in OF_A_CLASS else None,
            "painted": view.painted,
            "opacity": view.opacity,
            "colours": view.colours,
            "threshold": view.threshold,
            "hidden": view.hidden,
            "outlined": view.outlined,
            "panels": view.panels,
            "region": [[list(corner) for corner in polygon] for polygon in view.region],
        },
        versions={"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}},
    )


def provenance_json(analysis: Analysis, view: ViewState) -> str:
    """A result with everything needed to get it again: `python -m elimipl replay` reads it."""
    return json.dumps(plain(provenance(analysis, view)), indent=2, ensure_ascii=False)


def instances_csv(analysis: Analysis, view: ViewState) -> str:
    """One row per patch: place in the whole picture (px), every score for the predicted class, features.

    All cells are numbers; no spreadsheet takes what a generator calls its features for a formula.
    """
    attention, index, bag = analysis.prediction.attention, analysis.prediction.index, analysis.bag
    columns = {
        "attention": attention,
        "times_even_share": times_even_share(attention),
        **{kind: analysis.scores(kind, index) for kind in maps_of(analysis) if kind in OF_A_CLASS},
    }
    fits = bag.features.size <= MOST_FEATURES
    names, features = (bag.feature_names, bag.features) if fits else ((), np.empty((len(bag), 0)))
    rank = np.argsort(np.argsort(-attention, kind="stable"), kind="stable") + 1
    out = io.StringIO()
    writer = csv.writer(out)
    place = ["instance", "x0", "y0", "x1", "y1", "removed"]
    writer.writerow([*place, *columns, "attention_rank", *map(defused, names)])
    x, y = analysis.view.x, analysis.view.y
    removed = set(view.removed)
    for i, own in enumerate(features):
        x0, y0, x1, y1 = bag.regions.box(i)
        scores = (f"{values[i]:.6g}" for values in columns.values())
        where = [i, x + x0, y + y0, x + x1, y + y1, int(i in removed)]
        writer.writerow([*where, *scores, rank[i], *(f"{value:.6g}" for value in own)])
    return out.getvalue()


def geojson(analysis: Analysis, view: ViewState) -> str:
    """Patches that QuPath takes by drag and drop, one detection each, in pixels of the whole picture.

    Every map is a measurement, the class what the patch would vote for alone.
    """
    import shapely  # only when somebody takes the file away: importing it takes a tenth of a second

    from elimipl.slides.exports import geojson_feature

    field, card, names = analysis.view, analysis.predictor.card, analysis.labels.names
    colours, columns, removed = class_colours(analysis.labels), _measurements(analysis), set(view.removed)
    made_by = f"{field.picture.sha256} {field.x} {field.y} {field.image.width} {card.sha256}"
    features = []
    for i, vote in enumerate(analysis.every_score("single").argmax(axis=1).tolist()):
        rings = [shapely.Polygon(ring + np.array([field.x, field.y])) for ring in analysis.bag.regions.outline(i)]
        feature = geojson_feature(
            reduce(shapely.symmetric_difference, rings),  # what they enclose by the even-odd rule
            "detection",
            f"patch {i}",
            {"name": names[vote], "color": ImageColor.getrgb(colours[vote])},
            {name: float(values[i]) for name, values in columns.items()},
        )
        # The same patch of the same picture and model has the same id, so that QuPath replaces it instead of adding.
        feature["id"] = str(uuid.uuid5(NAMESPACE, f"{made_by} {i}"))
        feature["properties"]["metadata"] = {
            "answer for the picture": analysis.prediction.label,
            "model": card.id,
            "removed": str(i in removed).lower(),
        }
        features.append(feature)
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
