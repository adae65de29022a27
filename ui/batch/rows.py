"""Many pictures at once: one answer or one reason for each, never a stop."""

import csv
import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from bag_generators import InputError, generate, load
from bag_generators.errors import printable
from bag_generators.tissue.quality import measure
from elimipl.data.pictures import PHANTOMS
from elimipl.predictor import Predictor
from elimipl.scope import DRAWINGS_ONLY, judge
from ui.frame.log import model_name, picture_name, timed
from ui.frame.texts import NOT_CHECKED

SHOWN_NAME = 80
# What a spreadsheet may pass over at the beginning of a cell: blanks, and characters that nobody sees.
UNSEEN = (
    r"[\s\x00-\x1f\x7f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffd\U0001d173-\U0001d17a\U000e0000-\U000e0fff]*"
)
# Where a cell begins: at the beginning, and for a spreadsheet that parts cells by semicolons after each of those.
FORMULA_START = re.compile(rf"(^|;)({UNSEEN})(?=[=+\-@＝＋－＠])")


@dataclass(frozen=True)
class BatchRow:
    """What became of one file."""

    file: str
    label: str = ""
    probability: float | None = None
    in_scope: bool | None = None
    """None for a file that was refused, and where the model came without limits to check by."""
    notes: str = ""
    refused: str = ""


def classify_files(
    files: Sequence[tuple[str, bytes]], predictor: Predictor, progress: Callable[[int], object]
) -> list[BatchRow]:
    """One row per (name, bytes), in order; a file that can't be used becomes a row with the reason."""
    rows = []
    for number, (name, data) in enumerate(files, start=1):
        rows.append(_classify(shown_name(name), data, predictor))
        progress(number)
    return rows


def _classify(name: str, data: bytes, predictor: Predictor) -> BatchRow:
    card = predictor.card
    sha256 = hashlib.sha256(data).hexdigest()
    facts = picture_name(sha256) | model_name(card)
    try:
        with timed("predict", **facts, bytes=len(data)):
            image = load(data, sha256)
            bag = generate(card.generator, image, **card.generator_params)
            prediction = predictor.predict(bag)
        verdict = judge(measure(image).numbers(), predictor, bag, prediction)
    except InputError as error:
        return BatchRow(name, refused=str(error))
    reasons = [item.reason for item in verdict.failed]
    if verdict.in_scope is None:
        reasons = [NOT_CHECKED]
    elif verdict.in_scope and verdict.trained_on == PHANTOMS:
        reasons = [DRAWINGS_ONLY]
    return BatchRow(
        name, prediction.label, prediction.probability, verdict.in_scope, " ".join([*image.notes, *reasons])
    )


def batch_table(rows: Sequence[BatchRow]) -> pd.DataFrame:
    """The rows as a table."""
    return pd.DataFrame([vars(row) for row in rows], columns=list(BatchRow.__dataclass_fields__))


def batch_csv(rows: Sequence[BatchRow]) -> str:
    """The rows as CSV in which no spreadsheet takes a name for a formula."""
    table = batch_table(rows)
    for column in ("file", "label", "notes", "refused"):
        table[column] = table[column].map(_defused)
    return table.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC)


def _defused(text: str) -> str:
    return FORMULA_START.sub(r"\1\2'", text)


def batch_json(rows: Sequence[BatchRow]) -> str:
    """The rows as JSON."""
    return batch_table(rows).to_json(orient="records", indent=2, force_ascii=False)


def shown_name(name: str) -> str:
    """A file name fit to be shown: no control or direction marks, not longer than a line."""
    plain = printable(name)
    return plain if len(plain) <= SHOWN_NAME else f"{plain[:50]}…{plain[-29:]}"
