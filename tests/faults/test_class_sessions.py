"""A class under fire: forty students at once, two servers, kill -9, a full disk, floods, damaged files."""

import sqlite3
import subprocess
import threading
import time
from pathlib import Path

import pytest

from bag_generators import InputError
from elimipl.candidates.labels import TISSUE7
from elimipl.classroom import learning
from elimipl.classroom.outcome import read_outcome
from elimipl.classroom.store import classes
from elimipl.classroom.store.classes import VOTE_SECONDS, VOTES, ClassStore, Pace
from elimipl.classroom.store.database import VERSION
from elimipl.classroom.store.records import BegunTraining, NewPicture
from tests.elimipl_app.classroom.a_class import HERE, TEACHER, begun, opened, small_pictures
from tests.support.programs import ended, python
from tests.support.waiting import PATIENCE

STUDENTS, PICTURES = 40, 5
VOTING = """
import os, sys, threading
from pathlib import Path
from elimipl.classroom.store import classes
from elimipl.classroom.store.classes import ClassStore
path, key, session, first, last = *sys.argv[1:3], *map(int, sys.argv[3:])
store = ClassStore(Path(path))
def vote(student):
    store.join(key, f"browser {student}", "10.0.0.1")
    for picture in range(1, 6):
        store.vote(session, f"browser {student}", picture, [student % 7, picture], picture)
        os.write(1, f"{student} {picture}\\n".encode())
threads = [threading.Thread(target=vote, args=(student,)) for student in range(first, last)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
TRAINING = """
import os, sys, threading
from pathlib import Path
from tests.elimipl_app.classroom.a_class import begun
from elimipl.classroom import learning
from elimipl_app.classroom import worker
learning.EPOCHS, learning.SEEDS = 3, (0,)
learn = worker.learn
def slowly(task, tell):
    def told(share):
        if share > 0.5:
            os.write(1, b"half\\n")
            threading.Event().wait()
        return tell(share)
    return learn(task, told)
worker.learn = slowly
begun(Path(sys.argv[1]), 1)[1].join(60)
"""

LIMITED = """
import resource, signal, sys
from pathlib import Path
from bag_generators import InputError
from elimipl.candidates.labels import TISSUE7
from elimipl.classroom.store import classes
from elimipl.classroom.store.classes import ClassStore
from elimipl.classroom.store.records import NewPicture
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))
try:
    ClassStore(Path(sys.argv[1])).open_session("b", TISSUE7, [NewPicture(bytes(900_000), "x", "tissue")], "")
except InputError as error:
    print(error)
"""


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "classes.sqlite3"


def server(path, session, first, last) -> subprocess.Popen:
    """Another server with the same file, at which some students vote at once; a line for every vote it has kept."""
    return python("-c", VOTING, path, session.link_key, session.id, first, last)


def test_forty_students_at_two_servers_one_of_which_is_killed_and_started_again(path):
    store, session, _ = opened(path, pictures=PICTURES)
    first, second = server(path, session, 0, 20), server(path, session, 20, 40)
    told = [tuple(map(int, first.stdout.readline().split())) for _ in range(15)]
    first.kill()
    told += [tuple(map(int, line.split())) for line in first.stdout if line.endswith("\n")]
    first.wait()
    kept = set()
    for student in range(20):
        store.join(session.link_key, f"browser {student}", HERE)
        kept |= {(student, picture) for picture in store.own_votes(session.id, f"browser {student}")}
    assert set(told) <= kept  # what was said to be kept is kept
    again = server(path, session, 0, 20)
    assert again.communicate()[0].count("\n") == 20 * PICTURES
    assert second.communicate()[0].count("\n") == 20 * PICTURES
    assert (again.returncode, second.returncode) == (0, 0)
    ballots = store.votes(session.id, TEACHER)
    assert len(ballots) == STUDENTS * PICTURES
    assert len(store.seats(session.id, TEACHER)) == STUDENTS
    assert all(ballot.top == ballot.picture for ballot in ballots)
    assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_training_cut_off_by_a_kill_gives_the_same_result_in_the_next_server(path, monkeypatch):
    store = ClassStore(path)
    store.open_session(TEACHER, TISSUE7, small_pictures(4), HERE)
    session = store.session_of(TEACHER)
    store.join(session.link_key, "ann", HERE)
    for picture in range(4):
        store.vote(session.id, "ann", picture + 1, [picture, 6], picture)
    store.close()
    killed = python("-c", TRAINING, path)
    assert killed.stdout.readline() == "half\n"
    killed.kill()
    killed.communicate()
    left = ClassStore(path).session_of(TEACHER)
    assert (left.training, left.outcome) == (BegunTraining("row", 1), None)

    monkeypatch.setattr(learning, "EPOCHS", 3)
    monkeypatch.setattr(learning, "SEEDS", (0,))
    outcomes = []
    for tries in (left.training.tries + 1, 1):  # begun again, and as if nothing had happened
        store, run = begun(path, tries)
        run.join(PATIENCE)
        over = store.session_of(TEACHER)
        assert over.training is None
        outcomes.append(read_outcome(over.outcome).model_copy(update={"seconds": 0.0}))
    assert outcomes[0] == outcomes[1]


def test_one_student_who_votes_a_thousand_times_is_stopped_in_memory_and_disturbs_nobody(path):
    store, session, _ = opened(path, pictures=PICTURES)
    store._votes = Pace(VOTES, VOTE_SECONDS, clock=lambda: 0.0)  # however long the machine takes
    for student in ("eve", *map(str, range(39))):
        store.join(session.link_key, student, HERE)
    refused = []

    def flood() -> None:
        for number in range(1000):
            try:
                store.vote(session.id, "eve", 1 + number % PICTURES, [number % 7], number % 7)
            except InputError as error:
                refused.append(error.what)

    flooding = threading.Thread(target=flood)
    flooding.start()
    others = [
        threading.Thread(target=lambda who=who: [store.vote(session.id, who, 1 + n, [n], n) for n in range(PICTURES)])
        for who in map(str, range(39))
    ]
    for thread in others:
        thread.start()
    for thread in (flooding, *others):
        thread.join()
    assert len(refused) == 1000 - VOTES
    assert set(refused) == {"You vote faster than anybody can look."}
    ballots = store.votes(session.id, TEACHER)
    assert len(ballots) == 40 * PICTURES
    assert sum(ballot.student != 1 and ballot.top == ballot.picture - 1 for ballot in ballots) == 39 * PICTURES


def test_a_full_disk_loses_no_vote_and_says_so(path):
    store, session, _ = opened(path, pictures=1)
    store.join(session.link_key, "ann", HERE)
    store.vote(session.id, "ann", 1, [0], 0)
    large = [NewPicture(bytes(900_000), "large", "tissue")]
    with store._database.reading() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
    store._database._writer.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(InputError, match=r"The session could not be kept: the server's disk is full"):
        store.open_session("another", TISSUE7, large, HERE)
    assert store.session_of("another") is None
    store.vote(session.id, "ann", 1, [1, 2], 2)  # takes no further page
    store._database._writer.execute("PRAGMA max_page_count = 100000")
    store.open_session("another", TISSUE7, large, HERE)
    (ballot,) = store.votes(session.id, TEACHER)
    assert ballot.named == (1, 2)


def test_a_log_that_can_not_grow_keeps_what_was_there(path):
    store, session, _ = opened(path, pictures=1)
    store.join(session.link_key, "ann", HERE)
    store.vote(session.id, "ann", 1, [3], 3)
    store.close()
    limited = ended("-c", LIMITED, path)
    assert limited.stderr == ""
    assert limited.stdout.startswith("The session could not be kept:")
    assert str(path) not in limited.stdout
    again = ClassStore(path)
    assert [ballot.top for ballot in again.votes(session.id, TEACHER)] == [3]
    again.vote(session.id, "ann", 1, [4], 4)


def test_a_busy_file_is_waited_for_and_then_said_to_be_busy(path, monkeypatch):
    monkeypatch.setattr("elimipl.classroom.store.database.PATIENCE", 0.2)
    store, session, _ = opened(path, pictures=1)
    store.join(session.link_key, "ann", HERE)
    hog = sqlite3.connect(path, isolation_level=None)
    hog.execute("BEGIN IMMEDIATE")
    with pytest.raises(InputError, match="the server is busy"):
        store.vote(session.id, "ann", 1, [0], 0)
    assert store.votes(session.id, TEACHER) == ()  # readers never wait
    hog.execute("ROLLBACK")
    store.vote(session.id, "ann", 1, [0], 0)


def test_a_read_does_not_wait_behind_a_write_that_is_stuck(path):
    store, session, _ = opened(path, pictures=1)
    store.join(session.link_key, "ann", HERE)
    hog = sqlite3.connect(path, isolation_level=None)
    hog.execute("BEGIN IMMEDIATE")
    voting = threading.Thread(target=store.vote, args=(session.id, "ann", 1, [0], 0))
    voting.start()
    while not store._database._lock.locked():
        pass
    start = time.monotonic()
    for fresh in (store, ClassStore(path)):  # a server that starts meanwhile does not wait, either
        assert fresh.votes(session.id, TEACHER) == ()
        assert fresh.stage(session.id) == (False, False, False)
    assert time.monotonic() - start < 2.0
    assert voting.is_alive()
    hog.execute("ROLLBACK")
    voting.join()
    assert len(store.votes(session.id, TEACHER)) == 1


@pytest.mark.parametrize("hours", [25, 24 * 365, -25, -24 * 365])
def test_a_clock_that_is_set_on_a_running_server_deletes_no_class_and_keeps_none_for_ever(path, monkeypatch, hours):
    real, since = time.time, classes._since_start
    store, session, _ = opened(path, pictures=1)
    monkeypatch.setattr(time, "time", lambda: real() + 3600 * hours)
    assert store.delete_expired() == 0
    assert store.session_of(TEACHER) == session
    monkeypatch.setattr(classes, "_since_start", lambda: since() + classes.LIFETIME + 1)
    assert store.session_of(TEACHER) is None
    assert store.delete_expired() == 1


def test_a_class_that_was_opened_when_the_clock_was_a_year_ahead_is_gone_in_a_day(path):
    now = [1e9 + 365 * classes.LIFETIME]
    store, _, _ = opened(path, pictures=1, clock=lambda: now[0])
    now[0] = 1e9
    assert store.delete_expired() == 0
    assert store.session_of(TEACHER).expires == now[0] + classes.LIFETIME
    now[0] += classes.LIFETIME
    assert store.delete_expired() == 1


DAMAGED = {b"SQLite format 3\x00" + bytes(4096): r"damaged|can't use", b"no database at all" * 500: "damaged"}


@pytest.mark.parametrize(("content", "sentence"), DAMAGED.items(), ids=["header only", "text"])
def test_a_damaged_file_gets_a_sentence_and_is_left_alone(path, content, sentence):
    path.write_bytes(content)
    with pytest.raises(InputError, match=sentence) as refused:
        ClassStore(path).session_of(TEACHER)
    assert str(path) not in str(refused.value)
    assert path.read_bytes()[:100] == content[:100]


def test_a_file_of_another_version_and_a_folder_that_can_not_be_used(path, tmp_path):
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()
    with pytest.raises(InputError, match="another version"):
        ClassStore(path).session_of(TEACHER)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="can't use its file"):
        ClassStore(tmp_path / "file" / "classes.sqlite3").session_of(TEACHER)
