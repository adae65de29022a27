"""The class's answers to take along: a table, everything as JSON, and bags to train on elsewhere."""

import csv
import io
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bag_generators import InputError
from bag_generators.base.validation import plain
from elimipl.classroom.learning import class_bags, make_task
from elimipl.classroom.outcome import read_outcome
from elimipl.classroom.store.classes import ClassStore
from elimipl.classroom.store.records import Ballot, ClassSession
from elimipl.classroom.tally import Tally
from elimipl.csv_cells import defused
from elimipl_app.classroom import texts

COLUMNS = ("student", "picture", "name", "truth", "most_likely", "possible")


def votes_csv(session: ClassSession, ballots: Sequence[Ballot]) -> str:
    """One row for every answer; no spreadsheet takes a name for a formula."""
    buffer = io.StringIO()
    table = csv.writer(buffer, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    table.writerow(COLUMNS)
    for ballot in ballots:
        picture, names = session.pictures[ballot.picture - 1], session.label_space.names
        truth = "" if picture.truth is None else names[picture.truth]
        words = (picture.name, truth, names[ballot.top], " | ".join(names[number] for number in ballot.named))
        table.writerow((ballot.student, ballot.picture, *map(defused, words)))
    return buffer.getvalue()


def class_json(session: ClassSession, ballots: Sequence[Ballot], counted: Tally) -> str:
    """Everything that is known of the class, without its pictures and without anything that would open it."""
    names = session.label_space.names
    pictures = [
        {
            "number": picture.number,
            "name": picture.name,
            "kind": picture.kind,
            "truth": None if picture.truth is None else names[picture.truth],
            "answers": int(counted.answers[at]),
            "possible": _by_name(names, counted.named[at].tolist()),
            "most_likely": _by_name(names, counted.first[at].tolist()),
            "candidates": [name for name, member in zip(names, counted.candidates[at], strict=True) if member],
        }
        for at, picture in enumerate(session.pictures)
    ]
    facts: dict[str, Any] = {
        "format": "elimipl class 1",
        "opened": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(session.created)),
        "label_space": session.label_space.to_dict(),
        "rule": texts.RULE,
        "krippendorff_alpha_of_the_most_likely": counted.alpha,
        "pictures": pictures,
        "answers": [
            {
                "student": ballot.student,
                "picture": ballot.picture,
                "most_likely": names[ballot.top],
                "possible": [names[number] for number in ballot.named],
            }
            for ballot in ballots
        ],
        "training": None if session.outcome is None else plain(read_outcome(session.outcome)),
    }
    return json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False)


def class_bag_file(store: ClassStore, session: ClassSession, counted: Tally, generator: str) -> bytes:
    """The bags of all answered pictures and of their copies with the class's candidate sets, as one bag file."""
    task = make_task(
        session.label_space,
        generator,
        session.pictures,
        lambda number: store.picture(session.id, number),
        counted,
        every_answered=True,
    )
    dataset = class_bags(task)
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "class.safetensors"
            dataset.save(path)
            return path.read_bytes()
    except OSError as error:
        raise InputError(f"The server has no room to write the bags ({error.strerror}).", "Try again later.") from None


def _by_name(names: Sequence[str], counts: Sequence[int]) -> dict[str, int]:
    return {name: count for name, count in zip(names, counts, strict=True) if count}
