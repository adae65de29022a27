"""The one process pool: pictures into bags, splits of an evaluation, tasks of the benchmark.

The workers are plain Python processes of our own instead of `multiprocessing`'s: those run the caller's main
script again on starting, which under Streamlit is the whole page, and forking a process that has threads can
hang. A worker has one thread for its work, dies alone when a task makes a library crash, and is replaced.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from operator import attrgetter
from pathlib import Path
from queue import Empty, LifoQueue
from threading import Event, Timer
from typing import Any, TypeVar

from bag_generators.base.errors import InputError
from bag_generators.base.worker import Answer

Task = TypeVar("Task")
Result = TypeVar("Result")

_WINDOW = 16  # results a worker, kept while an earlier task is not done: bounds the memory
# Ctrl-C reaches the workers of a terminal, too, but is the caller's to handle: it ends its workers. They ignore it
# before anything else, since loading their libraries takes a second.
_WORKER_PROGRAM = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    "from bag_generators.base.worker import serve; serve(int(sys.argv[1]))"
)
_ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
# The C library else gives memory back and asks for it again with every tensor, which costs a tenth of the time.
_KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(2**24), "MALLOC_TRIM_THRESHOLD_": str(2**26)}


def number_of_workers(wanted: int | None, tasks: int) -> int:
    """How many processes to use for so many tasks; as many as there are cores unless `wanted` says otherwise."""
    if wanted is not None and wanted < 1:
        raise InputError(f"{wanted} workers can't do anything.", "Ask for at least 1.")
    if os.name != "posix":
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(wanted or cores, tasks))


def importable_name(function: Callable[..., Any]) -> str | None:
    """The module:attribute by which another process finds a function; None for lambdas, inner functions and scripts.

    >>> importable_name(in_processes)
    'bag_generators.base.pool:in_processes'
    """
    module, qualname = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
    if module is None or module == "__main__":
        return None
    try:
        found = attrgetter(qualname)(sys.modules[module])
    except (KeyError, AttributeError):
        return None
    return f"{module}:{qualname}" if found is function else None


def in_processes(
    function: Callable[..., Result],
    tasks: Iterable[Task],
    workers: int,
    *,
    shared: tuple[Any, ...] = (),
    in_order: bool = True,
    ahead: int = 1,
    one_process_each: bool = False,
    at_death: Callable[[int], Result] | None = None,
) -> Iterator[tuple[Task, Result]]:
    """Yield (task, function(*shared, task)) for every task, made by at most `workers` processes.

    `function` stands at the top level of a module that can be imported; `shared` is sent once to each worker. The
    results come in the order of the tasks, or as they end. `tasks` is asked only when there is room, and memory
    does not grow with their number; up to `ahead` tasks wait at a worker, more than one only when they are small.
    With `one_process_each` every task runs in a copy of its worker, so that its memory is its own.

    An `InputError` of the function is raised here, any other exception as a RuntimeError with its traceback. What
    stands for a task that killed its process says `at_death(exit code)`; without it that is an `InputError`.
    When the caller stops iterating, is interrupted or is killed, the processes end at once.
    Where there are no such processes (Windows) the tasks are done here, one after the other.
    """
    if os.name != "posix":
        yield from ((task, function(*shared, task)) for task in tasks)
        return
    if (name := importable_name(function)) is None:
        raise TypeError(f"{function} can't be found by another process: put it at the top level of a module")
    job = (name, shared, one_process_each)
    team = _Team(tasks, workers, job, ahead)
    results: dict[int, Result] = {}
    first = 0  # number of the earliest task that has not been yielded
    try:
        while True:
            team.hand_out(before=first + _WINDOW * workers if in_order else None)
            if not team.unfinished:
                return
            for number, answer, value in team.answers():
                results[number] = _result(answer, value, at_death)
            while results and (not in_order or first in results):
                number = first if in_order else next(iter(results))
                first += 1
                yield team.unfinished.pop(number), results.pop(number)
    finally:
        team.end()


def _result(answer: Answer, value: Any, at_death: Callable[[int], Result] | None) -> Result:
    if answer is Answer.RESULT:
        result: Result = value
        return result
    if answer is Answer.REFUSED:
        raise value
    if at_death is not None:
        return at_death(value)
    raise InputError(f"A worker process died with {exit_in_words(value)}.", "Use fewer workers, or smaller data.")


def exit_in_words(code: int) -> str:
    """What an exit code means, as the end of a sentence.

    >>> exit_in_words(-9)
    'exit code -9: most likely memory ran out'
    """
    return f"exit code {code}: {'most likely memory ran out' if code == -9 else 'it left no message'}"


OUT_OF_TIME = -14
"""Exit code of a process that an alarm clock ended: its own (`limited`) or that of who asked it."""


class ProcessDiedError(Exception):
    """A task killed its process; `code` is how that ended."""

    def __init__(self, code: int) -> None:
        super().__init__(exit_in_words(code))
        self.code = code


class Standby:
    """A process kept ready for questions that come now and then, all to one function; a new one follows one that dies.

    It starts with the first question, or before (`start`). One thread asks at a time. An answer that takes longer
    than `seconds` is not waited for: the process is ended, whatever it does.
    """

    def __init__(self, function: Callable[[Any], Any], seconds: float | None = None) -> None:
        self._function, self._seconds = function, seconds
        self._worker: _Worker | None = None

    def start(self) -> None:
        """See that there is a process; it loads what it needs while nobody waits."""
        if os.name == "posix" and (self._worker is None or not self._worker.lives):
            self._worker = _Worker((importable_name(self._function), (), False), [])
            self._worker.start()

    def ask(self, task: Any) -> Any:
        """What the function says of the task. Raised: its `InputError`; `ProcessDiedError` where the process ended."""
        self.start()
        if (worker := self._worker) is None:
            return self._function(task)
        too_late = Event()

        def end_it() -> None:
            too_late.set()
            worker.kill()

        alarm = Timer(self._seconds or 0, end_it)
        alarm.daemon = True
        if self._seconds is not None:
            alarm.start()
        try:
            worker.give(0, task)
            while (answered := worker.take()) is None:
                pass
        except (EOFError, ConnectionError):
            self._worker = None
            code = worker.end()
            raise ProcessDiedError(OUT_OF_TIME if too_late.is_set() else code) from None
        except BaseException:  # interrupted: the answer to come would be taken for that of the next question
            self._worker = None
            worker.end()
            raise
        finally:
            alarm.cancel()
        return _result(*answered[1:], at_death=None)


class Standbys:
    """A few such processes for everybody in this program; who finds all of them busy waits `patience` seconds."""

    def __init__(self, function: Callable[[Any], Any], count: int, seconds: float, patience: float) -> None:
        self._idle: LifoQueue[Standby] = LifoQueue()  # the one that answered last is the warmest
        for _ in range(count):
            self._idle.put(Standby(function, seconds))
        self._patience = patience

    def start(self) -> None:
        """Start one of them, where one is idle."""
        with suppress(Empty):
            standby = self._idle.get_nowait()
            standby.start()
            self._idle.put(standby)

    def ask(self, task: Any) -> Any:
        """As `Standby.ask`; any thread may ask."""
        try:
            standby = self._idle.get(timeout=self._patience)
        except Empty:
            raise InputError("Too many files are being read at this moment.", "Try again in a minute.") from None
        try:
            return standby.ask(task)
        finally:
            self._idle.put(standby)


@contextmanager
def limited(seconds: float, more_bytes: int) -> Iterator[None]:
    """End this process when what follows takes longer; refuse it memory beyond what it has now and `more_bytes`.

    A library that hangs in C can't be interrupted otherwise, and one that gets no memory mostly ends the process
    itself. For worker processes only, whose caller sees them end.
    """
    if os.name != "posix":
        yield
        return
    import resource

    unlimited = resource.getrlimit(resource.RLIMIT_AS)
    with suppress(OSError, ValueError):  # no /proc, or a limit of the system that is lower
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + more_bytes, unlimited[1]))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        resource.setrlimit(resource.RLIMIT_AS, unlimited)


class _Team:
    """The workers, the tasks that wait, and the tasks that are with a worker or answered but not yet yielded."""

    def __init__(self, tasks: Iterable[Any], size: int, job: tuple[Any, ...], ahead: int) -> None:
        self.unfinished: dict[int, Any] = {}
        self._waiting = enumerate(tasks)
        self._returned: deque[int] = deque()  # tasks that a dying worker had not begun
        self._workers: list[_Worker] = []
        self._size, self._job, self._ahead = size, job, ahead
        self._asked = 0

    def hand_out(self, before: int | None) -> None:
        """Give tasks (those numbered below `before`) to workers that have room, the idle first."""
        while (worker := self._with_room()) is not None:
            if (number := self._next(before)) is None:
                return
            worker.give(number, self.unfinished[number])

    def answers(self) -> Iterator[tuple[int, Answer, Any]]:
        """Wait for at least one worker to say something; (number of the task, kind of answer, value) for each task."""
        speaking = wait([worker.connection for worker in self._workers])
        for worker in [worker for worker in self._workers if worker.connection in speaking]:
            try:
                answer = worker.take()
            except (EOFError, ConnectionError):
                if worker.starting or not worker.given:
                    raise RuntimeError("a worker process could not be started; its output above says why") from None
                self._workers.remove(worker)
                code = worker.end()
                died_on, *untouched = worker.given
                self._returned.extendleft(reversed(untouched))
                answer = (died_on, Answer.DIED, code)
            if answer is not None:
                yield answer

    def end(self) -> None:
        """Stop every worker, also in the middle of a task."""
        for worker in self._workers:
            worker.end()

    def _with_room(self) -> _Worker | None:
        least = min(self._workers, key=lambda worker: len(worker.given), default=None)
        if len(self._workers) < self._size and (least is None or least.given):
            return _Worker(self._job, self._workers)
        return least if least is not None and len(least.given) < self._ahead else None

    def _next(self, before: int | None) -> int | None:
        if self._returned:
            return self._returned.popleft()
        if before is not None and self._asked >= before:
            return None
        for number, task in self._waiting:
            self.unfinished[number] = task
            self._asked = number + 1
            return number
        return None


class _Worker:
    """A process that answers its tasks one after the other; see `bag_generators.base.worker`.

    It joins `team` with its first task, so that nothing starts when there is nothing to do.
    """

    def __init__(self, job: tuple[Any, ...], team: list[_Worker]) -> None:
        self.connection: Connection
        self.given: deque[int] = deque()
        self._unsent: list[Any] | None = [job]  # until the process is ready
        self._team = team
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def starting(self) -> bool:
        """Whether it has not yet said that it is ready."""
        return self._unsent is not None

    @property
    def lives(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start the process; it is not waited for."""
        self.connection, theirs = multiprocessing.Pipe()
        root = str(Path(__file__).parents[2])
        search_path = os.pathsep.join(dict.fromkeys([root, *filter(None, sys.path)]))  # what we can import, it can
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _WORKER_PROGRAM, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={**_KEEP_MEMORY, **os.environ, **_ONE_THREAD, "PYTHONPATH": search_path},
            )
        self._team.append(self)

    def give(self, number: int, task: Any) -> None:
        """Queue a task."""
        if self._process is None:
            self.start()
        self.given.append(number)
        if self._unsent is None:
            self._send(task)
        else:
            self._unsent.append(task)

    def take(self) -> tuple[int, Answer, Any] | None:
        """The next answer with the number of its task; None when the worker only says that it has started."""
        answer, value = self.connection.recv()
        if answer is Answer.MISTAKE:
            raise RuntimeError(f"a worker process failed:\n{value}")
        if answer is Answer.READY:
            unsent, self._unsent = self._unsent or [], None
            for message in unsent:
                self._send(message)
            return None
        return self.given.popleft(), answer, value

    def kill(self) -> None:
        """Stop it at once; who waits for its answer is told."""
        assert self._process is not None
        self._process.kill()

    def end(self) -> int:
        """Stop it and close the connection; the exit code."""
        assert self._process is not None
        self.connection.close()
        self.kill()
        return self._process.wait()

    def _send(self, message: object) -> None:
        with suppress(ConnectionError):  # a worker that has died is noticed on taking its answer
            self.connection.send(message)
