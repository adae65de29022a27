"""The few things that are looked up again and again, inside a transaction of the caller."""

import sqlite3

from ui.classroom.store.records import Ballot, labels_in


def read_votes(db: sqlite3.Connection, session: int, student: int | None = None) -> tuple[Ballot, ...]:
    """The votes of a session, or those of one student."""
    rows = db.execute(
        "SELECT student, picture, named, top FROM vote WHERE session = ?1 AND (?2 IS NULL OR student = ?2) "
        "ORDER BY picture, student",
        (session, student),
    )
    return tuple(Ballot(row["student"], row["picture"], labels_in(row["named"]), row["top"]) for row in rows)


def count_students(db: sqlite3.Connection, session: int) -> int:
    """How many have joined."""
    return int(db.execute("SELECT count(*) FROM student WHERE session = ?", (session,)).fetchone()[0])


def student_number(db: sqlite3.Connection, session: int, own: bytes) -> int | None:
    """Which student of a session has this digest; None for a stranger."""
    row = db.execute("SELECT number FROM student WHERE session = ? AND secret = ?", (session, own)).fetchone()
    return None if row is None else int(row["number"])


def read_png(db: sqlite3.Connection, session: int, number: int) -> bytes | None:
    """A picture; None where there is no such one."""
    row = db.execute("SELECT png FROM picture WHERE session = ? AND number = ?", (session, number)).fetchone()
    return None if row is None else bytes(row["png"])
