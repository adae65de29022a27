"""Bags on the command line: `python -m bag_generators PATH… --generator sbn [--json | --out bags.safetensors]`."""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NoReturn

from tqdm import tqdm

from bag_generators.archive import BagArchive
from bag_generators.bag import Bag
from bag_generators.errors import InputError, printable
from bag_generators.formats import extensions
from bag_generators.parallel import AnyPath, Outcome, generate_with_notes
from bag_generators.registry import GENERATORS

ALL_WENT_WELL, SOME_FAILED, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130


class _SentenceParser(argparse.ArgumentParser):
    """Refuses with one sentence instead of a page of usage. (`elimipl.commands` has its own: it must start alone.)"""

    def error(self, message: str) -> NoReturn:
        self.exit(
            WRONG_USAGE, f"{message[:1].upper()}{message[1:]}. Run “{self.prog} --help” to see what can be given.\n"
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0 all went well, 1 some files failed, 2 it was asked wrongly."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that has no × is no reason to fail
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        if options.list:
            _print_generators()
            return ALL_WENT_WELL
        return _run(options)
    except InputError as error:
        print(error, file=sys.stderr)
        return WRONG_USAGE
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # whoever read our output has gone (`| head`); nothing more can be written there
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return SOME_FAILED


def _parser() -> argparse.ArgumentParser:
    parser = _SentenceParser(
        prog="python -m bag_generators", description="Turn tissue pictures into bags of instances."
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="a picture, or a folder to search for pictures")
    parser.add_argument("--generator", default="sbn", metavar="NAME", help="see --list; sbn unless given")
    parser.add_argument(
        "--workers", type=int, metavar="N", help="processes to use; unless given, as many as there are cores"
    )
    parser.add_argument("--list", action="store_true", help="list the generators")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON line for each file instead of a table")
    form.add_argument("--out", type=Path, metavar="FILE.safetensors", help="write all bags into one file")
    return parser


def _print_generators() -> None:
    for generator in GENERATORS.values():
        print(f"{generator.name:<10} {generator.summary}")


def _run(options: argparse.Namespace) -> int:
    files = list(_pictures(options.paths))
    archive = BagArchive(options.out) if options.out else None
    outcomes = generate_with_notes(options.generator, files, options.workers)
    if not (archive or options.json):
        print("instances  features  file")
    failed = 0
    bar = tqdm(outcomes, total=len(files), unit="file", file=sys.stderr, disable=len(files) < 2)
    for file, outcome in bar:
        failed += isinstance(outcome.result, InputError)
        if archive:
            archive.add(file, outcome.result)
            continue
        with bar.external_write_mode() if sys.stdout.isatty() else nullcontext():
            print(_json_line(file, outcome) if options.json else _table_row(file, outcome), flush=True)
    if archive:
        archive.save()
        print(f"{len(files) - failed} bags are in {printable(str(options.out))}.", file=sys.stderr)
    if failed:
        print(f"{failed} of {len(files)} files could not be used.", file=sys.stderr)
        return SOME_FAILED
    return ALL_WENT_WELL


def _pictures(paths: list[str]) -> Iterator[Path]:
    """The files as given, and the pictures below the folders in the order of their names."""
    if not paths:
        raise InputError("No picture was given.", "Name at least one file or folder; --help tells more.")
    for path in map(Path, paths):
        if not path.is_dir():
            yield path
            continue
        found = sorted(file for file in path.rglob("[!.]*") if file.suffix.lower() in extensions() and file.is_file())
        if not found:
            raise InputError(f"There is no picture in the folder “{printable(str(path))}”.", "Name another folder.")
        yield from found


def _json_line(file: AnyPath, outcome: Outcome) -> str:
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


def _table_row(file: AnyPath, outcome: Outcome) -> str:
    result = outcome.result
    if isinstance(result, Bag):
        n, d, remarks = str(len(result)), str(len(result.feature_names)), outcome.notes
    else:
        n, d, remarks = "–", "–", (str(result),)
    return f"{n:>9}  {d:>8}  {'  '.join([printable(str(file)), *remarks])}"


if __name__ == "__main__":
    sys.exit(main())
