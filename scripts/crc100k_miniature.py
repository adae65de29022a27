"""Try `make crc100k` on a miniature of the same layout, served by this machine, and extrapolate to the real sets.

    python scripts/crc100k_miniature.py --tiles ../shared/data/tissue7/train --kill

The miniature has the same record, archives, class folders and range requests as the server; tiles come from class
folders, or are drawn. With --kill the recipe is ended with -9 in the middle of every kind of step and started again.
Writes `benchmarks/results/crc100k.json`: what each tile and bag took, and what that makes for the real sets.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path

import cv2

from bag_generators.tissue.phantom import draw
from elimipl.data.fetch import ArchiveSize
from elimipl.data.tiles import find_tiles
from elimipl.labels import TISSUE7
from scripts.crc100k import sizes_of
from scripts.crc100k_recipe.costs import RESULTS, costs_of, expected
from scripts.crc100k_recipe.steps import TEST, TRAINING, Journal, Recipe
from tests.elimipl.data.range_server import Behaviour, serve

ROOT = Path(__file__).resolve().parents[1]
TILE_BYTES = 150_806  # of an uncompressed TIFF of 224×224 px
REAL = {
    TRAINING: ArchiveSize(11_700_000_000, 79_027, 79_027 * TILE_BYTES),
    TEST: ArchiveSize(800_000_000, 4_995, 4_995 * TILE_BYTES),
}
"""The seven classes of the real sets, about; the recipe itself asks the server."""


def main(arguments: Sequence[str] | None = None) -> None:
    args = _parser().parse_args(arguments)
    kills = json.loads(RESULTS.read_text(encoding="utf-8")).get("killed_times", 0)  # of the last trial with --kill
    if args.kill:
        with tempfile.TemporaryDirectory(prefix="crc100k-") as name, served(args, 4) as url:
            kills = kill_in_the_middle(command_of(args, Path(name), url))
            subprocess.run(command_of(args, Path(name), url), cwd=ROOT, env=environment(), check=True)
    folder = Path(tempfile.mkdtemp(prefix="crc100k-"))
    recipe = Recipe(folder, "", args.generators, args.epochs, args.workers, 1)
    with served(args, args.per_class) as url:
        subprocess.run(command_of(args, folder, url), cwd=ROOT, env=environment(), check=True)
        sizes = sizes_of(recipe)
    costs = costs_of(recipe, Journal(folder / "steps.json"), sizes)
    full = Recipe(folder, "", args.generators, args.real_epochs, args.workers, 1)
    real = expected(full, REAL, costs)
    rounded = {name: {kind: round(value, 2) for kind, value in cost.items()} for name, cost in real.items()}
    report = {
        "costs": costs,
        "killed_times": kills,
        "real": {"workers": args.workers, "epochs": args.real_epochs, "steps": rounded},
        "load_average": round(os.getloadavg()[0], 1),
    }
    RESULTS.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(json.dumps(report["real"], indent=2))
    shutil.rmtree(folder)


@contextmanager
def served(args: argparse.Namespace, per_class: int) -> Iterator[str]:
    """The address of a server with both sets."""
    counts = {TRAINING: per_class, TEST: max(2, per_class // 4)}
    files = {
        f"{name}.zip": archive(name, tiles_from(args.tiles, count, seed))
        for seed, (name, count) in enumerate(counts.items())
    }
    with serve(Behaviour(files)) as url:
        yield url


def command_of(args: argparse.Namespace, folder: Path, url: str) -> list[str]:
    """The recipe, as `make crc100k` starts it."""
    command = [sys.executable, "scripts/crc100k.py", "--folder", str(folder), "--url", url]
    asked = "--epochs", str(args.epochs), "--workers", str(args.workers), "--generators", *args.generators
    return [*command, *asked]


def kill_in_the_middle(command: Sequence[str]) -> int:
    """Start the recipe again and again, and end each run with -9 soon after a step of another kind has begun."""
    kills = 0
    for kind in ("bags", "train"):
        with subprocess.Popen(command, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, text=True) as running:
            assert running.stdout is not None
            for line in running.stdout:
                if line.startswith(kind) and line.endswith("…\n"):
                    time.sleep(1)
                    running.kill()
                    kills += 1
                    break
    return kills


def environment() -> dict[str, str]:
    """Of the processes that are started."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}


def tiles_from(folder: Path | None, per_class: int, seed: int) -> Iterator[tuple[str, str, bytes]]:
    """Class, file name and content of `per_class` tiles of each class: of a folder, in turn, or drawn."""
    if folder is None:
        for name in TISSUE7.names:
            for i in range(per_class):
                pixels = draw(name, 1000 * seed + i).pixels
                yield name, f"{name}-{seed}-{i}.tif", as_tiff(pixels[:, :, ::-1])
        return
    paths, labels, space = find_tiles(folder)
    for label, name in enumerate(space.names):
        found = [path for path, own in zip(paths, labels, strict=True) if own == label]
        for i, path in enumerate(islice(cycle(found), seed, seed + per_class)):
            pixels = cv2.imread(str(path))
            pixels[0, 0] = i % 251, i // 251, seed  # no two tiles alike: equal files would be one picture
            yield name, f"{name}-{seed}-{i}.tif", as_tiff(pixels)


def as_tiff(bgr: object) -> bytes:
    """As the tiles of the real sets are: uncompressed TIFF."""
    return cv2.imencode(".tif", bgr, [cv2.IMWRITE_TIFF_COMPRESSION, 1])[1].tobytes()


def archive(dataset: str, tiles: Iterator[tuple[str, str, bytes]]) -> bytes:
    """A zip file laid out as the server's."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as file:
        for name, file_name, tile in tiles:
            file.writestr(f"{dataset}/{name}/{file_name}", tile)
        file.writestr(f"{dataset}/ADI/ADI-0.tif", b"a class that is not asked for")
    return content.getvalue()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tiles", type=Path, help="class folders to take tiles from (default: drawn ones)")
    parser.add_argument("--per-class", type=int, default=40)
    parser.add_argument("--generators", nargs="+", default=["row", "sbn", "kmeansseg", "sift", "deep"])
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--real-epochs", type=int, default=30)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kill", action="store_true", help="end the recipe with -9 now and then")
    return parser


if __name__ == "__main__":
    main()
