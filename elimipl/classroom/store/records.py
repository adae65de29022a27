"""What the database holds, as objects that never change."""

import sqlite3
from dataclasses import dataclass
from typing import Literal

from bag_generators.base.validation import parse_json
from elimipl.candidates.labels import LabelSpace

Kind = Literal["drawn", "composed", "tissue"]
"""Drawn phantoms, fields composed of them, or pictures of tissue; the same kind is used to measure on."""


@dataclass(frozen=True)
class NewPicture:
    """A picture for a session: PNG bytes, what the teacher calls it, and its true label where it is known."""

    png: bytes
    name: str
    kind: Kind
    truth: int | None = None
    microns: float | None = None


@dataclass(frozen=True)
class PictureFacts:
    """What is known of a picture of a session, without its pixels."""

    number: int
    name: str
    kind: Kind
    truth: int | None
    microns: float | None


@dataclass(frozen=True)
class BegunTraining:
    """A training that has begun and not ended: the generator of its bags, and how often it was begun."""

    generator: str
    tries: int


@dataclass(frozen=True)
class ClassSession:
    """One class and its pictures. `opened`: voting is over and everybody may see all votes; `revealed`: the truth."""

    id: int
    code: str
    link_key: str
    created: float
    expires: float
    label_space: LabelSpace
    opened: bool
    revealed: bool
    joining: bool
    outcome: str | None
    """What training came to, as JSON."""
    training: BegunTraining | None
    pictures: tuple[PictureFacts, ...]

    def truths(self) -> list[int | None]:
        """The true labels of the pictures in their order; None where nobody knows."""
        return [picture.truth for picture in self.pictures]

    def shown_truths(self) -> list[int | None]:
        """The same as everybody may see it: None where the teacher has not revealed them yet, too."""
        return self.truths() if self.revealed else [None] * len(self.pictures)


@dataclass(frozen=True)
class Ballot:
    """What one student said of one picture: the labels found possible, and the one found most likely."""

    student: int
    picture: int
    named: tuple[int, ...]
    top: int


def as_session(connection: sqlite3.Connection, row: sqlite3.Row) -> ClassSession:
    """The session of a row with the facts of its pictures."""
    pictures = connection.execute(
        "SELECT number, name, kind, truth, microns FROM picture WHERE session = ? ORDER BY number", (row["id"],)
    )
    return ClassSession(
        row["id"],
        row["code"],
        row["link_key"],
        row["created"],
        row["expires"],
        LabelSpace.from_dict(parse_json(row["label_space"], "The label space of the class")),
        bool(row["opened"]),
        bool(row["revealed"]),
        bool(row["joining"]),
        row["outcome"],
        None if row["training"] is None else BegunTraining(row["training"], row["tries"]),
        tuple(PictureFacts(*picture) for picture in pictures),
    )


def labels_in(mask: int) -> tuple[int, ...]:
    """The numbers of the bits that are set.

    >>> labels_in(0b101)
    (0, 2)
    """
    return tuple(number for number in range(mask.bit_length()) if mask >> number & 1)


def read_votes(db: sqlite3.Connection, session: int, student: int | None = None) -> tuple[Ballot, ...]:
    """The votes of a session, or those of one student."""
    rows = db.execute(
        "SELECT student, picture, named, top FROM vote WHERE session = ?1 AND (?2 IS NULL OR student = ?2) "
        "ORDER BY picture, student",
        (session, student),
    )
    return tuple(Ballot(row["student"], row["picture"], labels_in(row["named"]), row["top"]) for row in rows)


def count_answers(db: sqlite3.Connection, session: int) -> dict[int, int]:
    """How many pictures each student has answered, by the student's number."""
    rows = db.execute(
        "SELECT number, (SELECT count(*) FROM vote WHERE session = ?1 AND student = number) FROM student "
        "WHERE session = ?1 ORDER BY number",
        (session,),
    )
    return dict(rows.fetchall())


def student_number(db: sqlite3.Connection, session: int, own: bytes) -> int | None:
    """Which student of a session has this digest; None for a stranger."""
    row = db.execute("SELECT number FROM student WHERE session = ? AND secret = ?", (session, own)).fetchone()
    return None if row is None else int(row["number"])


def read_png(db: sqlite3.Connection, session: int, number: int) -> bytes | None:
    """A picture; None where there is no such one."""
    row = db.execute("SELECT png FROM picture WHERE session = ? AND number = ?", (session, number)).fetchone()
    return None if row is None else bytes(row["png"])
