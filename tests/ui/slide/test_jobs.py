"""Maps in the making: told apart by visitor, one at a time, stopped when asked, never lost in silence."""

import threading

import pytest

from bag_generators import InputError
from tests.support.waiting import PATIENCE, wait_until
from ui.slide import jobs as jobs_module
from ui.slide.jobs import DONE, FAILED, RUNNING, STOPPED, WAITING, Jobs


@pytest.fixture
def jobs():
    kept = Jobs()
    yield kept
    kept.end()


def until_stopped(tell, should_stop):
    """Work that goes on until somebody stops it."""
    tell(1, 10)
    while not should_stop():
        threading.Event().wait(0.01)


def wait_for(job, state):
    wait_until(lambda: job.progress.state == state)


def test_a_job_tells_how_far_it_is_and_keeps_what_comes_out(jobs):
    def work(tell, should_stop):
        tell(5, 10)
        return "map"

    job = jobs.start("me", "s", "slide", "model", work)
    job.join(PATIENCE)
    assert (job.progress.state, job.progress.done, job.progress.total) == (DONE, 5, 10)
    assert job.progress.result == "map"
    assert job.progress.seconds_left is not None
    assert jobs.of("me") == [job]


def test_starts_at_once_make_one_job(jobs):
    for attempt in range(20):
        together, started = threading.Barrier(8), []

        def start(attempt=attempt, together=together, started=started):
            together.wait(PATIENCE)
            started.append(jobs.start(f"visitor {attempt}", "s", "slide", "model", until_stopped))

        starters = [threading.Thread(target=start) for _ in range(8)]
        for one in starters:
            one.start()
        for one in starters:
            one.join(PATIENCE)
        assert len({job.id for job in started}) == 1
        assert len(jobs.of(f"visitor {attempt}")) == 1
        jobs.forget(f"visitor {attempt}")


def test_a_job_stops_when_asked(jobs):
    job = jobs.start("me", "s", "slide", "model", until_stopped)
    wait_for(job, RUNNING)
    job.stop()
    assert job.progress.state == STOPPED
    assert job.progress.result is None


def test_the_second_waits_for_the_first_and_can_be_stopped_while_waiting(jobs):
    mine = jobs.start("me", "s", "slide", "model", until_stopped)
    wait_for(mine, RUNNING)
    yours = jobs.start("you", "s", "slide", "model", until_stopped)
    third = jobs.start("third", "s", "slide", "model", until_stopped)
    assert yours.progress.state == third.progress.state == WAITING
    third.stop()
    assert third.progress.state == STOPPED
    mine.stop()
    wait_for(yours, RUNNING)
    assert mine.progress.state == STOPPED


def test_visitors_see_and_forget_only_their_own(jobs):
    mine = jobs.start("me", "s", "slide", "model", until_stopped)
    yours = jobs.start("you", "s", "slide", "model", lambda tell, should_stop: "map")
    assert (jobs.of("me"), jobs.of("you"), jobs.of("third")) == ([mine], [yours], [])
    jobs.forget("me")
    assert mine.progress.state == STOPPED
    yours.join(PATIENCE)
    assert jobs.of("me") == []
    assert jobs.of("you")[0].progress.state == DONE


def test_one_map_is_in_the_making_for_a_visitor(jobs):
    job = jobs.start("me", "s", "slide", "model", until_stopped)
    assert jobs.start("me", "s", "slide", "model", until_stopped) is job
    with pytest.raises(InputError, match="still in the making"):
        jobs.start("me", "s", "slide", "another", until_stopped)


def test_what_can_not_be_mapped_says_why_and_a_fault_says_that_it_is_one(jobs):
    def refused(tell, should_stop):
        raise InputError("There is no tissue.", "Choose another slide.")

    def broken(tell, should_stop):
        raise ZeroDivisionError

    for work, said in ((refused, "There is no tissue."), (broken, "Mapping ended through a fault of the program.")):
        job = jobs.start("me", "s", "slide", "model", work)
        job.join(PATIENCE)
        assert job.progress.state == FAILED
        assert job.progress.error.what == said
    after = jobs.start("me", "s", "slide", "model", lambda tell, should_stop: 1)
    after.join(PATIENCE)
    assert after.progress.state == DONE


def test_the_oldest_jobs_make_room(jobs, monkeypatch):
    monkeypatch.setattr(jobs_module, "MOST_JOBS", 2)
    monkeypatch.setattr(jobs_module, "MOST_ALL_JOBS", 3)
    for visitor in ("me", "me", "me", "you", "third"):
        jobs.start(visitor, "s", "slide", "model", lambda tell, should_stop: 1).join(PATIENCE)
    assert [len(jobs.of(visitor)) for visitor in ("me", "you", "third")] == [1, 1, 1]


def test_a_server_that_is_stopped_waits_for_what_it_started_longer_than_a_page_does(jobs, monkeypatch):
    monkeypatch.setattr(jobs_module, "STOP_PATIENCE", 0.0)
    running, waiting = (jobs.start(visitor, "1", "slide", "m", until_stopped) for visitor in ("ann", "bob"))
    wait_for(running, RUNNING)
    jobs.end()
    assert [job.progress.state for job in (running, waiting)] == [STOPPED, STOPPED]
