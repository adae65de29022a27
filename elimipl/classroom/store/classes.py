"""All sessions of a server: what a teacher may do, what a student may do, and when everything is forgotten.

People are known by secrets of their browsers, of which only digests are kept. A secret gives the rights of its role in
its own session and no others; every method checks that itself, so no page can forget to.
"""

import hashlib
import hmac
import json
import secrets
import sqlite3
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from pathlib import Path

from bag_generators import InputError
from bag_generators.base.errors import shown_name
from elimipl.candidates.labels import LabelSpace
from elimipl.classroom.store.database import Database
from elimipl.classroom.store.records import (
    Ballot,
    ClassSession,
    NewPicture,
    as_session,
    count_answers,
    read_png,
    read_votes,
    student_number,
)

LETTERS = "23456789ABCDEFGHJKMNPQRSTVWXYZ"  # no 0 and O, no 1, I and L, no U: read aloud and from far away
CODE_LENGTH = 8  # 30^8 = 6.6e11 codes, of which at most MOST_SESSIONS are in use
_LONGEST_TYPED = 200
MOST_KNOWN = 4096  # people remembered at once; the longest unseen are forgotten
_STEP_SECONDS = 0.05


def new_code() -> str:
    """A code for students to type."""
    return "".join(secrets.choice(LETTERS) for _ in range(CODE_LENGTH))


def new_key() -> str:
    """128 random bits for a link, or to come back as the teacher."""
    return secrets.token_urlsafe(16)


def as_shown(code: str) -> str:
    """A code in two halves, which are easier to read.

    >>> as_shown("ABCD2345")
    'ABCD-2345'
    """
    return f"{code[: CODE_LENGTH // 2]}-{code[CODE_LENGTH // 2 :]}"


def as_typed(text: str) -> str:
    """What somebody typed as a code, without blanks and hyphens; empty where it can't be one.

    >>> as_typed(" abcd-2345 "), as_typed("<script>")
    ('ABCD2345', '')
    """
    plain = "".join(text[:_LONGEST_TYPED].upper().split()).replace("-", "")
    return plain if len(plain) == CODE_LENGTH and set(plain) <= set(LETTERS) else ""


def digest(role: str, secret: str) -> bytes:
    """What is kept of a secret; the same secret in another role has another digest."""
    return hashlib.sha256(f"{role}\0{secret}".encode("utf-8", "surrogatepass")).digest()


def is_same(one: bytes, other: bytes) -> bool:
    """Whether two digests are equal, in a time that does not tell how much of them is."""
    return hmac.compare_digest(one, other)


class Pace:
    """Lets everybody do something `most` times within `seconds`; in memory, so that a flood never reaches the disk."""

    def __init__(self, most: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._seconds, self._clock = most, seconds, clock
        self._times: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = threading.Lock()

    def is_exceeded(self, who: str) -> bool:
        """Whether this person has done it as often as allowed."""
        with self._lock:
            return len(self._recent(who)) >= self._most

    def note(self, who: str) -> None:
        """It was done once more."""
        with self._lock:
            self._recent(who).append(self._clock())

    def allows(self, who: str) -> bool:
        """Whether it may be done now; if so, it is noted."""
        with self._lock:
            times = self._recent(who)
            if len(times) >= self._most:
                return False
            times.append(self._clock())
            return True

    def waits(self, who: str, most_seconds: float) -> bool:
        """The same, after waiting for a free place where that helps; not for longer than so many seconds."""
        until = time.monotonic() + most_seconds
        while not self.allows(who):
            if time.monotonic() >= until:
                return False
            time.sleep(_STEP_SECONDS)
        return True

    def _recent(self, who: str) -> "deque[float]":
        times = self._times.setdefault(who, deque())
        self._times.move_to_end(who)
        while times and times[0] <= self._clock() - self._seconds:
            times.popleft()
        while len(self._times) > MOST_KNOWN:
            self._times.popitem(last=False)
        return times


LIFETIME = 24 * 3600.0  # seconds
MOST_SESSIONS = 40
MOST_OF_ONE_BROWSER = 3  # classes
MOST_FROM_ONE_ADDRESS = 8  # classes; a school may have one address, and nobody there shall take all places
MOST_STUDENTS = 200
MOST_PICTURES = 28
MOST_LABELS = 12
MOST_PICTURE_BYTES = 1_000_000
VOTES, VOTE_SECONDS = 20, 10.0  # of one student
JOINS, JOIN_SECONDS, JOIN_PATIENCE = 20, 1.0, 5.0  # new seats of one class, and how long somebody waits for one
GUESSES, GUESS_SECONDS = 20, 60.0  # wrong codes and keys from one address
_LONGEST_CODE = 16  # characters, blanks and hyphens included
ALL_GUESSES = 300  # from all addresses together, which can be many

_NO_CODE = ("No class has this code.", "Check it on the teacher's screen, or scan the square there.")
_NO_LINK = (
    "This link leads to no class: it is over, or a part of the link is missing.",
    "Ask the teacher for the code.",
)
_OVER = ("This class is over: its session was deleted.", "Ask the teacher for a new code.")
_NO_TEACHER = ("This browser did not open the class.", "Go on in the teacher's browser, or enter the key to come back.")
_NO_STUDENT = ("You have not joined this class.", "Join it with the teacher's link or code.")
_NOT_OPENED = ("The teacher has not opened the votes yet.", "Wait until everybody has answered.")
_CLOSED = ("Voting is over: the teacher has opened the votes.", "Look at what the class said.")
_TOO_FAST = ("You vote faster than anybody can look.", "Wait some seconds and send your answer again.")
_CROWDED = ("Too many are joining this class at the same moment.", "Wait some seconds and open the link again.")
_TOO_MANY_GUESSES = (
    "Too many wrong codes came from your network.",
    "Wait a minute, or scan the square on the teacher's screen.",
)


def _since_start() -> float:
    """Seconds by a clock that nobody can set; on Linux those that the machine slept are counted."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


_STARTED = time.time() - _since_start()


def steady_time() -> float:
    """The time of day by the clock as it was when the program started: who sets the clock deletes no class."""
    return _STARTED + _since_start()


class ClassStore:
    """The sessions in one database file. Safe in any thread, and beside other servers with the same file."""

    def __init__(self, path: Path, clock: Callable[[], float] = steady_time) -> None:
        self._database, self._clock = Database(path), clock
        self._votes = Pace(VOTES, VOTE_SECONDS)
        self._joins = Pace(JOINS, JOIN_SECONDS)
        self._opened_from: dict[int, str] = {}  # addresses stand in no file
        self._guesses = Pace(GUESSES, GUESS_SECONDS)
        self._all_guesses = Pace(ALL_GUESSES, GUESS_SECONDS)

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    # The teacher

    def open_session(
        self, teacher: str, labels: LabelSpace, pictures: Sequence[NewPicture], address: str
    ) -> tuple[int, str]:
        """Begin a class; its id, and the key to come back from another browser, which is kept nowhere."""
        _check_content(labels, pictures)
        now, key = self._clock(), new_key()
        with self._database.writing("The session") as db:
            db.execute("DELETE FROM session WHERE expires <= ?", (now,))
            self._check_room(db, teacher, address)
            cursor = db.execute(
                "INSERT INTO session (code, link_key, teacher, return_key, created, expires, label_space) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    new_code(), new_key(), digest("teacher", teacher), digest("key", key), now, now + LIFETIME,
                    json.dumps(labels.to_dict()),
                ),
            )  # fmt: skip
            session = int(cursor.lastrowid or 0)
            db.executemany(
                "INSERT INTO picture (session, number, name, kind, truth, microns, png) VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    (session, number, shown_name(one.name), one.kind, one.truth, one.microns, one.png)
                    for number, one in enumerate(pictures, start=1)
                ],
            )
            self._opened_from[session] = address
        return session, key

    def session_of(self, teacher: str) -> ClassSession | None:
        """The newest class that this browser opened."""
        own = digest("teacher", teacher)
        with self._database.reading() as db:
            for row in self._alive(db):
                if is_same(row["teacher"], own):
                    return as_session(db, row)
        return None

    def come_back(self, key: str, teacher: str, address: str) -> None:
        """Let the browser of `teacher` go on with the class whose key this is; the browser before loses it."""
        self._check_guesses(address)
        entered = digest("key", key.strip()[:200])
        with self._database.writing("The change of browser") as db:
            for row in self._alive(db):
                if is_same(row["return_key"], entered):
                    db.execute("UPDATE session SET teacher = ? WHERE id = ?", (digest("teacher", teacher), row["id"]))
                    return
        self._note_guess(address)
        raise InputError("No class has this key.", "Copy the whole key from the file you saved.")

    def renew_key(self, session: int, teacher: str) -> str:
        """Another key to come back with; the one before is worth nothing any more."""
        key = new_key()
        self._set(session, teacher, return_key=digest("key", key))
        return key

    def open_votes(self, session: int, teacher: str, opened: bool) -> None:
        """End voting and let everybody see all votes, or go on voting; the true labels stay hidden either way."""
        self._set(session, teacher, opened=int(opened), revealed=0)

    def reveal(self, session: int, teacher: str, revealed: bool) -> None:
        """Let everybody see the true labels beside the opened votes, or hide them."""
        with self._database.writing("The change") as db:
            self._as_teacher(db, session, teacher)
            if revealed and not self._row(db, session)["opened"]:
                raise InputError(*_NOT_OPENED)
            db.execute("UPDATE session SET revealed = ? WHERE id = ?", (int(revealed), session))

    def let_join(self, session: int, teacher: str, joining: bool) -> None:
        """Whether further students may join."""
        self._set(session, teacher, joining=int(joining))

    def begin_training(self, session: int, teacher: str, generator: str, tries: int) -> None:
        """Note that a training has begun, so that the next server knows of it if this one does not see its end."""
        self._set(session, teacher, training=generator, tries=tries)

    def end_training(self, session: int, teacher: str) -> None:
        """It was stopped or failed: nobody is to begin it again."""
        self._set(session, teacher, training=None)

    def keep_outcome(self, session: int, teacher: str, outcome: str) -> None:
        """What training came to, as JSON; with it the training has ended."""
        self._set(session, teacher, outcome=outcome, training=None)

    def delete(self, session: int, teacher: str) -> None:
        """Forget a class: pictures, students, votes, results."""
        with self._database.writing("The deletion") as db:
            self._as_teacher(db, session, teacher)
            db.execute("DELETE FROM session WHERE id = ?", (session,))
        self._database.empty_log()

    def votes(self, session: int, teacher: str) -> tuple[Ballot, ...]:
        """All votes, for the teacher at any time."""
        with self._database.reading() as db:
            self._as_teacher(db, session, teacher)
            return read_votes(db, session)

    def seats(self, session: int, teacher: str) -> dict[int, int]:
        """How many pictures each student of the class has answered, by the student's number."""
        with self._database.reading() as db:
            self._as_teacher(db, session, teacher)
            return count_answers(db, session)

    def remove_seats(self, session: int, teacher: str, numbers: Sequence[int] | None = None) -> int:
        """Take students out of the class with their votes, without numbers all who have no vote; how many those were.

        The door is closed, too: otherwise they would be back with the next look at their phones.
        """
        with self._database.writing("The change") as db:
            self._as_teacher(db, session, teacher)
            answers = count_answers(db, session)
            gone = [one for one, count in answers.items() if (count == 0 if numbers is None else one in numbers)]
            for table, column in (("vote", "student"), ("student", "number")):
                db.executemany(
                    f"DELETE FROM {table} WHERE session = ? AND {column} = ?", [(session, number) for number in gone]
                )
            db.execute("UPDATE session SET joining = 0 WHERE id = ?", (session,))
        return len(gone)

    # The students

    def join(self, entered: str, student: str, address: str) -> tuple[ClassSession, int]:
        """The class with this code or link key, and which of its students this is; a new one unless known already."""
        row = self._found(entered, address)
        own = digest("student", student)
        with self._database.reading() as db:
            known = student_number(db, row["id"], own)
            if known is not None:
                return as_session(db, row), known
        if row["joining"] and not self._joins.waits(str(row["id"]), JOIN_PATIENCE):
            raise InputError(*_CROWDED)
        with self._database.writing("Your place in the class") as db:
            row = self._row(db, row["id"])
            number = student_number(db, row["id"], own)
            if number is None:
                number = self._seated(db, row, own)
            return as_session(db, row), number

    def vote(self, session: int, student: str, picture: int, named: Sequence[int], top: int) -> None:
        """Keep what a student says of a picture, in the place of what was said before."""
        own = digest("student", student)
        if not self._votes.allows(own.hex()):
            raise InputError(*_TOO_FAST)
        with self._database.writing("Your vote") as db:
            row = self._row(db, session)
            number = student_number(db, session, own)
            if number is None:
                raise InputError(*_NO_STUDENT)
            if row["opened"]:
                raise InputError(*_CLOSED)
            if read_png(db, session, picture) is None:
                raise InputError("The class has no such picture.", "Go on with one of those that are shown.")
            mask = _checked_mask(named, top, len(json.loads(row["label_space"])["names"]))
            db.execute(
                "INSERT INTO vote (session, student, picture, named, top) VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET named = excluded.named, top = excluded.top",
                (session, number, picture, mask, top),
            )

    def own_votes(self, session: int, student: str) -> dict[int, Ballot]:
        """What this student said so far, by the number of the picture."""
        with self._database.reading() as db:
            self._row(db, session)
            number = student_number(db, session, digest("student", student))
            if number is None:
                raise InputError(*_NO_STUDENT)
            return {ballot.picture: ballot for ballot in read_votes(db, session, number)}

    def opened_votes(self, session: int, student: str) -> tuple[Ballot, ...]:
        """All votes, for a student of the class once the teacher has opened them."""
        with self._database.reading() as db:
            row = self._row(db, session)
            if student_number(db, session, digest("student", student)) is None:
                raise InputError(*_NO_STUDENT)
            if not row["opened"]:
                raise InputError(*_NOT_OPENED)
            return read_votes(db, session)

    # Both

    def picture(self, session: int, number: int) -> bytes:
        """The PNG of a picture."""
        with self._database.reading() as db:
            self._row(db, session)
            png = read_png(db, session, number)
        if png is None:
            raise InputError("The class has no such picture.", "Go on with one of those that are shown.")
        return png

    def stage(self, session: int) -> tuple[bool, bool, bool]:
        """Whether voting is over, the truth revealed, and models trained; refused where the session is gone."""
        with self._database.reading() as db:
            row = self._row(db, session)
            return bool(row["opened"]), bool(row["revealed"]), row["outcome"] is not None

    def delete_expired(self) -> int:
        """Forget the classes whose day is over; how many those were.

        A class of a later day than today was opened when the clock was wrong; its day begins now.
        """
        now = self._clock()
        with self._database.writing("The deletion") as db:
            db.execute(
                "UPDATE session SET created = ?1, expires = ?1 + ?2 WHERE expires > ?1 + 2 * ?2", (now, LIFETIME)
            )
            cursor = db.execute("DELETE FROM session WHERE expires <= ?", (now,))
        if cursor.rowcount:
            self._database.empty_log()
        return cursor.rowcount

    def _alive(self, db: sqlite3.Connection) -> list[sqlite3.Row]:
        return db.execute("SELECT * FROM session WHERE expires > ? ORDER BY id DESC", (self._clock(),)).fetchall()

    def _row(self, db: sqlite3.Connection, session: int) -> sqlite3.Row:
        row: sqlite3.Row | None = db.execute(
            "SELECT * FROM session WHERE id = ? AND expires > ?", (session, self._clock())
        ).fetchone()
        if row is None:
            raise InputError(*_OVER)
        return row

    def _as_teacher(self, db: sqlite3.Connection, session: int, teacher: str) -> None:
        if not is_same(self._row(db, session)["teacher"], digest("teacher", teacher)):
            raise InputError(*_NO_TEACHER)

    def _set(self, session: int, teacher: str, **columns: int | str | bytes | None) -> None:
        with self._database.writing("The change") as db:
            self._as_teacher(db, session, teacher)
            changes = ", ".join(f"{column} = ?" for column in columns)
            db.execute(f"UPDATE session SET {changes} WHERE id = ?", (*columns.values(), session))

    def _found(self, entered: str, address: str) -> sqlite3.Row:
        """By link key, which nobody can guess, at any time; by code unless too many wrong ones came from there.

        What can't be a code is not counted as a guess: forty phones with the link of an old class are no attack.
        """
        with self._database.reading() as db:
            alive = self._alive(db)
        for row in alive:
            if is_same(row["link_key"].encode(), entered[:200].encode("utf-8", "replace")):
                return row
        if not (code := as_typed(entered)):
            raise InputError(*(_NO_LINK if len(entered) > _LONGEST_CODE else _NO_CODE))
        self._check_guesses(address)
        for row in alive:
            if is_same(row["code"].encode(), code.encode()):
                return row
        self._note_guess(address)
        raise InputError(*_NO_CODE)

    def _check_guesses(self, address: str) -> None:
        if self._guesses.is_exceeded(address) or self._all_guesses.is_exceeded(""):
            raise InputError(*_TOO_MANY_GUESSES)

    def _note_guess(self, address: str) -> None:
        self._guesses.note(address)
        self._all_guesses.note("")

    def _seated(self, db: sqlite3.Connection, row: sqlite3.Row, own: bytes) -> int:
        if not row["joining"]:
            raise InputError("The teacher lets nobody else join.", "Ask the teacher to open the class again.")
        seats = count_answers(db, row["id"])
        if len(seats) >= MOST_STUDENTS:
            raise InputError(f"The class is full: {MOST_STUDENTS} have joined.", "Share a screen with somebody.")
        number = max(seats, default=0) + 1
        db.execute("INSERT INTO student (session, number, secret) VALUES (?, ?, ?)", (row["id"], number, own))
        return number

    def _check_room(self, db: sqlite3.Connection, teacher: str, address: str) -> None:
        """Refuse a class too many; the classes that are there stay, whether somebody has joined them or not."""
        own, alive = digest("teacher", teacher), self._alive(db)
        self._opened_from = {row["id"]: self._opened_from[row["id"]] for row in alive if row["id"] in self._opened_from}
        if sum(is_same(row["teacher"], own) for row in alive) >= MOST_OF_ONE_BROWSER:
            raise InputError(
                f"This browser has {MOST_OF_ONE_BROWSER} classes open.", "Delete one of them before you open another."
            )
        if list(self._opened_from.values()).count(address) >= MOST_FROM_ONE_ADDRESS:
            raise InputError(
                f"{MOST_FROM_ONE_ADDRESS} classes were opened from your network.",
                "Wait until one is deleted; a day at most.",
            )
        if len(alive) >= MOST_SESSIONS:
            raise InputError(
                f"{len(alive)} classes are open on this server.", "Wait until one is deleted; a day at most."
            )


def _checked_mask(named: Sequence[int], top: int, labels: int) -> int:
    """The labels as bits; a set bit for each label that is named, the top one among them."""
    numbers = [*named, top]
    if any(type(number) is not int or not 0 <= number < labels for number in numbers) or top not in named:
        raise InputError("The vote names a label that the class does not have.", "Choose among the labels shown.")
    return sum(1 << number for number in set(numbers))


def _check_content(labels: LabelSpace, pictures: Sequence[NewPicture]) -> None:
    """Refuse a session that nobody could vote in."""
    if not 3 <= len(labels) <= MOST_LABELS:
        raise InputError(
            f"A class can't vote on {len(labels)} labels.", f"Give 3 to {MOST_LABELS}, so that some can be ruled out."
        )
    if not 1 <= len(pictures) <= MOST_PICTURES:
        raise InputError(
            f"A class can't label {len(pictures)} pictures.", f"Choose 1 to {MOST_PICTURES}; ten take ten minutes."
        )
    for one in pictures:
        if len(one.png) > MOST_PICTURE_BYTES:
            raise InputError("A picture is too large for a phone.", "Choose a smaller field of it.")
        if one.truth is not None and not 0 <= one.truth < len(labels):
            raise InputError("The true label of a picture is none of the class's labels.", "Choose other labels.")
