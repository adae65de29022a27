"""Map a whole slide: the class of every tile, the area of each class in mm², outlines for QuPath, a report.

Writes map.json, map.geojson, map.csv, map.png, map.safetensors and report.html. Ctrl-C loses nothing: --resume goes on.
Of a folder, every slide is mapped into a folder with its name, and summary.md lists them all. Run again, it goes on
where it was and maps no slide twice; with --scheduler every worker of a Dask cluster maps a slide at a time.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bag_generators.base.errors import InputError, printable
from bag_generators.base.pool import number_of_workers
from bag_generators.base.storage import check_writable, write_whole
from bag_generators.slide import at_decided_scale, open_slide
from bag_generators.slide.folder import dicom_in
from elimipl.answers.predictor import Predictor
from elimipl.commands import STOPPED, arguments
from elimipl.slides import map_slide
from elimipl.slides.exports import SUMMARY, write_map
from elimipl.slides.folder_maps import LIST, FolderJob, map_folder, slides_of, summary_of
from elimipl.slides.mapping import STORE, RowStore


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `map` asks for."""
    parser.add_argument(
        "slide", type=Path, metavar="SLIDE", help="SVS, NDPI, MRXS, CZI, DICOM, TIFF, a picture, or a folder of them"
    )
    arguments.add_model(parser, "the slide")
    parser.add_argument("--out", required=True, type=Path, metavar="FOLDER", help="folder for the files of the map")
    parser.add_argument("--resume", action="store_true", help="go on with a map that was stopped")
    arguments.add_scheduler(parser)
    arguments.add_quiet(parser)


def run(args: argparse.Namespace) -> int:
    """Make the map and say what is on it."""
    if args.out.exists() and not args.out.is_dir():
        raise InputError(f"“{args.out}” is a file.", "Give a folder for the map.")
    if args.slide.is_dir() and dicom_in(args.slide) is None:
        return _run_folder(args)
    if args.scheduler is not None:
        raise InputError("A scheduler maps a folder of slides.", "Name the folder, or leave out --scheduler.")
    predictor = Predictor.load(args.model, args.folder)
    slide, scale = at_decided_scale(open_slide(args.slide), args.microns_per_pixel)
    for note in (*slide.notes, *(() if scale.origin in ("file", "by hand") else (scale.sentence,))):
        print(note, file=sys.stderr)
    check_writable(args.out / SUMMARY, "The map")
    with arguments.progress_bar(args, 0, "map", "tile") as bar:

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        try:
            made = map_slide(slide, predictor, args.out, workers=args.workers, resume=args.resume, progress=progress)
        except KeyboardInterrupt:
            bar.close()
            print("Stopped. The tiles that are done are kept: add --resume to go on.", file=sys.stderr)
            return STOPPED
    write_map(made, slide, args.out)
    RowStore(args.out / STORE).remove()
    areas, shares = made.mm2(), made.shares()
    for name in sorted(areas, key=lambda one: -areas[one]):
        print(f"{printable(name):<24}{areas[name]:>10.3f} mm²{100 * shares[name]:>8.1f} %")
    print(f"Left out: {', '.join(f'{count} tiles of {why}' for why, count in made.left_out.items())}.")
    print(f"Written to {printable(str(args.out))}: map.json, map.geojson, map.csv, map.png, report.html.")
    return 0


def _run_folder(args: argparse.Namespace) -> int:
    """Map every slide of a folder; one that can't be mapped is a line with its reason (exit code 1)."""
    number_of_workers(args.workers, 1)  # refuses a number that makes no sense, before the first slide
    names = slides_of(args.slide)
    check_writable(args.out / LIST, "The maps")
    job = FolderJob(args.slide, args.out, args.model, args.folder, args.microns_per_pixel, args.workers)
    lines = []
    with arguments.progress_bar(args, len(names), "map", "slide") as bar:
        try:
            for line in map_folder(job, names, args.scheduler):
                lines.append(line)
                print(printable(str(line)), flush=True)
                bar.update()
        except KeyboardInterrupt:
            bar.close()
            print("Stopped. The maps and rows that are done are kept: run it again to go on.", file=sys.stderr)
            return STOPPED
    write_whole(args.out / LIST, summary_of(lines, args.model).encode(), "The summary")
    return 1 if any(line.refused is not None for line in lines) else 0
