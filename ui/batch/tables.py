"""The rows of a batch as tables and files, and how they compare with the labels in the names."""

import csv
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from elimipl.csv_cells import defused
from elimipl.labels import LabelSpace
from ui.batch.rows import BatchRow

SHOWN = ("thumbnail", "file", "true_label", "answer", "probability", "label_set", "scale", "why")


@dataclass(frozen=True)
class Comparison:
    """Answers against the labels in the names."""

    matrix: pd.DataFrame
    """Rows are the labels in the names, columns the answers."""
    files: int
    right: int
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
    table = pd.DataFrame(shown, columns=list(SHOWN))
    return table.drop(
        columns=[column for column in ("true_label", "label_set", "scale", "why") if not table[column].any()]
    )


def compared(rows: Sequence[BatchRow], labels: LabelSpace) -> Comparison | None:
    """The confusion matrix; None where fewer than two names carry a label."""
    known = [row for row in rows if row.true_label and not row.refused]
    if len(known) < 2:
        return None
    names = [name for name in known[0].probabilities if any(name in (row.true_label, row.label) for row in known)]
    matrix = pd.crosstab([row.true_label for row in known], [row.label for row in known])
    matrix = (
        matrix.reindex(index=names, columns=names, fill_value=0)
        .rename(labels.title, axis=0)
        .rename(labels.title, axis=1)
    )
    matrix = matrix.rename_axis(index="by name", columns=None)
    trusted = [row for row in known if row.trusted]
    right, trusted_right = (sum(row.label == row.true_label for row in group) for group in (known, trusted))
    return Comparison(matrix, len(known), right, len(trusted), trusted_right)


def batch_csv(rows: Sequence[BatchRow]) -> str:
    """All that is known of the files as CSV in which no spreadsheet takes a name for a formula."""
    table = pd.DataFrame([_flat(row) for row in rows])
    for column in table.columns:
        table[column] = table[column].map(lambda value: defused(value) if isinstance(value, str) else value)
    table.columns = [defused(column) for column in table.columns]
    return table.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC)


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
