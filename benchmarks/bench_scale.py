"""Time and memory from a thousand to a hundred thousand tiles and bags: `python benchmarks/bench_scale.py`.

Tiles: `python -m elimipl bags` over hard links of tiles (real ones where there are some), with a cheap generator, so
that everything around it is measured: in one process, in the pool, again when nothing is missing, and on a local Dask
cluster; the starting of processes is part of the time. Bags of 25 × 128: written as a folder of shards, opened, read in
order and shuffled. Training on such shards: memory and seconds per epoch, with one process and two of torchrun; and
what bfloat16 products (`--amp`) do to the accuracy. Time must grow no faster than the number, and memory must not grow:
a tile is a name, a key and a place in the index.

`--tiles 1000 --bags 1000 --training` is the smallest; `--bags 1000000` writes 13 GB, `--training 100000` takes
minutes. Prints tables, writes `results/scale.json`; docs/scale.md says what was found.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from bag_generators.base.pool import in_processes
from bag_generators.base.storage import read_tensors
from bag_generators.tissue.phantom import PHANTOM_KINDS, draw
from benchmarks.bench_training import made_bags
from benchmarks.measuring import DATA, MACHINE, ROOT, earlier, peak_memory, write
from elimipl import BagDataset, Config, fit
from elimipl.candidates.labels import TISSUE7
from elimipl.datasets.dataset import save_pieces
from elimipl.training.splits import stratified_splits

REAL = DATA / "tissue7" / "train"
WAYS = {"one process": ["--workers", "1"], "pool": [], "again": [], "Dask local": ["--scheduler", "local"]}
INSTANCES, FEATURES, HIDDEN = 25, 128, 512
_PIECE, _BATCH = 1000, 128  # bags
_DRAWN = 30  # different tiles of each kind
_EPOCHS = 3  # the quickest of them counts, so that other work on the machine matters less
_SMALLEST = 100  # bags of the training whose memory is that of the program itself


def measure_tiles(sizes: Sequence[int], generator: str, scratch: Path) -> Iterator[dict[str, Any]]:
    """One row for each size and way; all ways must give the same data set."""
    tiles = []
    for number, path in enumerate(sorted(REAL.glob("*/*.*"))):
        tiles.append((path.parent.name, scratch / f"{number}{path.suffix}"))
        shutil.copyfile(path, tiles[-1][1])  # where links can be made
    for kind, number in () if tiles else product(PHANTOM_KINDS, range(_DRAWN)):
        tiles.append((kind, scratch / f"{kind}{number}.png"))
        cv2.imwrite(str(tiles[-1][1]), draw(kind, number, 224, 0.9).pixels[..., ::-1])
    for count in sizes:
        folder, out, contents = scratch / f"tiles{count}", scratch / "bags.shards", set()
        for number in range(count):
            kind, tile = tiles[number % len(tiles)]
            (folder / kind).mkdir(parents=True, exist_ok=True)
            os.link(tile, folder / kind / f"{number:07}{tile.suffix}")
        for way, how in WAYS.items():
            if way != "again":
                shutil.rmtree(out, ignore_errors=True)
            command = ["-m", "elimipl", "bags", folder, "--generator", generator, "--out", out, "--quiet", *how]
            yield {"what": "tiles", "way": way, "count": count, **_run(command)}
            contents.add((out / "index.safetensors").read_bytes())
        if len(contents) != 1:
            raise SystemExit("the ways gave different data sets")
        shutil.rmtree(folder)
        shutil.rmtree(out)


def measure_bags(sizes: Sequence[int], scratch: Path) -> Iterator[dict[str, Any]]:
    """One row for each size and step; every size in a process of its own."""
    for count in sizes:
        folder = scratch / "made.shards"
        with peak_memory(os.getpid()) as memory:
            ((_, seconds),) = in_processes(write_and_read, [count], 1, shared=(folder,))
        for step, taken in seconds.items():
            about = {"seconds": taken, "memory": memory.highest, "own": memory.own}
            yield {"what": "bags", "way": step, "count": count, **about}
        shutil.rmtree(folder)


def made_pieces(bags: int) -> Iterator[BagDataset]:
    """Seeded normal numbers with a known class each, a thousand bags at a time; one instance carries the class."""
    centres = np.random.default_rng(0).normal(0, 1, (len(TISSUE7), FEATURES)).astype(np.float32)
    for start in range(0, bags, _PIECE):
        count = min(_PIECE, bags - start)
        rng = np.random.default_rng(start)
        labels = rng.integers(0, len(TISSUE7), count)
        instances = rng.standard_normal((count * INSTANCES, FEATURES), np.float32)
        instances[::INSTANCES] += centres[labels]
        yield BagDataset(
            instances,
            np.arange(count + 1) * INSTANCES,
            labels[:, None] == np.arange(len(TISSUE7)),
            labels,
            TISSUE7,
            generator="made",
            names=tuple(f"made/{i:07}.png" for i in range(start, start + count)),
        )


def write_and_read(folder: Path, bags: int) -> dict[str, float]:
    """Seconds to write the bags, to open them, to read all in order, and to read all in batches of a random order."""
    times = [time.perf_counter()]
    save_pieces(folder, made_pieces(bags))
    times.append(time.perf_counter())
    dataset = BagDataset.load(folder)
    times.append(time.perf_counter())
    for start in range(0, len(dataset.instances), _PIECE * INSTANCES):
        dataset.instances[start : start + _PIECE * INSTANCES].sum(dtype=np.float64)
    times.append(time.perf_counter())
    order = np.random.default_rng(0).permutation(bags)
    for start in range(0, bags, _BATCH):
        dataset.gather(order[start : start + _BATCH]).sum(dtype=np.float64)
    times.append(time.perf_counter())
    return dict(zip(("write", "open", "in order", "shuffled"), (b - a for a, b in pairwise(times)), strict=True))


def measure_training(sizes: Sequence[int], scratch: Path) -> dict[str, Any]:
    """Seconds per epoch and memory beyond the program's own, as multiples of the instances of an epoch."""
    own, found = _train(_SMALLEST, scratch)["memory"], {}
    for count in sizes:
        taken, instances = _train(count, scratch), count * INSTANCES * FEATURES * 4
        found[str(count)] = {**taken, "times_instances": round((taken["memory"] - own) / instances, 2)}
        print(f"{count:>9,} bags to train on: {found[str(count)]}", flush=True)
    two = _train(sizes[0], scratch, 2)["seconds_per_epoch"]
    by_processes = {"1": found[str(sizes[0])]["seconds_per_epoch"], "2": two}
    print(f"seconds per epoch on {sizes[0]:,} bags by processes: {by_processes}")
    return {"program": own, "bags": found, "processes": by_processes, "accuracy": accuracy_with_bfloat16()}


def _train(count: int, scratch: Path, processes: int = 1) -> dict[str, float]:
    shards, checkpoint = scratch / f"{count}.shards", scratch / f"{count}.{processes}"
    if not shards.exists():
        save_pieces(shards, made_pieces(count))
    several = ["-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={processes}"]
    command = [
        *(several if processes > 1 else ()),
        "-m", "elimipl", "train", shards, "--out", scratch / "models", "--held-out", "0", "--quiet",
        "--epochs", _EPOCHS, "--hidden", HIDDEN, "--device", "cpu", "--checkpoint", checkpoint,
    ]  # fmt: skip
    memory = _run(command, OMP_NUM_THREADS="1")["memory"]
    history = read_tensors(checkpoint, "elimipl.checkpoint", str(checkpoint))[1]["history"]
    return {"seconds_per_epoch": round(min(epoch["seconds"] for epoch in history), 2), "memory": memory}


def accuracy_with_bfloat16(epochs: int = 30, seeds: Sequence[int] = (0, 1, 2)) -> dict[str, list[float]]:
    """Test accuracy on 30 % of 7,000 made-up bags, trained with float32 and with bfloat16 products."""
    dataset = made_bags()
    found: dict[str, list[float]] = {"float32": [], "bfloat16": []}
    for seed in seeds:
        train, test = stratified_splits(dataset.labels, 1, seed=seed)[0]
        for name, accuracies in found.items():
            config = Config.preset("default", hidden=128, epochs=epochs, seed=seed, amp=name == "bfloat16")
            said = fit(dataset.subset(train), config, device="cpu").predict(dataset.subset(test))
            accuracies.append(round(float((said.probabilities.argmax(axis=1) == dataset.labels[test]).mean()), 4))
    return found


def _run(command: Sequence[object], **variables: str) -> dict[str, Any]:
    """Seconds and memory of a command of Python's, from its start to its end."""
    words, began = [sys.executable, *map(str, command)], time.perf_counter()
    around = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    with (
        subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL, env=around) as run,
        peak_memory(run.pid) as memory,
    ):
        code = run.wait()
    if code:
        raise SystemExit(f"{' '.join(words)} ended with exit code {code}")
    return {"seconds": time.perf_counter() - began, "memory": memory.highest, "own": memory.own}


def growth(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each way: the steepest growth of the time of one from a size to the next, and bytes for another one."""
    found = []
    for what, way in dict.fromkeys((row["what"], row["way"]) for row in rows):
        mine = [row for row in rows if (row["what"], row["way"]) == (what, way)]
        each = [row["seconds"] / row["count"] for row in mine if row["seconds"] >= 1]  # less says nothing about growth
        steepest = max((round(after / before, 3) for before, after in pairwise(each)), default=None)
        for_one = (mine[-1]["own"] - mine[0]["own"]) / max(mine[-1]["count"] - mine[0]["count"], 1)
        found.append({"what": what, "way": way, "time_of_one_grows": steepest, "bytes_for_one": round(for_one)})
    return found


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tiles", type=int, nargs="*", default=(1_000, 10_000, 100_000), metavar="N")
    parser.add_argument("--bags", type=int, nargs="*", default=(1_000, 10_000, 100_000), metavar="N")
    parser.add_argument("--training", type=int, nargs="*", default=(1_000, 10_000), metavar="N")
    parser.add_argument("--generator", default="row")
    args = parser.parse_args()
    kept = earlier("scale")
    with tempfile.TemporaryDirectory() as name:
        scratch, rows = Path(name), []
        for measured in (measure_tiles(args.tiles, args.generator, scratch), measure_bags(args.bags, scratch)):
            for row in measured:
                rows.append(row)
                print(
                    f"{row['count']:>9,} {row['what']:<6}{row['way']:<12}{row['seconds']:>9.1f} s"
                    f"{row['count'] / row['seconds']:>11,.0f} per second{row['memory'] / 1e6:>9,.0f} MB, "
                    f"{row['own'] / 1e6:,.0f} without files",
                    flush=True,
                )
        if args.training:
            kept["training"] = measure_training(args.training, scratch)
    tiles = "real" if REAL.is_dir() else "drawn"
    kept |= {"machine": MACHINE, "generator": args.generator, "tiles": tiles, "rows": rows, "growth": growth(rows)}
    write("scale", kept)


if __name__ == "__main__":
    from benchmarks import bench_scale  # by its name, under which other processes find its functions

    bench_scale.main()
