"""The store of classes: roles, secrets, votes that last, and forgetting."""

import sqlite3
import stat
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from bag_generators import InputError
from elimipl.candidates.labels import TISSUE7, LabelSpace
from elimipl.classroom.store import classes
from elimipl.classroom.store.classes import ClassStore, Pace
from elimipl.classroom.store.database import VARIABLE, Database, usual_path
from elimipl.classroom.store.records import NewPicture
from tests.elimipl_app.classroom.a_class import HERE, TEACHER, flat_pictures, opened

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "state" / "classes.sqlite3"


def test_a_vote_is_there_after_a_restart_and_the_last_one_counts(path):
    store, session, _ = opened(path)
    store.join(session.code, "ann", HERE)
    store.vote(session.id, "ann", 1, [0, 2], 2)
    store.vote(session.id, "ann", 1, [2, 3], 3)
    store.close()
    again = ClassStore(path)
    (ballot,) = again.votes(session.id, TEACHER)
    assert (ballot.student, ballot.picture, ballot.named, ballot.top) == (1, 1, (2, 3), 3)
    assert again.own_votes(session.id, "ann") == {1: ballot}
    assert again.session_of(TEACHER) == session
    assert again.picture(session.id, 1).startswith(b"\x89PNG")


def test_code_and_link_lead_to_the_same_class_and_a_reload_to_the_same_student(path):
    store, session, _ = opened(path)
    typed = f" {classes.as_shown(session.code).lower()} "
    assert store.join(typed, "ann", HERE) == (session, 1)
    assert store.join(session.link_key, "bob", HERE) == (session, 2)
    assert store.join(session.link_key, "ann", HERE) == (session, 1)
    assert len(store.seats(session.id, TEACHER)) == 2


def test_nobody_sees_votes_before_the_teacher_opens_them(path):
    store, session, _ = opened(path)
    for student in ("ann", "bob"):
        store.join(session.link_key, student, HERE)
    store.vote(session.id, "ann", 1, [0], 0)
    assert store.own_votes(session.id, "bob") == {}
    with pytest.raises(InputError, match="has not opened the votes"):
        store.opened_votes(session.id, "bob")
    store.open_votes(session.id, TEACHER, True)
    assert len(store.opened_votes(session.id, "bob")) == 1
    with pytest.raises(InputError, match="Voting is over"):
        store.vote(session.id, "bob", 1, [1], 1)
    with pytest.raises(InputError, match="not joined"):
        store.opened_votes(session.id, "a stranger")
    store.open_votes(session.id, TEACHER, False)
    store.vote(session.id, "bob", 1, [1], 1)


def test_the_truth_is_shown_when_the_teacher_reveals_it_and_not_before(path):
    store, session, _ = opened(path)
    with pytest.raises(InputError, match="has not opened the votes"):
        store.reveal(session.id, TEACHER, True)
    store.open_votes(session.id, TEACHER, True)
    assert store.session_of(TEACHER).shown_truths() == [None] * 3
    assert store.stage(session.id) == (True, False, False)
    store.reveal(session.id, TEACHER, True)
    assert store.session_of(TEACHER).shown_truths() == [0, 1, 2]
    assert store.stage(session.id) == (True, True, False)
    store.open_votes(session.id, TEACHER, False)  # who goes on voting hides it again
    store.open_votes(session.id, TEACHER, True)
    assert store.session_of(TEACHER).shown_truths() == [None] * 3


TEACHER_ONLY = [
    lambda store, session, who: store.reveal(session, who, True),
    lambda store, session, who: store.open_votes(session, who, True),
    lambda store, session, who: store.let_join(session, who, False),
    lambda store, session, who: store.begin_training(session, who, "row", 1),
    lambda store, session, who: store.end_training(session, who),
    lambda store, session, who: store.keep_outcome(session, who, "{}"),
    lambda store, session, who: store.votes(session, who),
    lambda store, session, who: store.seats(session, who),
    lambda store, session, who: store.remove_seats(session, who),
    lambda store, session, who: store.renew_key(session, who),
    lambda store, session, who: store.delete(session, who),
]


@pytest.mark.parametrize("act", TEACHER_ONLY)
@pytest.mark.parametrize("forged", ["ann", "", "' OR 1=1 --", "the link", "the digest"])
def test_a_student_can_not_act_as_the_teacher(path, act, forged):
    store, session, _ = opened(path)
    store.join(session.link_key, "ann", HERE)
    kept = sqlite3.connect(path).execute("SELECT teacher FROM session").fetchone()[0]
    forged = {"the link": session.link_key, "the digest": kept.hex()}.get(forged, forged)
    with pytest.raises(InputError, match="did not open the class"):
        act(store, session.id, forged)
    assert store.session_of(forged) is None
    assert store.session_of(TEACHER) == session


def test_no_secret_stands_in_the_file(path):
    store, session, key = opened(path)
    store.join(session.link_key, "ann's browser", HERE)
    store.vote(session.id, "ann's browser", 1, [0], 0)
    store.close()
    content = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert session.code.encode() in content
    assert not any(secret.encode() in content for secret in (TEACHER, key, "ann's browser"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_the_key_moves_the_class_to_another_browser(path):
    store, session, key = opened(path)
    with pytest.raises(InputError, match="No class has this key"):
        store.come_back(session.link_key, "laptop", HERE)
    store.come_back(f" {key}\n", "laptop", HERE)
    assert store.session_of("laptop") == session
    assert store.session_of(TEACHER) is None
    newer = store.renew_key(session.id, "laptop")
    with pytest.raises(InputError, match="No class has this key"):
        store.come_back(key, "thief", HERE)
    store.come_back(newer, TEACHER, HERE)
    assert store.session_of(TEACHER) == session


@pytest.mark.parametrize(
    ("named", "top"),
    [([7], 7), ([-1], -1), ([0], 1), ([], 0), ([0, 99], 0), ([10**30], 10**30), (["<b>"], "<b>"), ([True], True),
     ([0.0], 0.0), ([None], None)],
)  # fmt: skip
def test_a_vote_for_no_label_of_the_class_is_refused(path, named, top):
    store, session, _ = opened(path)
    store.join(session.link_key, "ann", HERE)
    with pytest.raises(InputError, match="a label that the class does not have"):
        store.vote(session.id, "ann", 1, named, top)
    with pytest.raises(InputError, match="no such picture"):
        store.vote(session.id, "ann", 99, [0], 0)
    with pytest.raises(InputError, match="not joined"):
        store.vote(session.id, "bob", 1, [0], 0)
    assert store.votes(session.id, TEACHER) == ()


HOSTILE = [
    "",
    " ",
    "<script>alert(1)</script>",
    "\ud800",
    "\x00",
    "é" * 10_000,
    "'; DROP TABLE session; --",
    "\u202eABCD",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_codes_and_names_are_text(path, text):
    store, session, _ = opened(path)
    with pytest.raises(InputError, match=r"No class has this code|This link leads to no class"):
        store.join(text, "ann", HERE)
    store.open_session(text, TISSUE7, [NewPicture(b"png", text, "tissue")], HERE)
    own = store.session_of(text)
    assert own is not None
    assert own.pictures[0].name.isprintable()
    assert len(own.pictures[0].name) <= 80
    store.join(session.link_key, text, HERE)
    store.vote(session.id, text, 1, [0], 0)
    assert len(store.votes(session.id, TEACHER)) == 1


def test_codes_can_not_be_guessed(path, monkeypatch):
    store, session, _ = opened(path)
    day = classes.ALL_GUESSES * 24 * 60
    assert day * classes.MOST_SESSIONS / len(classes.LETTERS) ** classes.CODE_LENGTH < 1e-4
    for _ in range(classes.GUESSES):
        with pytest.raises(InputError, match="No class has this code"):
            store.join(classes.new_code(), "eve", "10.0.0.66")
    with pytest.raises(InputError, match="Too many wrong codes"):
        store.join(session.code, "eve", "10.0.0.66")
    with pytest.raises(InputError, match="Too many wrong codes"):
        store.come_back("a guess", "eve", "10.0.0.66")
    store.join(session.code, "ann", HERE)
    store.join(session.link_key, "bob", "10.0.0.66")


def test_guesses_from_everywhere_are_counted_together_and_the_link_still_works(path):
    store, session, _ = opened(path)
    for number in range(classes.ALL_GUESSES):
        with pytest.raises(InputError, match="No class has this code"):
            store.join("AAAAAAAA", "eve", f"10.0.{number // 250}.{number % 250}")
    with pytest.raises(InputError, match="Too many wrong codes"):
        store.join(session.code, "eve", "10.9.9.9")
    assert store.join(session.link_key, "ann", HERE)[1] == 1


def test_a_day_later_everything_is_gone_also_from_the_file(path):
    now = [1e9]
    store, session, _ = opened(path, clock=lambda: now[0])
    store.join(session.link_key, "ann", HERE)
    now[0] += classes.LIFETIME
    assert store.session_of(TEACHER) is None
    for late in (
        lambda: store.vote(session.id, "ann", 1, [0], 0),
        lambda: store.picture(session.id, 1),
        lambda: store.stage(session.id),
        lambda: store.votes(session.id, TEACHER),
    ):
        with pytest.raises(InputError, match="This class is over"):
            late()
    assert store.delete_expired() == 1
    assert store.delete_expired() == 0
    assert_forgotten(path, session)


def test_deleting_leaves_nothing_while_students_are_in_it(path):
    store, session, _ = opened(path)
    other = ClassStore(path)
    other.join(session.link_key, "ann", HERE)
    other.vote(session.id, "ann", 1, [0], 0)
    store.delete(session.id, TEACHER)
    with pytest.raises(InputError, match="This class is over"):
        other.vote(session.id, "ann", 2, [0], 0)
    for _ in range(2 * classes.GUESSES):  # phones that still have the link are no attack
        with pytest.raises(InputError, match="This link leads to no class"):
            other.join(session.link_key, "ann", HERE)
    with pytest.raises(InputError, match="No class has this code"):
        other.join(session.code, "ann", HERE)
    assert_forgotten(path, session)


def assert_forgotten(path, session):
    database = sqlite3.connect(path)
    for table in ("session", "picture", "student", "vote"):
        assert database.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
    database.close()
    # By another program: to close a file ends the locks that this one holds on it.
    content = subprocess.run(["cat", *path.parent.iterdir()], capture_output=True, check=True).stdout
    assert session.code.encode() not in content
    assert b"flat 1" not in content


def test_a_full_class_and_a_closed_door(path, monkeypatch):
    monkeypatch.setattr(classes, "MOST_STUDENTS", 2)
    store, session, _ = opened(path)
    for student in ("ann", "bob"):
        store.join(session.link_key, student, HERE)
    with pytest.raises(InputError, match="The class is full"):
        store.join(session.link_key, "cid", HERE)
    store.let_join(session.id, TEACHER, False)
    assert store.join(session.link_key, "bob", HERE)[1] == 2
    with pytest.raises(InputError, match="lets nobody else join"):
        store.join(session.link_key, "cid", HERE)


def test_a_stranger_neither_evicts_a_prepared_class_nor_blocks_opening(path):
    store, session, _ = opened(path)  # nobody has joined it yet
    assert classes.MOST_FROM_ONE_ADDRESS < classes.MOST_SESSIONS / 4
    for number in range(classes.MOST_FROM_ONE_ADDRESS):
        store.open_session(f"cookie {number}", TISSUE7, flat_pictures(1), "10.0.0.66")
    for number in range(classes.MOST_FROM_ONE_ADDRESS, 3 * classes.MOST_SESSIONS):
        with pytest.raises(InputError, match="8 classes were opened from your network"):
            store.open_session(f"cookie {number}", TISSUE7, flat_pictures(1), "10.0.0.66")
    assert store.session_of(TEACHER) == session
    store.open_session("a colleague", TISSUE7, flat_pictures(1), HERE)
    store.delete(store.session_of("cookie 0").id, "cookie 0")
    store.open_session("cookie 1000", TISSUE7, flat_pictures(1), "10.0.0.66")


def test_all_places_taken_is_said_and_evicts_nobody(path, monkeypatch):
    monkeypatch.setattr(classes, "MOST_SESSIONS", 2)
    store, session, _ = opened(path)
    store.open_session("second", TISSUE7, flat_pictures(1), "10.0.0.2")
    with pytest.raises(InputError, match="2 classes are open"):
        store.open_session("third", TISSUE7, flat_pictures(1), "10.0.0.3")
    assert store.session_of(TEACHER) == session
    assert store.session_of("second") is not None


def test_one_browser_opens_few_classes_wherever_it_is(path):
    store, _, _ = opened(path)
    for number in range(1, classes.MOST_OF_ONE_BROWSER):
        store.open_session(TEACHER, TISSUE7, flat_pictures(1), f"10.0.0.{number}")
    with pytest.raises(InputError, match="This browser has 3 classes open"):
        store.open_session(TEACHER, TISSUE7, flat_pictures(1), "10.0.0.99")


def test_a_flood_of_joins_takes_twenty_seats_a_second_and_a_room_comes_in(path, monkeypatch):
    now = [0.0]
    store, session, _ = opened(path)
    store._joins = Pace(classes.JOINS, classes.JOIN_SECONDS, clock=lambda: now[0])
    monkeypatch.setattr(classes, "JOIN_PATIENCE", 0.0)
    for number in range(20):
        store.join(session.link_key, f"cookie {number}", HERE)
    for number in range(20, 200):
        with pytest.raises(InputError, match="Too many are joining"):
            store.join(session.link_key, f"cookie {number}", HERE)
    assert store.join(session.link_key, "cookie 0", HERE)[1] == 1  # who has a seat does not wait
    now[0] += classes.JOIN_SECONDS
    assert store.join(session.link_key, "ann", HERE)[1] == 21


def test_who_joins_in_a_crowd_waits_a_moment_and_is_let_in(path):
    store, session, _ = opened(path)
    store._joins = Pace(1, 0.2)
    assert [store.join(session.link_key, who, HERE)[1] for who in ("ann", "bob", "cid")] == [1, 2, 3]


def test_the_teacher_removes_seats_with_their_votes_and_the_door_is_closed(path):
    store, session, _ = opened(path)
    for student in ("ann", "eve", "idle", "bob"):
        store.join(session.link_key, student, HERE)
    for student in ("ann", "eve", "bob"):
        store.vote(session.id, student, 1, [0], 0)
    assert store.seats(session.id, TEACHER) == {1: 1, 2: 1, 3: 0, 4: 1}
    assert store.remove_seats(session.id, TEACHER) == 1  # those without an answer
    assert store.remove_seats(session.id, TEACHER, [2, 99]) == 1
    assert store.seats(session.id, TEACHER) == {1: 1, 4: 1}
    assert {ballot.student for ballot in store.votes(session.id, TEACHER)} == {1, 4}
    with pytest.raises(InputError, match="lets nobody else join"):
        store.join(session.link_key, "eve", HERE)
    with pytest.raises(InputError, match="not joined"):
        store.vote(session.id, "eve", 2, [0], 0)
    store.let_join(session.id, TEACHER, True)
    assert store.join(session.link_key, "late", HERE)[1] == 5
    assert store.own_votes(session.id, "bob")[1].student == 4


@pytest.mark.parametrize(
    ("labels", "pictures"),
    [
        (TISSUE7, []),
        (TISSUE7, flat_pictures(29)),
        (LabelSpace.of("ab"), flat_pictures(2)),
        (LabelSpace.of(map(str, range(13))), flat_pictures(2)),
        (LabelSpace.of("abc"), flat_pictures(7)),
        (TISSUE7, [NewPicture(bytes(2_000_000), "large", "tissue")]),
    ],
)
def test_a_class_nobody_could_vote_in_is_not_opened(path, labels, pictures):
    store = ClassStore(path)
    with pytest.raises(InputError):
        store.open_session(TEACHER, labels, pictures, HERE)
    assert store.session_of(TEACHER) is None


def test_who_acts_too_often_waits_and_others_do_not():
    now = [0.0]
    pace = Pace(2, 10.0, lambda: now[0])
    assert [pace.allows("eve") for _ in range(3)] == [True, True, False]
    assert pace.allows("ann")
    now[0] = 10.0
    assert pace.allows("eve")
    for number in range(5000):
        pace.allows(str(number))
    assert len(pace._times) <= 4096


def test_the_file_lies_where_the_variable_says_or_with_the_state_of_other_programs(monkeypatch, tmp_path):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "x.db"))
    assert usual_path() == tmp_path / "x.db"
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert usual_path() == tmp_path / "elimipl" / "classes.sqlite3"


def test_a_new_file_is_opened_by_many_at_once(tmp_path):
    for turn in range(5):
        database, together = Database(tmp_path / str(turn) / "classes.sqlite3"), Barrier(8)

        def look_up(number: int, database: Database = database, together: Barrier = together) -> int:
            together.wait()
            with database.writing("It") if number % 2 else database.reading() as db:
                return int(db.execute("SELECT count(*) FROM session").fetchone()[0])

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(look_up, range(8))) == [0] * 8
        database.close()
