"""Turn every picture in a folder of class folders (tiles/TUM/a.png) into a bag, and write one data set.

A data set called NAME.shards is a folder that may be larger than memory; run again, it makes only what is missing.
With --scheduler the workers of a Dask cluster make the bags; they are the same, bit for bit.

With --unlabelled: pictures and folders as they come, printed as a table, as --json lines, or written with --out.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from bag_generators import GENERATORS, Bag
from bag_generators.base import bag_file, shards
from bag_generators.base.errors import InputError, printable
from bag_generators.base.formats import extensions
from bag_generators.generators.encoder import DEVICE
from bag_generators.parallel import AnyPath, BagArchive, BagOrRefusal, generate_with_notes
from elimipl.candidates.crowd import Candidates
from elimipl.candidates.labels import COLON, LESION5, TISSUE7
from elimipl.commands import arguments
from elimipl.datasets.dataset import BagDataset
from elimipl.datasets.tile_shards import shards_from_tiles
from elimipl.datasets.tiles import bags_from_tiles, list_tiles

_SPACES = {space.id: space for space in (TISSUE7, LESION5, COLON)}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `bags` asks for."""
    parser.add_argument(
        "paths", type=Path, nargs="+", metavar="FOLDER", help="holds one folder of pictures for each class"
    )
    parser.add_argument("--unlabelled", action="store_true", help="take any pictures and folders of them, no classes")
    summaries = "; ".join(f"{name}: {one.summary}" for name, one in GENERATORS.items()).replace("%", "%%")
    parser.add_argument("--generator", choices=GENERATORS, required=True, help=summaries)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--out", type=Path, metavar="FILE", help="data set to write (.safetensors, or .shards)")
    form.add_argument("--json", action="store_true", help="print a JSON line for each unlabelled picture")
    parser.add_argument("--stain", default="none", help="stain normalisation of the pictures (none is the paper's way)")
    parser.add_argument(
        "--param", action="append", default=[], metavar="NAME=VALUE", help="any other parameter of the generator"
    )
    parser.add_argument("--labels", choices=_SPACES, help="label space (unless given, the one the folder names fit)")
    parser.add_argument("--source", default="", help="where the pictures come from, for the model card")
    parser.add_argument("--licence", default="", help="licence of the pictures, for the model card")
    parser.add_argument("--workers", type=int, help="processes (unless given, as many as there are cores)")
    parser.add_argument(
        "--device", default="auto", help="where a network reads pictures: auto (a GPU if any), cpu, cuda"
    )
    arguments.add_scheduler(parser)
    arguments.add_candidates(parser)
    arguments.add_quiet(parser)


def run(args: argparse.Namespace) -> int:
    """Build and write the data set; pictures that can't be used are named and left out (exit code 1)."""
    params = {"stain": args.stain, **arguments.assignments(args.param)}
    if args.unlabelled:
        with _environment(DEVICE, args.device):
            return _run_unlabelled(args, params)
    if args.out is None or len(args.paths) != 1:
        raise InputError(
            "Labelled bags are made of one folder of class folders and need a file.",
            "Name the folder and the file after --out, or add --unlabelled.",
        )
    (args.folder,) = args.paths
    (shards if args.out.suffix == shards.SUFFIX else bag_file).check_out(args.out)
    label_space = _SPACES.get(args.labels)
    names, labels, space = list_tiles(args.folder, label_space)
    candidates = arguments.candidates_from(args)
    candidates.drawn_around(np.array(labels), space)  # refuses what can't be drawn before any bag is made
    began, made = time.perf_counter(), len(names)
    with _environment(DEVICE, args.device), arguments.progress_bar(args, len(names), "bags", "picture") as bar:
        wanted: dict[str, Any] = {
            "label_space": label_space,
            "workers": args.workers,
            "progress": lambda done, _total: bar.update(done - bar.n),
            "source": args.source,
            "licence": args.licence,
            **params,
        }
        del names, labels  # of a million pictures they are a hundred megabytes
        if args.out.suffix == shards.SUFFIX or args.scheduler is not None:
            dataset, refused, made = _in_parts(args, candidates, wanted)
        else:
            built = bags_from_tiles(args.folder, args.generator, **wanted)
            dataset = candidates.given_to(built.dataset)
            dataset.save(args.out)
            refused = [(str(path), error) for path, error in built.refused]
    for name, error in refused:
        print(f"{printable(name)}: {error}", file=sys.stderr)
    average, seconds = dataset.candidates.sum(axis=1).mean(), time.perf_counter() - began
    print(f"{printable(str(args.out))}: {dataset}, candidate sets of {average:.2f} labels on average.")
    print(f"{made:,} pictures read in {seconds:.1f} s, {made / seconds:.1f} a second.")
    return 1 if refused else 0


def _in_parts(
    args: argparse.Namespace, candidates: Candidates, wanted: dict[str, Any]
) -> tuple[BagDataset, list[tuple[str, InputError]], int]:
    """The data set as a folder of shards, which becomes one file at the end where a file was asked for.

    Also the pictures that gave none, and how many had to be read.
    """
    is_folder = args.out.suffix == shards.SUFFIX
    folder = args.out if is_folder else args.out.with_name(f"{args.out.name}{shards.SUFFIX}")
    built = shards_from_tiles(
        args.folder, folder, args.generator, candidates=candidates, scheduler=args.scheduler, **wanted
    )
    if not is_folder:
        built.dataset.save(args.out)
        shutil.rmtree(folder)
    return built.dataset, [(str(args.folder / name), error) for name, error in built.refused], built.looked_at


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    """A variable that this process and those it starts see for a while."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        os.environ.pop(name) if before is None else os.environ.update({name: before})


def _run_unlabelled(args: argparse.Namespace, params: dict[str, Any]) -> int:
    """A table, JSON lines or one file of the bags of pictures that nobody has labelled."""
    files = list(_pictures(args.paths))
    archive = BagArchive(args.out) if args.out else None
    outcomes = generate_with_notes(args.generator, files, args.workers, **params)
    if not (archive or args.json):
        print("instances  features  file")
    failed = 0
    with arguments.progress_bar(args, len(files), "bags", "picture") as bar:
        for file, outcome in outcomes:
            failed += isinstance(outcome.result, InputError)
            bar.update()
            if archive:
                archive.add(file, outcome.result)
                continue
            with bar.external_write_mode() if sys.stdout.isatty() else nullcontext():
                print(_json_line(file, outcome) if args.json else _table_row(file, outcome), flush=True)
    if archive:
        archive.save()
        print(f"{len(files) - failed} bags are in {printable(str(args.out))}.", file=sys.stderr)
    if failed:
        print(f"{failed} of {len(files)} files could not be used.", file=sys.stderr)
    return 1 if failed else 0


def _pictures(paths: list[Path]) -> Iterator[Path]:
    """The files as given, and the pictures below the folders in the order of their names."""
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        found = sorted(file for file in path.rglob("[!.]*") if file.suffix.lower() in extensions() and file.is_file())
        if not found:
            raise InputError(f"There is no picture in the folder “{printable(str(path))}”.", "Name another folder.")
        yield from found


def _json_line(file: AnyPath, outcome: BagOrRefusal) -> str:
    said: dict[str, Any] = {"file": str(file)}
    result = outcome.result
    if isinstance(result, Bag):
        height, width = result.regions.shape
        said |= {
            "generator": result.generator,
            "params": dict(result.params),
            "image": {"width": width, "height": height, "sha256": result.image_sha256},
            "n": len(result),
            "d": len(result.feature_names),
            # nine digits give every float32 back exactly
            "features": [[float(f"{value:.9g}") for value in instance] for instance in result.features.tolist()],
            "boxes": [result.regions.box(i) for i in range(len(result))],
            "notes": outcome.notes,
        }
    else:
        said["error"] = {"what": result.what, "fix": result.fix}
    return json.dumps(said)


def _table_row(file: AnyPath, outcome: BagOrRefusal) -> str:
    result = outcome.result
    if isinstance(result, Bag):
        n, d, remarks = str(len(result)), str(len(result.feature_names)), outcome.notes
    else:
        n, d, remarks = "–", "–", (str(result),)
    return f"{n:>9}  {d:>8}  {'  '.join([printable(str(file)), *remarks])}"
