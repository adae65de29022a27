"""Many files → many bags, on all cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from threadpoolctl import ThreadpoolController

from bag_generators import registry
from bag_generators.bag import Bag
from bag_generators.errors import InputError
from bag_generators.image import TissueImage, load
from bag_generators.pool import in_processes, number_of_workers

AnyPath: TypeAlias = str | os.PathLike[str]
Progress: TypeAlias = Callable[[int, int], None]
_Shared: TypeAlias = tuple[str, str, dict[str, Any]]  # the generator's name and module, its parameters

_FEW_FILES = 100  # starting workers takes about as long as this many tiles
_AHEAD = 4  # files handed to a worker before it has answered, so that it never waits for us


class Outcome(NamedTuple):
    """What became of one file: a bag with the loader's notes, or the reason why not."""

    result: Bag | InputError
    notes: tuple[str, ...] = ()


def outcome_of(name: str, home: str, params: dict[str, Any], path: AnyPath) -> Outcome:
    """Load one picture and make its bag; `home` is the generator's module, which a new process has yet to import."""
    if name not in registry.GENERATORS:
        import_module(home)
    try:
        image = load(path)
        return Outcome(registry.generate(name, image, **params), image.notes)
    except InputError as refusal:
        return Outcome(refusal)


def generate_many(
    name: str,
    paths: Iterable[AnyPath],
    workers: int | None = None,
    progress: Progress | None = None,
    **params: Any,
) -> Iterator[tuple[AnyPath, Bag | InputError]]:
    """Yield (path, bag) for every file in the order given; a file that can't be used gives (path, reason).

    `workers` is the number of processes: by default as many as there are cores, or none for
    a few files; 1 works in this process.
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
    count = 1 if workers is None and len(files) < _FEW_FILES else number_of_workers(workers, len(files))
    blank = TissueImage.from_array(np.full((64, 64, 3), 255, np.uint8))
    registry.generate(name, blank, **params)  # a blank picture tells whether the name and the parameters are right
    home = registry.GENERATORS[name].function.__module__
    if home == "__main__":  # a script of somebody's own, which other processes must not run again
        count = 1
    shared = (name, home, params)

    def counted() -> Iterator[tuple[AnyPath, Outcome]]:
        stream = _one_by_one(files, shared) if count == 1 else _spread(files, count, shared)
        for done, (file, outcome) in enumerate(stream, start=1):
            if progress is not None:
                progress(done, len(files))
            yield file, outcome

    return counted()


def _one_by_one(files: list[AnyPath], shared: _Shared) -> Iterator[tuple[AnyPath, Outcome]]:
    """The outcomes made in this process. The matrices are small: a second BLAS thread costs more than it helps."""
    libraries = ThreadpoolController()
    for file in files:
        with libraries.limit(limits=1, user_api="blas"):
            outcome = outcome_of(*shared, file)
        yield file, outcome


def _spread(files: list[AnyPath], count: int, shared: _Shared) -> Iterator[tuple[AnyPath, Outcome]]:
    """The outcomes in the order of the files, made by `count` processes that end with this generator."""
    return in_processes(outcome_of, files, count, shared=shared, ahead=_AHEAD, at_death=_crashed)


def _crashed(_exit_code: int) -> Outcome:
    return Outcome(InputError("Reading this file stopped the program that reads it.", "Export it again as PNG."))
