"""Many files → many bags, on all cores.

The workers are plain Python processes of our own instead of `multiprocessing`'s: those run the caller's main
script again on starting, which under Streamlit is the whole page, and forking a process that has threads can
hang. A worker has one thread, dies alone when a file makes a library crash, and is replaced.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from threadpoolctl import ThreadpoolController

from bag_generators.bag import Bag
from bag_generators.errors import InputError
from bag_generators.generator import Recipe
from bag_generators.image import TissueImage
from bag_generators.registry import generate, recipe_of
from bag_generators.worker import Outcome, outcome_of

AnyPath: TypeAlias = str | os.PathLike[str]
Progress: TypeAlias = Callable[[int, int], None]

_FEW_FILES = 100  # starting workers takes about as long as this many tiles
_AHEAD = 4  # files handed to a worker before it has answered, so that it never waits for us
_WINDOW = 16  # results a worker, kept while an earlier file is not done: bounds the memory
_CRASHED = InputError("Reading this file stopped the program that reads it.", "Export it again as PNG.")
_WORKER_PROGRAM = "import sys; from bag_generators.worker import serve; serve(int(sys.argv[1]))"
_ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}


def generate_many(
    name: str,
    paths: Iterable[AnyPath],
    workers: int | None = None,
    progress: Progress | None = None,
    **params: Any,
) -> Iterator[tuple[AnyPath, Bag | InputError]]:
    """Yield (path, bag) for every file in the order given; a file that can't be used gives (path, reason).

    `workers` is the number of processes: by default one a core, or none for a few files; 1 works in this process,
    and so does a generator whose function other processes can't import by its name.
    `progress(done, total)` is called after each file. A wrong generator or parameter is raised at once. Results
    come as a stream and are not kept, so memory does not grow with the number of files.
    """
    outcomes = generate_with_notes(name, paths, workers, progress, **params)
    return ((path, outcome.result) for path, outcome in outcomes)


def generate_with_notes(
    name: str,
    paths: Iterable[AnyPath],
    workers: int | None = None,
    progress: Progress | None = None,
    **params: Any,
) -> Iterator[tuple[AnyPath, Outcome]]:
    """`generate_many` with what the loader noted on each picture."""
    files = list(paths)
    count = _number_of_workers(workers, len(files))
    blank = TissueImage.from_array(np.full((64, 64, 3), 255, np.uint8))
    generate(name, blank, **params)  # a blank picture tells whether the name and the parameters are right
    recipe = recipe_of(name)

    def counted() -> Iterator[tuple[AnyPath, Outcome]]:
        if recipe is None or count == 1:
            stream = _one_by_one(name, files, params)
        else:
            stream = _spread(recipe, files, count, params)
        for done, (file, outcome) in enumerate(zip(files, stream, strict=True), start=1):
            if progress is not None:
                progress(done, len(files))
            yield file, outcome

    return counted()


def _number_of_workers(wanted: int | None, n_files: int) -> int:
    if wanted is not None and wanted < 1:
        raise InputError(f"{wanted} workers can't do anything.", "Ask for at least 1.")
    if os.name != "posix" or (wanted is None and n_files < _FEW_FILES):
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(wanted or cores, n_files))


def _one_by_one(name: str, files: list[AnyPath], params: dict[str, Any]) -> Iterator[Outcome]:
    """The outcomes made in this process. The matrices are small: a second BLAS thread costs more than it helps."""
    libraries = ThreadpoolController()
    for file in files:
        with libraries.limit(limits=1, user_api="blas"):
            outcome = outcome_of(name, file, params)
        yield outcome


def _spread(recipe: Recipe, files: list[AnyPath], count: int, params: dict[str, Any]) -> Iterator[Outcome]:
    """The outcomes in the order of the files, made by `count` processes that end with this generator."""
    workers = [_Worker(recipe, params) for _ in range(count)]
    to_do = deque(range(len(files)))
    done: dict[int, Outcome] = {}
    try:
        for i in range(len(files)):
            while i not in done:
                for worker in workers:
                    while to_do and len(worker.given) < _AHEAD and to_do[0] < i + _WINDOW * count:
                        worker.give(to_do[0], files[to_do.popleft()])
                answering = wait([worker.connection for worker in workers])
                for slot, worker in enumerate(workers):
                    if worker.connection not in answering:
                        continue
                    try:
                        done.update(worker.take())
                    except (EOFError, ConnectionError):
                        worker.end()
                        crashed_on, *untouched = worker.given
                        done[crashed_on] = Outcome(_CRASHED)
                        to_do.extendleft(reversed(untouched))
                        workers[slot] = _Worker(recipe, params)
            yield done.pop(i)
    finally:
        for worker in workers:
            worker.end()


class _Worker:
    """A process that answers the files it is given one after the other; see `bag_generators.worker`."""

    def __init__(self, recipe: Recipe, params: dict[str, Any]) -> None:
        self.connection: Connection
        self.connection, theirs = multiprocessing.Pipe()
        self.given: deque[int] = deque()
        self._ready = False
        root = str(Path(__file__).parents[1])
        search_path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _WORKER_PROGRAM, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={**os.environ, **_ONE_THREAD, "PYTHONPATH": search_path},
            )
        self._send((recipe, params))

    def give(self, index: int, file: AnyPath) -> None:
        """Queue a file. Messages are small and few (`_AHEAD`), so sending never waits."""
        self.given.append(index)
        self._send(os.fspath(file))

    def take(self) -> dict[int, Outcome]:
        """The next answer by the index of its file; empty when the worker only says that it has started."""
        try:
            answer = self.connection.recv()
        except (EOFError, ConnectionError):
            if not self._ready or not self.given:
                raise RuntimeError("a worker process could not be started; its output above says why") from None
            raise
        if answer is None:
            self._ready = True
            return {}
        if isinstance(answer, str):
            raise RuntimeError(f"a worker process failed:\n{answer}")  # noqa: TRY004 - a traceback, not a wrong type
        return {self.given.popleft(): answer}

    def end(self) -> None:
        """Stop at once, also in the middle of a file."""
        self.connection.close()
        self._process.kill()
        self._process.wait()

    def _send(self, message: object) -> None:
        with suppress(ConnectionError):  # a worker that has died is noticed on taking its answer
            self.connection.send(message)
