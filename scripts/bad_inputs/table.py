"""Every bad input with what must come of it: one row each, for the tests, and as files to try by hand.

    python -m scripts.bad_inputs.table FOLDER

Some 190 files, 180 MB in all; two of them are one byte larger than an upload may be. Beside them `expected.tsv` says
what must come of each. Names that strangers think of are in `scripts/bad_inputs/names.py`; not all fit on a disk.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from scripts.bad_inputs import conversions, metadata, refused, scenes


class Outcome(Enum):
    """What becomes of an input."""

    REFUSED = "refused by the loader"
    UNFIT = "opens, but no generator takes it"
    NOTED = "opens with a note"
    DOUBTED = "opens; the result is marked unreliable"
    TAKEN = "opens without a word"


@dataclass(frozen=True)
class BadInput:
    """One file: its name, how it is made, what becomes of it and what the person reads (a part of the sentence)."""

    name: str
    make: Callable[[], bytes]
    outcome: Outcome
    says: str = ""


def _rows(outcome: Outcome, group: dict[str, tuple[Callable[[], bytes], str]]) -> list[BadInput]:
    return [BadInput(name, make, outcome, says) for name, (make, says) in group.items()]


INPUTS: tuple[BadInput, ...] = (
    *_rows(Outcome.REFUSED, refused.FOREIGN),
    *_rows(Outcome.REFUSED, refused.DAMAGED),
    *_rows(Outcome.REFUSED, refused.HOSTILE),
    *_rows(Outcome.REFUSED, conversions.REFUSED),
    *_rows(Outcome.REFUSED, metadata.REFUSED),
    *_rows(Outcome.UNFIT, conversions.UNFIT),
    *_rows(Outcome.NOTED, conversions.NOTED),
    *_rows(Outcome.NOTED, metadata.NOTED),
    *_rows(Outcome.TAKEN, conversions.TAKEN),
    *_rows(Outcome.TAKEN, metadata.TAKEN),
    *_rows(Outcome.DOUBTED, scenes.FILES),
)


def write_all(folder: Path, rows: tuple[BadInput, ...] = INPUTS) -> None:
    """Write the inputs into `folder`, each under its own name, and what must come of each."""
    folder.mkdir(parents=True, exist_ok=True)
    for row in rows:
        (folder / row.name).write_bytes(row.make())
    lines = [f"{row.name}\t{row.outcome.value}\t{row.says}" for row in rows]
    (folder / "expected.tsv").write_text("\n".join(["file\toutcome\tsays", *lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    write_all(Path(sys.argv[1]))
