"""Jobs of a server: the order of the line, turns that take too long, stop, reload, and the end of the server."""

import os
import sys
import threading
from functools import partial
from types import SimpleNamespace

import pytest

from bag_generators import InputError
from elimipl import jobs
from elimipl.jobs import DONE, FAILED, RUNNING, STOPPED, WAITING, CpuThrottle, Job, Queue, StoppedError
from tests.support.waiting import PATIENCE, wait_until


class Endless(Job):
    """Works until somebody stops it, and keeps what it has."""

    called = "training"

    def work(self):
        self.tell(1, 10)
        while not self.should_stop(due=0.0):
            threading.Event().wait(0.005)
        raise StoppedError("what there is")


class Map(Endless):
    """One of its kind at a time."""

    called, single, most_kept = "map", True, (2, 3)


class Given(Map):
    """Does what it is given."""

    def __init__(self, work, owner="me"):
        super().__init__(owner, "slide")
        self._given = work

    def work(self):
        return self._given(self)


@pytest.fixture
def queue():
    """Two at once whose turns end only where a test says so."""
    made = Queue(at_once=2, slice_seconds=1000.0, most_waiting=3)
    yield made
    made.end()


def started(queue, owners, kind=Endless):
    return [queue.start(kind(owner, "page")) for owner in owners]


def places(*some):
    return [job.place[0] for job in some]


def until(state, *some):
    wait_until(lambda: all(job.progress.state == state for job in some))


def test_a_job_tells_how_far_it_is_and_keeps_what_comes_out(queue):
    job = queue.start(Given(lambda job: job.tell(5, 10) or "map"))
    job.join(PATIENCE)
    progress = job.progress
    assert (progress.state, progress.done, progress.total, progress.result) == (DONE, 5, 10, "map")
    assert progress.seconds_left is not None
    assert queue.of("me", "slide") == [job]


def test_turns_go_by_the_order_in_line(queue):
    a, b, c, d = started(queue, "abcd")
    assert [job.place for job in (a, b, c, d)] == [(0, 2), (0, 2), (1, 2), (2, 2)]
    until(RUNNING, a, b)
    assert c.progress.state == d.progress.state == WAITING
    b.stop()
    until(RUNNING, c)
    assert places(a, c, d) == [0, 0, 1]


def test_owners_without_a_turn_go_before_those_who_have_one():
    queue = Queue(at_once=1, slice_seconds=1000.0)
    a1, a2, a3, b = started(queue, ("ann", "ann", "ann", "bob"))
    assert places(a1, a2, a3, b) == [0, 2, 3, 1]
    a1.stop()
    until(RUNNING, a2)  # nobody has a turn: the order of coming counts
    assert places(b, a3) == [1, 2]
    queue.end()


def test_a_turn_ends_when_its_time_is_up_and_somebody_waits(queue):
    a, b, c = started(queue, "abc")
    until(RUNNING, a, b)
    assert places(a, b, c) == [0, 0, 1]
    queue.slice_seconds = 0.05
    for job in (a, b, c, a, b, c):
        wait_until(lambda job=job: job.place[0] == 0)
        wait_until(lambda job=job: job.place[0] > 0)
    queue.slice_seconds = 1000.0
    assert all(job.progress.state == RUNNING for job in (a, b, c))
    # The time in line is not counted.
    line = max((a, b, c), key=lambda job: job.place[0])
    had = line._seconds()
    threading.Event().wait(0.2)
    line.stop()
    assert line.progress.seconds < had + 0.15 + jobs._LOOK_SECONDS


def test_a_line_that_is_too_long_is_said(queue):
    started(queue, "abcde")
    with pytest.raises(InputError, match="2 jobs run on this server and 3 wait"):
        queue.start(Endless("f"))
    assert queue.of("f", "") == []


def test_a_map_shares_the_machine_with_trainings_but_is_finished_before_another():
    queue = Queue(at_once=1, slice_seconds=0.05)
    first, second = started(queue, ("ann", "bob"), Map)
    until(RUNNING, first)
    (training,) = started(queue, ("eve",))
    for job in (training, first, training, first):
        wait_until(lambda job=job: job.place[0] == 0)
    assert second.progress.state == WAITING
    training.stop()
    first.stop()
    until(RUNNING, second)
    queue.end()


def test_a_training_goes_on_beside_a_map_that_waits_for_another_map(queue):
    first, second = started(queue, ("ann", "bob"), Map)
    (training,) = started(queue, ("eve",))
    until(RUNNING, first, training)
    assert second.place == (1, 1)


def test_starts_at_once_make_one_map(queue):
    for attempt in range(20):
        together, found = threading.Barrier(8), []

        def start(attempt=attempt, together=together, found=found):
            together.wait(PATIENCE)
            found.append(queue.start(Map(f"visitor {attempt}", "slide", "the same")))

        starters = [threading.Thread(target=start) for _ in range(8)]
        for one in starters:
            one.start()
        for one in starters:
            one.join(PATIENCE)
        assert len(set(found)) == 1
        assert queue.of(f"visitor {attempt}", "slide") == found[:1]
        queue.forget(f"visitor {attempt}", "slide")


def test_one_map_is_in_the_making_for_a_visitor(queue):
    job = queue.start(Map("me", "slide", ("slide", "model")))
    assert queue.start(Map("me", "slide", ("slide", "model"))) is job
    with pytest.raises(InputError, match="A map of yours is still running"):
        queue.start(Map("me", "slide", ("slide", "another")))


def test_a_job_stops_when_asked_whether_it_runs_or_waits(queue):
    *running, waiting = started(queue, "abc")
    until(RUNNING, *running)
    waiting.stop()
    assert (waiting.progress.state, waiting.progress.result) == (STOPPED, None)
    running[0].stop()
    progress = running[0].progress
    assert (progress.state, progress.result) == (STOPPED, "what there is")
    assert progress.stopped_within > 0


def test_visitors_see_and_forget_only_their_own(queue):
    mine, yours = queue.start(Endless("me", "slide")), queue.start(Given(lambda job: "map", "you"))
    assert (queue.of("me", "slide"), queue.of("you", "slide"), queue.of("third", "slide")) == ([mine], [yours], [])
    assert queue.of("me", "train") == []
    queue.forget("me", "slide")
    assert mine.progress.state == STOPPED
    yours.join(PATIENCE)
    assert queue.of("me", "slide") == []
    assert queue.of("you", "slide")[0].progress.state == DONE


def test_a_refusal_says_why_and_a_fault_says_that_it_is_one(queue):
    def refused(job):
        raise InputError("There is no tissue.", "Choose another slide.")

    for work, said in ((refused, "There is no tissue."), (lambda job: 1 / 0, "Map ended through a fault")):
        job = queue.start(Given(work))
        job.join(PATIENCE)
        assert job.progress.state == FAILED
        assert said in job.progress.error.what
    after = queue.start(Given(lambda job: 1))
    after.join(PATIENCE)
    assert after.progress.state == DONE


def test_a_job_ends_when_nobody_is_there_any_more(queue, monkeypatch):
    monkeypatch.setattr(jobs, "AWAY_PATIENCE", 0.1)
    there = threading.Event()
    there.set()
    job, other = queue.start(Endless("a", is_watched=there.is_set)), queue.start(Endless("b"))
    waiting = queue.start(Endless("c", is_watched=lambda: False))
    threading.Event().wait(0.3)  # longer than the patience
    assert job.alive
    assert waiting.progress.state == STOPPED  # in line, too
    there.clear()
    until(STOPPED, job)
    assert other.alive


def test_who_comes_back_in_time_finds_the_job_going_on(queue, monkeypatch):
    monkeypatch.setattr(jobs, "AWAY_PATIENCE", 0.2)
    job = queue.start(Endless("ann", "train", is_watched=lambda: False))
    assert queue.of("ann", "train") == [job]
    job.watched_by(lambda: True)
    threading.Event().wait(0.4)
    assert job.alive


def test_what_is_over_goes_after_a_while_and_is_little(queue, monkeypatch):
    for owner in ("me", "me", "me", "you", "third"):
        queue.start(Given(lambda job: 1, owner)).join(PATIENCE)
    assert [len(queue.of(owner, "slide")) for owner in ("me", "you", "third")] == [1, 1, 1]
    left = queue.start(Endless("ann", "train", is_watched=lambda: False))
    left.stop()
    assert queue.of("ann", "train") == [left]
    monkeypatch.setattr(jobs, "KEPT_SECONDS", -1.0)
    assert queue.of("ann", "train") == []


def test_a_server_that_ends_asks_all_first_and_waits_longer_than_a_page(queue, monkeypatch):
    monkeypatch.setattr(jobs, "STOP_PATIENCE", 0.0)
    *running, waiting = started(queue, "abc")
    until(RUNNING, *running)
    queue.end()
    assert [job.progress.state for job in (*running, waiting)] == [STOPPED] * 3
    assert not any(job.is_unwanted for job in (*running, waiting))


def test_a_thread_rests_as_long_as_it_had_to_wait(monkeypatch):
    rests = []
    stop = threading.Event()
    monkeypatch.setattr(stop, "wait", rests.append)
    clocks = {
        "monotonic": iter([0.0, 3.0, 10.0, 12.0, 20.0, 20.5, 21.5, 22.0]),
        "thread_time": iter([0.0, 0.2, 1, 3, 5, 5.4, 6.4, 7.0]),
    }
    ours = {name: partial(next, times) for name, times in clocks.items()}
    monkeypatch.setattr(jobs, "time", SimpleNamespace(**ours))  # the module's own name: other threads keep their clock
    throttle = CpuThrottle()
    for _ in range(4):
        throttle.rest(stop)
    assert rests == pytest.approx([jobs.LONGEST_REST, 0.0, 0.1])  # none after half a second


@pytest.mark.skipif(sys.platform != "linux", reason="threads have no niceness of their own")
def test_only_the_thread_that_trains_stands_back(queue):
    def niceness():
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    class Nice(Job):
        def work(self):
            return niceness()

    here = niceness()
    job = queue.start(Nice())
    job.join(PATIENCE)
    assert job.progress.result == max(here, jobs.NICENESS)
    assert niceness() == here
