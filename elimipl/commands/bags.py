"""Turn every picture in a folder of class folders (tiles/TUM/a.png) into a bag, and write one data set."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from bag_generators import GENERATORS
from bag_generators.bag_file import check_out
from bag_generators.errors import printable
from elimipl.commands import arguments
from elimipl.data.tiles import bags_from_tiles, find_tiles
from elimipl.labels import LESION5, TISSUE7

_SPACES = {space.id: space for space in (TISSUE7, LESION5)}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `bags` asks for."""
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="holds one folder of pictures for each class")
    parser.add_argument("--generator", choices=GENERATORS, required=True)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="data set to write (.safetensors)")
    parser.add_argument("--stain", default="none", help="stain normalisation of the pictures (none is the paper's way)")
    parser.add_argument(
        "--param", action="append", default=[], metavar="NAME=VALUE", help="any other parameter of the generator"
    )
    parser.add_argument("--labels", choices=_SPACES, help="label space (unless given, the one the folder names fit)")
    parser.add_argument("--source", default="", help="where the pictures come from, for the model card")
    parser.add_argument("--licence", default="", help="licence of the pictures, for the model card")
    parser.add_argument("--workers", type=int, help="processes (unless given, as many as there are cores)")
    arguments.add_candidates(parser)
    arguments.add_quiet(parser)


def run(args: argparse.Namespace) -> int:
    """Build and write the data set; pictures that can't be used are named and left out (exit code 1)."""
    check_out(args.out)
    label_space = _SPACES.get(args.labels)
    paths, labels, space = find_tiles(args.folder, label_space)
    candidates = arguments.candidates_from(args)
    candidates.drawn_around(np.array(labels), space)  # refuses what can't be drawn before any bag is made
    with arguments.progress_bar(args, len(paths), "bags", "picture") as bar:
        built = bags_from_tiles(
            args.folder,
            args.generator,
            label_space=label_space,
            workers=args.workers,
            progress=lambda done, _total: bar.update(done - bar.n),
            source=args.source,
            licence=args.licence,
            **{"stain": args.stain, **arguments.assignments(args.param)},
        )
    dataset = candidates.given_to(built.dataset)
    dataset.save(args.out)
    for path, error in built.refused:
        print(f"{printable(str(path))}: {error}", file=sys.stderr)
    average = dataset.candidates.sum(axis=1).mean()
    print(f"{printable(str(args.out))}: {dataset}, candidate sets of {average:.2f} labels on average.")
    return 1 if built.refused else 0
