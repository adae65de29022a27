"""A folder of slides through a model: one after the other on all cores, or one on each worker of a cluster.

The map of a slide lies in a folder with the slide's name. A slide is known by the hash of its content and of the model:
a finished map is not made again, a stopped one goes on, and a copy of a slide under another name is not mapped twice.
"""

from __future__ import annotations

import json
import os
import socket
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from bag_generators.base.errors import InputError
from bag_generators.base.storage import only_writer, write_whole
from bag_generators.base.validation import Record, Sha256, Whole, plain, read_json, validated
from bag_generators.generator import Generator
from bag_generators.registry import recipe_of, register_again
from bag_generators.slide import Slide, at_decided_scale, open_slide
from bag_generators.slide.folder import files_of, list_slides
from bag_generators.slide.slide import unreadable
from elimipl.answers.predictor import Predictor
from elimipl.cluster.engine import LostTaskError, connected, on_cluster
from elimipl.slides.exports import NOTICE, SUMMARY, write_map
from elimipl.slides.mapping import STORE, RowStore, map_slide, sha256_of
from elimipl.slides.slide_map import SlideMap

LIST = "summary.md"
_RECORDS = ".slides"
"""Folder inside that of the maps: the hash of every slide, and which name each content was mapped under."""


@dataclass(frozen=True)
class FolderJob:
    """Which slides, which model, where to."""

    folder: Path
    out: Path
    model: str
    models: Path | None = None
    """Folder of the model; None for those that ship."""
    microns_per_pixel: float | None = None
    """The scale of all slides, where their files say none or a wrong one."""
    workers: int | None = None
    """Processes for one slide."""
    model_sha256: str = ""
    recipe: Generator | None = None
    """The model's generator, for processes that may not know it."""


@dataclass(frozen=True)
class SlideLine:
    """What became of one slide: its tissue and the share of each class, or why there is no map of it."""

    name: str
    tissue_mm2: float | None = None
    shares: Mapping[str, float] = field(default_factory=dict)
    note: str = ""
    refused: InputError | None = None

    def __str__(self) -> str:
        if self.refused is not None or self.tissue_mm2 is None:
            return f"{self.name}: {self.refused or self.note}"
        said = [f"{self.tissue_mm2:.3f} mm² of tissue"]
        most = sorted(self.shares, key=lambda one: -self.shares[one])[:3]
        said += [f"{name} {100 * self.shares[name]:.1f} %" for name in most if self.shares[name]]
        return f"{self.name}: {', '.join(said)} ({self.note})."


class _Hash(Record):
    """Of the content of a slide, for as long as its files have this size and time."""

    size: Whole
    mtime_ns: Whole
    sha256: Sha256


def slides_of(folder: Path) -> tuple[str, ...]:
    """The names of all slides in a folder; one without any is refused."""
    if not (names := list_slides(folder, most=None)):
        fix = "Name a folder of slides, or one slide; links in the folder are not followed."
        raise InputError(f"There are no slides in the folder “{folder}”.", fix)
    return names


def map_folder(job: FolderJob, names: tuple[str, ...], scheduler: str | None = None) -> Iterator[SlideLine]:
    """Map the slides called `names` and yield a line for each as it is done; a bad slide is a line with its reason.

    `scheduler` is the address of a Dask scheduler or “local”, with `job.workers` workers. However it ends, finished
    maps and finished rows of maps stay, and the next run goes on with them.
    """
    card = Predictor.load(job.model, job.models).card
    job = replace(
        job,
        folder=job.folder.absolute(),
        out=job.out.absolute(),
        models=job.models and job.models.absolute(),
        model_sha256=card.sha256,
        recipe=recipe_of(card.generator),
    )
    with only_writer(job.out / LIST, "The maps"):
        (job.out / _RECORDS).mkdir(parents=True, exist_ok=True)
        if scheduler is None:
            yield from (map_one(job, name) for name in names)
            return
        with connected(scheduler, job.workers) as client:
            for name, line in on_cluster(client, map_one, names, shared=(replace(job, workers=1),)):
                yield SlideLine(name, refused=unreadable(name, 0)) if isinstance(line, LostTaskError) else line


def map_one(job: FolderJob, name: str) -> SlideLine:
    """Map one slide of the folder, unless there is a map of it; the files of its map are written here."""
    for folder in (job.folder, job.out):
        if not folder.is_dir():
            raise InputError(
                f"The worker on {socket.gethostname()} does not see the folder “{folder}”.",
                "Give every worker the same files under the same paths.",
            )
    if job.recipe is not None:
        register_again(job.recipe)
    predictor = _predictor(job.model, job.models, job.model_sha256)
    began = time.perf_counter()
    try:
        slide, scale = at_decided_scale(open_slide(job.folder / name), job.microns_per_pixel)
        sha256 = _hash_of(job, slide)
        owner = _mapped_under(job, f"{sha256}-{predictor.card.sha256}", name)
        if owner != name:
            return SlideLine(name, note=f"the same slide as {owner}")
        made, note = _finished(job.out / name, slide, sha256, predictor), "mapped before"
        if made is None:
            made = map_slide(slide, predictor, job.out / name, workers=job.workers, resume=None, sha256=sha256)
            write_map(made, slide, job.out / name)
            RowStore(job.out / name / STORE).remove()
            note = f"{time.perf_counter() - began:.0f} s"
    except InputError as refusal:
        return SlideLine(name, refused=refusal)
    except OSError as error:
        why = InputError(f"The slide or its map can't be reached ({error.strerror}).", "Check the files and the disk.")
        return SlideLine(name, refused=why)
    if scale.origin not in ("file", "by hand"):
        note = f"{note}; {scale.origin} scale: {scale.microns_per_pixel:.3g} µm per pixel"
    return SlideLine(name, sum(made.mm2().values()), made.shares(), note)


@lru_cache(maxsize=1)
def _predictor(model: str, models: Path | None, sha256: str) -> Predictor:
    predictor = Predictor.load(model, models)
    if predictor.card.sha256 != sha256:
        raise InputError(
            f"The model “{model}” on {socket.gethostname()} is another one than here.",
            "Install the same versions on every worker, and give models of your own a folder that all of them see.",
        )
    return predictor


def _hash_of(job: FolderJob, slide: Slide) -> str:
    """The hash of a slide, read from its files only where they have changed."""
    facts = [file.stat() for file in files_of(slide.path)]
    size, mtime_ns = sum(one.st_size for one in facts), max(one.st_mtime_ns for one in facts)
    record = job.out / _RECORDS / f"{slide.name}.json"
    with suppress(InputError):
        known = validated(_Hash, read_json(record, "The hash"), "The hash")
        if (known.size, known.mtime_ns) == (size, mtime_ns):
            return known.sha256
    made = _Hash(size=size, mtime_ns=mtime_ns, sha256=sha256_of(slide.path))
    write_whole(record, json.dumps(plain(made)).encode(), "The hash of the slide")
    return made.sha256


def _mapped_under(job: FolderJob, key: str, name: str) -> str:
    """The name under which this content is mapped: ours, unless another slide of the folder has it and was first.

    Two workers may ask at the same time: a link is made by one of them only.
    """
    claim = job.out / _RECORDS / key
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=claim.parent, prefix=".claim") as mine:
        mine.write(name)
        mine.flush()
        with suppress(FileExistsError):
            os.link(mine.name, claim)
    owner = claim.read_text(encoding="utf-8")
    if (job.folder / owner).exists() or (job.out / owner / SUMMARY).exists():
        return owner
    write_whole(claim, name.encode(), "The record of the slide")  # it was renamed before it was mapped
    return name


def _finished(folder: Path, slide: Slide, sha256: str, predictor: Predictor) -> SlideMap | None:
    """The map that is there, if it is whole and of this slide at this scale by this model."""
    if not (folder / SUMMARY).exists():
        return None
    try:
        there = SlideMap.read(folder)
    except InputError:
        return None
    about = there.about
    found = about.slide_sha256, about.model_sha256, about.microns_per_pixel
    return there if found == (sha256, predictor.card.sha256, slide.microns_per_pixel) else None


def summary_of(lines: list[SlideLine], model: str) -> str:
    """All slides as a table in Markdown, in the order of their names."""
    classes = next((tuple(line.shares) for line in lines if line.shares), ())
    head = ["Slide", "Tissue, mm²", *(f"{name}, %" for name in classes), ""]
    rows = [_row(line, classes) for line in sorted(lines, key=lambda one: one.name)]
    table = [head, ["---", *["---:"] * (1 + len(classes)), "---"], *rows]
    mapped = sum(line.tissue_mm2 is not None for line in lines)
    refused = sum(line.refused is not None for line in lines)
    return "\n".join(
        [
            f"# {len(lines)} slides, model {_escaped(model)}",
            "",
            f"{mapped} have a map, {refused} could not be mapped, {len(lines) - mapped - refused} are copies.",
            NOTICE,
            "",
            *(f"| {' | '.join(cells)} |" for cells in table),
            "",
        ]
    )


def _row(line: SlideLine, classes: tuple[str, ...]) -> list[str]:
    said = _escaped(str(line.refused or line.note))
    if line.tissue_mm2 is None:
        return [_escaped(line.name), "", *[""] * len(classes), said]
    shares = [f"{100 * line.shares.get(name, 0.0):.1f}" for name in classes]
    return [_escaped(line.name), f"{line.tissue_mm2:.3f}", *shares, said]


def _escaped(text: str) -> str:
    """Names are strangers' text: nothing in them is taken for Markdown."""
    return "".join(f"\\{letter}" if letter in "\\`*_{}[]()<>#!|~" else letter for letter in text)
