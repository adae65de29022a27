"""Many pictures at once: one answer or one reason for each, never a stop; and the rows as tables and files."""

import csv
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from bag_generators import InputError, TissueImage, generate
from bag_generators.base.errors import shown_name
from bag_generators.scale import ScaleDecision, decide_scale
from bag_generators.tissue.quality import measure_for
from elimipl.answers.answer import ACCEPTANCE, DRAWINGS_ONLY, Answer, answer
from elimipl.answers.predictor import Prediction, Predictor
from elimipl.candidates.labels import LabelSpace, label_in
from elimipl.csv_cells import defused
from elimipl.datasets.pictures import PHANTOMS
from elimipl_app.charts.tissue import display_copy
from elimipl_app.server.log import model_name, picture_name, timed
from elimipl_app.server.pixels import read_upload
from elimipl_app.shell.texts import NOT_CHECKED

THUMBNAIL = 64  # px


@dataclass(frozen=True)
class BatchRow:
    """What became of one file; where it was refused, only the reason is there."""

    file: str
    sha256: str = ""
    model: str = ""
    true_label: str = ""
    """As the names of the file and its folders say; empty where they don't."""
    label: str = ""
    probability: float | None = None
    label_set: tuple[str, ...] | None = None
    """The labels that are possible; None where that was not calibrated."""
    declined: bool | None = None
    """Whether there is no answer: a check of the picture failed, or no label or all of them are possible."""
    headline: str = ""
    """The answer in a few words, also where there is none."""
    trusted: bool | None = None
    chance: float | None = None
    """How often answers like this one are right; None where the model's card has no numbers for it."""
    in_scope: bool | None = None
    """None for a file that was refused, and where the model came without limits to check by."""
    probabilities: dict[str, float] = field(default_factory=dict)
    microns_per_pixel: float | None = None
    """The scale that the picture was read at."""
    scale_origin: str = ""
    """“file”, “by hand”, “estimated” or “assumed”."""
    notes: str = ""
    refused: str = ""
    thumbnail: str = ""
    """A small picture as a data URI."""


def classify_files(
    files: Sequence[tuple[str, bytes]],
    predictor: Predictor,
    progress: Callable[[int], object],
    microns_per_pixel: float | None = None,
) -> list[BatchRow]:
    """One row per (name, bytes), in order; a file that can't be used becomes a row with the reason.

    `microns_per_pixel` is the scale of all pictures where a person gives it.
    """
    rows = []
    for number, (name, data) in enumerate(files, start=1):
        rows.append(_classify(name, data, predictor, microns_per_pixel))
        progress(number)
    return rows


def _classify(name: str, data: bytes, predictor: Predictor, microns_per_pixel: float | None) -> BatchRow:
    """The same answer as `elimipl predict` gives: the whole picture is read."""
    card = predictor.card
    sha256 = hashlib.sha256(data).hexdigest()
    try:
        with timed("predict", **picture_name(sha256), **model_name(card), bytes=len(data)):
            image = read_upload(data, sha256)
            scale = decide_scale(image, microns_per_pixel)
            image = scale.apply_to(image)
            bag = generate(card.generator, image, **card.generator_params)
            prediction = predictor.predict(bag)
        given = answer(measure_for(card.generator, image).numbers(), predictor, bag, prediction).read_at(scale)
    except InputError as error:
        return BatchRow(shown_name(name), sha256, card.id, refused=str(error))
    return _row(name, image, scale, prediction, given)


def _row(name: str, image: TissueImage, scale: ScaleDecision, prediction: Prediction, given: Answer) -> BatchRow:
    names = prediction.label_space.names
    said = () if scale.origin == "file" or scale.doubted else (scale.sentence,)
    notes = [*image.notes, *_doubts(given), *said]
    return BatchRow(
        file=shown_name(name),
        sha256=image.sha256,
        model=prediction.model_id,
        true_label=label_in(name, names),
        label=given.label,
        probability=given.probability,
        label_set=given.label_set,
        declined=given.declined,
        headline=given.headline,
        trusted=given.trusted,
        chance=given.verdict.chance,
        in_scope=given.verdict.in_scope,
        probabilities=dict(zip(names, prediction.probabilities.tolist(), strict=True)),
        microns_per_pixel=scale.microns_per_pixel,
        scale_origin=scale.origin,
        notes=" ".join(notes),
        thumbnail=display_copy(image, THUMBNAIL),
    )


def _doubts(given: Answer) -> tuple[str, ...]:
    """What speaks against the answer, and how often answers like it are right."""
    failed = tuple(check.reason for check in given.checks if not check.passed or check.name == ACCEPTANCE)
    if given.verdict.in_scope is None:
        return (*failed, NOT_CHECKED)
    return failed or ((DRAWINGS_ONLY,) if given.verdict.trained_on == PHANTOMS else ())


SHOWN = ("thumbnail", "file", "true_label", "answer", "probability", "label_set", "scale", "why")


NO_ANSWER = "no answer"


@dataclass(frozen=True)
class Comparison:
    """Answers against the labels in the names."""

    matrix: pd.DataFrame
    """Rows are the labels in the names, columns the answers; the last one counts files without."""
    files: int
    answered: int
    right: int
    """Of those answered."""
    trusted: int
    trusted_right: int


def batch_table(rows: Sequence[BatchRow], labels: LabelSpace) -> pd.DataFrame:
    """What the page shows; columns that would be empty are left out."""
    shown = [
        vars(row)
        | {"true_label": labels.title(row.true_label), "label_set": _else_possible(row, labels)}
        | {"answer": _answer(row, labels), "scale": _scale(row), "why": row.refused or row.notes}
        for row in rows
    ]
    table = _without_formulas(pd.DataFrame(shown, columns=list(SHOWN)))  # Streamlit lets people save tables as CSV
    return table.drop(
        columns=[column for column in ("true_label", "label_set", "scale", "why") if not table[column].any()]
    )


def compared(rows: Sequence[BatchRow], labels: LabelSpace) -> Comparison | None:
    """The confusion matrix; None where fewer than two names carry a label."""
    known = [row for row in rows if row.true_label and not row.refused]
    if len(known) < 2:
        return None
    said = [NO_ANSWER if row.declined else row.label for row in known]
    names = [name for name in known[0].probabilities if name in {*said, *(row.true_label for row in known)}]
    matrix = pd.crosstab([row.true_label for row in known], said)
    columns = [*names, NO_ANSWER] if NO_ANSWER in said else names
    matrix = matrix.reindex(index=names, columns=columns, fill_value=0)
    matrix = matrix.rename(index=labels.title, columns={name: labels.title(name) for name in names})
    answered = [row for row in known if not row.declined]
    trusted = [row for row in answered if row.trusted]
    right, trusted_right = (sum(row.label == row.true_label for row in group) for group in (answered, trusted))
    matrix = matrix.rename_axis(index="by name", columns=None)
    return Comparison(matrix, len(known), len(answered), right, len(trusted), trusted_right)


def batch_csv(rows: Sequence[BatchRow]) -> str:
    """All that is known of the files as CSV in which no spreadsheet takes a name for a formula."""
    table = _without_formulas(pd.DataFrame([_flat(row) for row in rows]))
    table.columns = [defused(column) for column in table.columns]
    return table.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC)


def _without_formulas(table: pd.DataFrame) -> pd.DataFrame:
    return table.apply(lambda column: column.map(lambda one: defused(one) if isinstance(one, str) else one))


def batch_json(rows: Sequence[BatchRow]) -> str:
    """The same as JSON, without the small pictures."""
    kept = [{name: value for name, value in vars(row).items() if name != "thumbnail"} for row in rows]
    return json.dumps(kept, indent=2, ensure_ascii=False, allow_nan=False)


def _flat(row: BatchRow) -> dict[str, Any]:
    """One value per column: the probability of every class."""
    left_out = ("thumbnail", "probabilities", "notes", "refused")
    return (
        {name: value for name, value in vars(row).items() if name not in left_out}
        | {"label_set": _joined(row)}
        | {f"p_{name}": value for name, value in row.probabilities.items()}
        | {"notes": row.notes, "refused": row.refused}
    )


def _answer(row: BatchRow, labels: LabelSpace) -> str:
    """The label where it counts; what is most probable in brackets where a check failed or nothing was decided."""
    title = labels.title(row.label)
    return f"{row.headline.lower()} ({title})" if row.declined else title


def _scale(row: BatchRow) -> str:
    return "" if row.microns_per_pixel is None else f"{row.microns_per_pixel:.2g}, {row.scale_origin}"


def _joined(row: BatchRow, shown: Callable[[str], str] = str) -> str:
    return "" if row.label_set is None else ", ".join(map(shown, row.label_set))


def _else_possible(row: BatchRow, labels: LabelSpace) -> str:
    """The possible labels; one alone says less than the chance of being right, where that is known."""
    return "" if row.chance is not None and len(row.label_set or ()) < 2 else _joined(row, labels.title)
