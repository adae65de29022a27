"""The one process pool: order, refusals, deaths, memory; `test_parallel` has what it does with files."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bag_generators.base import pool
from bag_generators.base.errors import InputError
from bag_generators.base.pool import _WORKER_PROGRAM, in_processes, number_of_workers
from tests.bag_generators import pool_tasks

ROOT = Path(__file__).resolve().parents[3]


def test_results_come_in_order_with_their_tasks():
    assert list(in_processes(pool_tasks.square, range(40), 2, ahead=4)) == [(i, i * i) for i in range(40)]


def test_results_come_as_they_end_when_order_does_not_matter(tmp_path):
    results = in_processes(pool_tasks.zero_waits, [0, 1], 2, shared=(tmp_path / "go",), in_order=False)
    assert next(results) == (1, 1)
    (tmp_path / "go").touch()
    assert list(results) == [(0, 0)]


def test_shared_values_come_before_the_task_and_are_sent_once_to_a_worker(monkeypatch):
    sent = []
    send = pool._Worker._send
    monkeypatch.setattr(pool._Worker, "_send", lambda worker, message: (sent.append(message), send(worker, message)))
    assert dict(in_processes(pool_tasks.scaled, range(10), 2, shared=(10, 3))) == {i: 10 * i + 3 for i in range(10)}
    assert len([message for message in sent if isinstance(message, tuple)]) == 2
    assert sorted(message for message in sent if isinstance(message, int)) == list(range(10))


def test_a_refusal_is_raised_as_it_is():
    with pytest.raises(InputError, match=r"Task 1 is refused\. Give another\."):
        list(in_processes(pool_tasks.refuse, [1], 1))


@pytest.mark.parametrize(
    ("function", "words"), [(pool_tasks.divide, "ZeroDivisionError"), (pool_tasks.unsendable, "lambda")]
)
@pytest.mark.parametrize("one_process_each", [False, True])
def test_a_mistake_comes_with_its_traceback(function, words, one_process_each):
    with pytest.raises(RuntimeError, match=words):
        list(in_processes(function, [0], 1, one_process_each=one_process_each))


@pytest.mark.parametrize("one_process_each", [False, True])
def test_a_death_is_a_result_or_a_sentence_and_the_others_go_on(one_process_each):
    run = {"one_process_each": one_process_each, "ahead": 1 if one_process_each else 3}
    results = in_processes(pool_tasks.exit_on_two, range(6), 2, at_death=lambda code: -code, **run)
    assert [result for _, result in results] == [0, 1, -5, 3, 4, 5]
    with pytest.raises(InputError, match="died with exit code 5: it left no message"):
        list(in_processes(pool_tasks.exit_on_two, range(6), 2, **run))


def test_a_worker_keeps_what_it_loaded_and_has_one_thread():
    results = [result for _, result in in_processes(pool_tasks.remember, range(3), 1)]
    assert len({process for process, *_ in results}) == 1
    assert [before for *_, before, _ in results] == [0, 1, 2]
    assert {threads for *_, threads in results} == {1}


def test_one_process_each_starts_as_a_fresh_copy_of_the_worker():
    results = [result for _, result in in_processes(pool_tasks.remember, range(3), 1, one_process_each=True)]
    assert len({process for process, *_ in results}) == 3
    assert len({worker for _, worker, *_ in results}) == 1
    assert [before for *_, before, _ in results] == [0, 0, 0]


@pytest.mark.parametrize("in_order", [True, False])
def test_tasks_are_asked_for_only_when_there_is_room(in_order):
    asked = []

    def tasks() -> Iterator[int]:
        for i in range(200):
            asked.append(i)
            yield i

    results = in_processes(pool_tasks.square, tasks(), 2, in_order=in_order)
    next(results)
    # In order, one worker may be far ahead while the other still starts; the window bounds how far.
    assert len(asked) <= (pool._WINDOW * 2 + 1 if in_order else 4)
    results.close()


def test_no_task_no_process(monkeypatch):
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("a process was started"))
    assert list(in_processes(pool_tasks.square, [], 4)) == []
    with pytest.raises(TypeError, match="top level of a module"):
        list(in_processes(lambda task: task, [1], 1))


def test_where_there_are_no_such_processes_the_work_is_done_here(monkeypatch):
    monkeypatch.setattr(os, "name", "nt")
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("a process was started"))
    assert number_of_workers(8, 100) == 1
    assert list(in_processes(pool_tasks.scaled, [1, 2], 2, shared=(10, 3))) == [(1, 13), (2, 23)]


def test_never_more_workers_than_tasks():
    assert number_of_workers(8, 3) == 3
    assert number_of_workers(None, 1) == 1
    assert number_of_workers(None, 10_000) >= 1
    with pytest.raises(InputError, match="0 workers"):
        number_of_workers(0, 3)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_no_worker_outlives_a_caller_that_is_killed_or_interrupted(how):
    program = "from tests.bag_generators.pool_tasks import run_lingering; run_lingering()"
    with subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stderr=subprocess.PIPE, text=True) as caller:
        assert caller.stderr is not None
        assert caller.stderr.readline() == "begun\n"
        caller.send_signal(how)
        _, said = caller.communicate(timeout=60)  # ends when the last process that could write is gone
    assert said == ("interrupted\n" if how == signal.SIGINT else "")


def test_a_worker_ignores_ctrl_c_before_it_loads_anything(tmp_path):
    (tmp_path / "bag_generators.py").write_text("import signal, sys; sys.exit(repr(signal.getsignal(signal.SIGINT)))")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-P", "-c", _WORKER_PROGRAM, "0"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert "SIG_IGN" in ended.stderr
