"""Many files → many bags, on all cores, and into one file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from threadpoolctl import ThreadpoolController

from bag_generators.base import bag_file
from bag_generators.base.errors import InputError
from bag_generators.base.pool import in_processes, number_of_workers
from bag_generators.generator import Bag, Generator
from bag_generators.image import TissueImage, load
from bag_generators.registry import generate, recipe_of, register_again
from bag_generators.scale import ScaleDecision, decide_scale
from bag_generators.tissue.quality import Quality, measure_for

AnyPath: TypeAlias = str | os.PathLike[str]
Progress: TypeAlias = Callable[[int, int], None]

_FEW_FILES = 100  # starting workers takes about as long as this many tiles
_AHEAD = 4  # files handed to a worker before it has answered, so that it never waits for us


class BagOrRefusal(NamedTuple):
    """What became of one file: a bag with the loader's notes, or the reason why not."""

    result: Bag | InputError
    notes: tuple[str, ...] = ()
    quality: Quality | None = None
    """The pixel measures of the picture, where they were asked for and it could be used."""
    scale: ScaleDecision | None = None
    """The scale it was read at, where that was to be decided."""


class Wanted(NamedTuple):
    """What is wanted of every file besides its bag."""

    quality: bool = False
    """The pixel measures."""
    scale: bool = False
    """To decide the scale to read it at; else it is that of the file, or the generator's own."""
    microns_per_pixel: float | None = None
    """The scale by hand."""


BAGS_ONLY = Wanted()


def outcome_of(name: str, params: dict[str, Any], wanted: Wanted, path: AnyPath) -> BagOrRefusal:
    """Load one picture and make its bag; measure the same pixels too where that is asked for."""
    try:
        image = load(path)
        scale = decide_scale(image, wanted.microns_per_pixel) if wanted.scale else None
        image = image if scale is None else scale.apply_to(image)
        quality = measure_for(name, image) if wanted.quality else None
        return BagOrRefusal(generate(name, image, **params), image.notes, quality, scale)
    except InputError as refusal:
        return BagOrRefusal(refusal)


def generate_many(
    name: str,
    paths: Iterable[AnyPath],
    workers: int | None = None,
    progress: Progress | None = None,
    **params: Any,
) -> Iterator[tuple[AnyPath, Bag | InputError]]:
    """Yield (path, bag) for every file in the order given; a file that can't be used gives (path, reason).

    `workers` is the number of processes: by default as many as there are cores, or none for a few files; 1 works in
    this process, and so does a generator whose function other processes can't import by its name.
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
    *,
    wanted: Wanted = BAGS_ONLY,
    **params: Any,
) -> Iterator[tuple[AnyPath, BagOrRefusal]]:
    """`generate_many` with what the loader noted on each picture, and what else is wanted."""
    files = paths if isinstance(paths, Sequence) else list(paths)
    count = 1 if workers is None and len(files) < _FEW_FILES else number_of_workers(workers, len(files))
    blank = TissueImage.from_array(np.full((64, 64, 3), 255, np.uint8))
    recipe = recipe_of(name)
    generate(name, blank, **params)  # a blank picture tells whether the name and the parameters are right

    def counted() -> Iterator[tuple[AnyPath, BagOrRefusal]]:
        if recipe is None or count == 1:
            stream = _one_by_one(partial(outcome_of, name, params, wanted), files)
        else:
            job = (recipe, params, wanted)
            died = BagOrRefusal(crashed())
            stream = in_processes(_outcome_elsewhere, files, count, shared=job, ahead=_AHEAD, at_death=lambda _: died)
        for done, (file, outcome) in enumerate(stream, start=1):
            if progress is not None:
                progress(done, len(files))
            yield file, outcome

    return counted()


def _one_by_one(
    make: Callable[[AnyPath], BagOrRefusal], files: Iterable[AnyPath]
) -> Iterator[tuple[AnyPath, BagOrRefusal]]:
    """The outcomes made in this process. The matrices are small: a second BLAS thread costs more than it helps."""
    libraries = ThreadpoolController()
    for file in files:
        with libraries.limit(limits=1, user_api="blas"):
            outcome = make(file)
        yield file, outcome


def _outcome_elsewhere(recipe: Generator, params: dict[str, Any], wanted: Wanted, path: AnyPath) -> BagOrRefusal:
    """`outcome_of` in a process that may not know the generator yet."""
    return outcome_of(register_again(recipe), params, wanted, path)


def crashed() -> InputError:
    """The sentence for a file that ended the process that read it."""
    return InputError("Reading this file stopped the program that reads it.", "Export it again as PNG.")


class BagArchive:
    """Collects bags of one generator and the files that gave none, and writes them all at once."""

    def __init__(self, path: Path) -> None:
        bag_file.check_out(path)  # before the work begins, not after
        self._path = path
        self._made: list[tuple[str, str, np.ndarray, np.ndarray]] = []
        self._failed: list[tuple[str, str]] = []
        self._about: dict[str, Any] = {}

    def add(self, file: AnyPath, result: Bag | InputError) -> None:
        """Take in what became of a file. Regions are kept as boxes alone, so that thousands of bags fit."""
        if isinstance(result, InputError):
            self._failed.append((os.fspath(file), str(result)))
            return
        boxes = np.array([result.regions.box(i) for i in range(len(result))], dtype=np.int64)
        self._made.append((os.fspath(file), result.image_sha256, result.features, boxes))
        self._about = {name: getattr(result, name) for name in ("generator", "params", "feature_names")}

    def save(self) -> None:
        """Write the file."""
        names, digests, features, boxes = zip(*self._made, strict=True) if self._made else ((), (), (), ())
        failed, reasons = zip(*self._failed, strict=True) if self._failed else ((), ())
        content = bag_file.BagFile(
            instances=np.concatenate(features or [np.zeros((0, 0), np.float32)]),
            offsets=np.cumsum([0, *map(len, features)], dtype=np.int64),
            boxes=np.concatenate(boxes or [np.zeros((0, 4), np.int64)]),
            names=names,
            image_sha256=digests,
            failed=failed,
            reasons=reasons,
            **self._about,
        )
        bag_file.write(self._path, content)
