"""A training that the end of the server cuts off is known to the next server; one that ended itself is not."""

import sqlite3

import pytest

from bag_generators import InputError
from elimipl import jobs
from elimipl.classroom.outcome import read_outcome
from elimipl.classroom.store.classes import ClassStore
from elimipl.classroom.store.records import BegunTraining
from elimipl.jobs import Queue, StoppedError
from elimipl_app.classroom import worker
from tests.elimipl_app.classroom.a_class import HERE, OUTCOME, TEACHER, begun, opened
from tests.support.waiting import PATIENCE

PICTURES = 5


def endless(task, tell):
    """Learns until somebody ends it."""
    while tell(0.5):
        pass
    raise StoppedError


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "classes.sqlite3"
    store, session, _ = opened(path, PICTURES)
    store.join(session.link_key, "ann", HERE)
    for picture in range(PICTURES):
        store.vote(session.id, "ann", picture + 1, [picture, 6], picture)
    store.close()
    return path


def training_in(path):
    return ClassStore(path).session_of(TEACHER).training


def test_the_next_server_knows_of_a_training_and_forgets_it_with_its_result(path, monkeypatch):
    monkeypatch.setattr(worker, "learn", endless)
    store, run = begun(path)
    jobs.SERVER.end()  # the server ends, and waits for it
    store.close()
    assert (run.alive, run.progress.error) == (False, None)
    assert training_in(path) == BegunTraining("row", 1)

    monkeypatch.setattr(worker, "learn", lambda task, tell: OUTCOME)
    store, again = begun(path, tries=2)
    again.join(PATIENCE)
    session = store.session_of(TEACHER)
    assert session.training is None
    assert read_outcome(session.outcome).fits == OUTCOME.fits


def test_what_the_teacher_stopped_is_not_begun_again(path, monkeypatch):
    monkeypatch.setattr(worker, "learn", endless)
    _, run = begun(path)
    assert training_in(path) == BegunTraining("row", 1)
    run.stop()
    run.join(PATIENCE)
    assert training_in(path) is None


def test_what_failed_or_never_stood_in_line_is_not_begun_again(path, monkeypatch):
    monkeypatch.setattr(worker, "learn", lambda task, tell: 1 / 0)
    _, run = begun(path)
    run.join(PATIENCE)
    assert run.progress.error is not None
    assert training_in(path) is None
    monkeypatch.setattr(jobs, "SERVER", Queue(most_waiting=0))
    with pytest.raises(InputError, match="wait for their turn"):
        begun(path)
    assert training_in(path) is None


def test_a_class_that_is_deleted_meanwhile_ends_its_training_quietly(path, monkeypatch):
    monkeypatch.setattr(worker, "learn", endless)
    store, run = begun(path)
    store.delete(store.session_of(TEACHER).id, TEACHER)
    run.stop()
    run.join(PATIENCE)
    assert (run.alive, run.progress.error) == (False, None)


@pytest.mark.parametrize("version", [1, 2])
def test_a_file_of_an_older_version_begins_anew(path, version):
    with sqlite3.connect(path) as connection:
        connection.execute("ALTER TABLE session DROP COLUMN revealed")
        connection.execute(f"PRAGMA user_version = {version}")
    assert ClassStore(path).session_of(TEACHER) is None
    store, session, _ = opened(path)
    assert store.votes(session.id, TEACHER) == ()
