"""`bags --unlabelled`: a table, JSON lines or one file of the bags of pictures that nobody has labelled."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from bag_generators import Bag
from bag_generators.archive import BagArchive
from bag_generators.errors import InputError, printable
from bag_generators.formats import extensions
from bag_generators.parallel import AnyPath, Outcome, generate_with_notes
from elimipl.commands import arguments


def run(args: argparse.Namespace, params: dict[str, Any]) -> int:
    """The bags in the form that was asked for; exit code 1 where some pictures gave none."""
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
