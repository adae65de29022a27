"""From a slide to its map: find the tissue, read every tile on all cores, put fields together row by row."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from bag_generators import GENERATORS, InputError, TissueImage, generate
from bag_generators.base.assets import program_version
from bag_generators.base.pool import in_processes, number_of_workers
from bag_generators.base.storage import ForeignFileError, read_tensors, write_tensors, write_whole
from bag_generators.base.threads import one_thread
from bag_generators.base.validation import read_json
from bag_generators.generator import Generator
from bag_generators.registry import recipe_of, register_again
from bag_generators.slide import Slide, open_slide
from bag_generators.slide.folder import files_of
from bag_generators.slide.slide import unreadable
from bag_generators.slide.tissue import BLUR, TissueGrid, is_blurred
from elimipl.answers.predictor import Predictor
from elimipl.slides.fields import FieldLayout, FieldRow, TileReading, read_fields, read_tile
from elimipl.slides.slide_map import About, SlideMap, assembled

TILE = 224
"""Pixels along a side of a tile."""
MICRONS = 0.5
"""The scale of the tiles the models have learned from, µm per pixel, where their generator names no other."""
COARSEST = 1.1
"""µm per pixel of a slide (a 10× objective): beyond, a tile would be mostly made up."""
STORE = "unfinished"
"""Folder of the rows that are done, inside the folder of the map."""

_BLOCK = 4  # tiles a side of what is read at once: neighbours share the pieces in which the file is packed
_CHUNK = 2**20
_ROW_KEY = "elimipl_map_row"

Progress: TypeAlias = Callable[[int, int], object]
Task: TypeAlias = tuple[tuple[int, int], ...]
"""Some tiles of the grid, (row, column) each, those of the uppermost row first."""


class MapStoppedError(Exception):
    """A map was asked to stop before it was done; its finished rows are kept."""


class RowStore:
    """The rows of one map in a folder of their own. Every file is whole or not there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def begin(self, plan: dict[str, Any], resume: bool | None) -> None:
        """Start anew, or go on with the rows of the same slide, model and settings.

        Rows of another plan are refused when they shall be resumed, and removed where `resume` is None, which goes on
        if it can.
        """
        called = "The record of the unfinished map"
        there = self._folder / "plan.json"
        if resume is None:
            with suppress(InputError):
                if read_json(there, called) == plan:
                    return
        elif resume and there.exists():
            if read_json(there, called) != plan:
                raise InputError(
                    "The unfinished map in this folder is of another slide, model or version of the program.",
                    "Choose another folder, or start without --resume.",
                )
            return
        self.remove()
        write_whole(there, json.dumps(plan, ensure_ascii=False, indent=1).encode(), called)

    def save(self, number: int, row: FieldRow, state: np.ndarray) -> None:
        """Keep a finished row of fields with the states of its tiles."""
        tensors = {one.name: getattr(row, one.name) for one in fields(row)}
        write_tensors(self._path(number), {**tensors, "state": state}, _ROW_KEY, {"row": number}, "A row of the map")

    def load(self, number: int) -> tuple[FieldRow, np.ndarray] | None:
        """A finished row and its tiles' states; None where it is missing or damaged, and so has to be made."""
        try:
            tensors, described = read_tensors(self._path(number), _ROW_KEY, f"row {number}")
            state = tensors.pop("state")
            row = FieldRow(**tensors)
        except (InputError, ForeignFileError, KeyError, TypeError):
            return None
        return (row, state) if described == {"row": number} else None

    def remove(self) -> None:
        """Delete everything."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _path(self, number: int) -> Path:
        return self._folder / f"row-{number:05}.safetensors"


@dataclass(frozen=True)
class _Job:
    path: str
    slide_microns: float
    tile_microns: float
    grid: TissueGrid
    predictor: Predictor
    recipe: Generator | None
    layout: FieldLayout


def map_slide(
    slide: Slide,
    predictor: Predictor,
    folder: Path,
    *,
    workers: int | None = None,
    resume: bool | None = False,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
    sha256: str | None = None,
) -> SlideMap:
    """Classify every tissue tile of a slide with `workers` processes (default: as many as there are cores; 1: here).

    Finished rows are kept in a folder inside `folder`, all or nothing: however it ends, `resume` goes on there and
    gives the same map (None: unless what is there is of another one). `sha256` is that of the slide, where it is known.
    `progress(done, total)` counts tiles. When `stop()` says so, `MapStoppedError` is raised.
    """
    card = predictor.card
    if card.generator not in GENERATORS:
        raise InputError(f"There is no generator called {card.generator!r}.", "Choose another model.")
    generator = GENERATORS[card.generator]
    microns = generator.microns_per_pixel or MICRONS
    check_scale(slide)
    layout = FieldLayout.of(generator)
    grid = slide.tissue(TILE, microns)
    about = About.of(slide, predictor, sha256 or sha256_of(slide.path), layout, TILE * microns)
    if not grid.is_tissue.any():
        raise InputError(f"No tissue was found on the slide “{slide.name}”.", "Check the slide and its scale.")
    store = RowStore(folder / STORE)
    plan = {
        **about.plan(),
        "card": card.fingerprint,
        "version": program_version(),
        "fields": [layout.side, layout.step],
    }
    store.begin(plan, resume)

    rows = range(layout.count(grid.rows))
    missing = [number for number in rows if store.load(number) is None]
    job = _Job(str(slide.path), slide.scale(), microns, grid, predictor, recipe_of(card.generator), layout)
    _make_rows(job, missing, store, workers, progress, stop)
    finished = [store.load(number) for number in rows]
    if None in finished:
        raise InputError("A finished row of the map has gone.", "Start it again with --resume.")
    return assembled(about, grid, layout, [row for row in finished if row is not None], predictor)


def check_scale(slide: Slide) -> None:
    """Refuse a slide without a scale, or with one at which the model would see nothing it knows."""
    if slide.scale() > COARSEST:
        raise InputError(
            f"The slide “{slide.name}” has {slide.scale():g} µm per pixel; the models need {MICRONS} and can do with "
            f"{COARSEST}.",
            "Scan it at 10× or more; if the scale in the file is wrong, give the right one.",
        )


def sha256_of(path: Path) -> str:
    """Of a slide of any size; where it is several files, of one after the other."""
    digest = hashlib.sha256()
    try:
        for part in files_of(path):
            with part.open("rb") as file:
                for chunk in iter(partial(file.read, _CHUNK), b""):
                    digest.update(chunk)
    except OSError as error:
        raise InputError(f"The slide “{path.name}” can't be read ({error.strerror}).", "Check the file.") from None
    return digest.hexdigest()


def _make_rows(
    job: _Job,
    missing: list[int],
    store: RowStore,
    workers: int | None,
    progress: Progress | None,
    stop: Callable[[], bool] | None,
) -> None:
    """Make and keep the rows of fields that are missing. The tiles of a few rows of the grid are in memory."""
    grid, layout = job.grid, job.layout
    needed = sorted({row for number in missing for row in layout.tiles(number, grid.rows)})
    total, done = int(grid.is_tissue.sum()), int(grid.is_tissue[[r for r in range(grid.rows) if r not in needed]].sum())
    gathered: dict[int, dict[int, TileReading]] = {row: {} for row in needed}
    state = grid.state.copy()
    waiting = list(missing)

    def keep_rows_before(row: float) -> None:
        """Put together every row of fields whose tiles are all there: those of grid rows before this one."""
        while waiting and layout.tiles(waiting[0], grid.rows)[-1] < row:
            number = waiting.pop(0)
            rows = layout.tiles(number, grid.rows)
            made = read_fields(job.predictor, {one: gathered[one] for one in rows}, grid.columns, layout)
            store.save(number, made, state[rows.start : rows.stop])
            for past in [one for one in gathered if not waiting or one < waiting[0] * layout.step]:
                del gathered[past]

    for task, readings in _readings(job, _tasks(grid, needed), workers):
        keep_rows_before(task[0][0] // _BLOCK * _BLOCK)
        for (row, column), reading in zip(task, readings, strict=True):
            if reading is None:
                state[row, column] = BLUR
            else:
                gathered[row][column] = reading
        done += len(task)
        if progress is not None:
            progress(done, total)
        if stop is not None and stop():
            raise MapStoppedError
    keep_rows_before(np.inf)


def _tasks(grid: TissueGrid, rows: list[int]) -> list[Task]:
    """The tiles of these rows in blocks, from left to right and top to bottom; none spans rows of two bands."""
    blocks: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for row in rows:
        for column in np.flatnonzero(grid.is_tissue[row]).tolist():
            blocks.setdefault((row // _BLOCK, column // _BLOCK), []).append((row, column))
    return [tuple(blocks[place]) for place in sorted(blocks)]


def _readings(job: _Job, tasks: list[Task], workers: int | None) -> Iterator[tuple[Task, list[TileReading | None]]]:
    count = number_of_workers(workers, len(tasks))
    importable = job.recipe is not None and not job.predictor.network.has_own_extractor
    if count == 1 or not importable:
        yield from ((task, read_tiles(job, task)) for task in tasks)
        return

    def died(code: int) -> list[TileReading | None]:
        raise unreadable(job.path, code)

    yield from in_processes(read_tiles_elsewhere, tasks, count, shared=(job,), ahead=2, at_death=died)


def read_tiles_elsewhere(job: _Job, task: Task) -> list[TileReading | None]:
    """`read_tiles` in a process that may not know the generator yet."""
    assert job.recipe is not None
    register_again(job.recipe)
    return read_tiles(job, task, in_this_process=True)


def read_tiles(job: _Job, task: Task, in_this_process: bool = False) -> list[TileReading | None]:
    """What the model says of some tiles; None for one that is out of focus."""
    slide = open_slide(job.path, in_this_process=in_this_process).with_scale(job.slide_microns)
    card = job.predictor.card
    tiles = [slide.region(*job.grid.corner(*place), TILE, job.tile_microns) for place in task]
    sharp = [number for number, pixels in enumerate(tiles) if not is_blurred(pixels)]
    images = [TissueImage.from_array(tiles[number]).at_scale(job.tile_microns, "slide") for number in sharp]
    readings: list[TileReading | None] = [None] * len(tiles)
    with one_thread():
        bags = [generate(card.generator, image, **card.generator_params) for image in images]
    for number, bag in zip(sharp, bags, strict=True):
        job.predictor.check_fits(bag.generator, bag.params, bag.features.shape[1])
        readings[number] = read_tile(job.predictor, bag.features, bag.regions, job.layout)
    return readings
