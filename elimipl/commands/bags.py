"""Turn every picture in a folder of class folders (tiles/TUM/a.png) into a bag, and write one data set.

A data set called NAME.shards is a folder that may be larger than memory; run again, it makes only what is missing.
With --scheduler the workers of a Dask cluster make the bags; they are the same, bit for bit.

With --unlabelled: pictures and folders as they come, printed as a table, as --json lines, or written with --out.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from bag_generators import GENERATORS, bag_file, shards
from bag_generators.errors import InputError, printable
from bag_generators.generators.encoder import DEVICE
from elimipl.commands import arguments, unlabelled
from elimipl.data.candidates import Candidates
from elimipl.data.tile_shards import shards_from_tiles
from elimipl.data.tiles import bags_from_tiles, list_tiles
from elimipl.dataset import BagDataset
from elimipl.labels import COLON, LESION5, TISSUE7

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
    chosen = {DEVICE: args.device}
    params = {"stain": args.stain, **arguments.assignments(args.param)}
    if args.unlabelled:
        with _environment(chosen):
            return unlabelled.run(args, params)
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
    with _environment(chosen), arguments.progress_bar(args, len(names), "bags", "picture") as bar:
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
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Variables that this process and those it starts see for a while."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
