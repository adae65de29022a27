"""What training costs as bags grow beyond memory: `python benchmarks/bench_training_scale.py --bags 1000 10000`.

Three questions, each answered by `python -m elimipl train` in processes of its own, on made-up bags of 25 × 128:
how memory and time grow with bags in shards on disk; what a second process of torchrun saves; what bfloat16 products
(`--amp`) do to the accuracy. Writes `results/training_scale.json`; docs/scale.md says what was
found.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bag_generators.storage import read_tensors
from benchmarks.crc_scale import made_bags
from elimipl import BagDataset, Config, fit
from elimipl.data.crowd import simulate
from elimipl.labels import TISSUE7
from elimipl.training.splits import stratified_splits

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "training_scale.json"
INSTANCES, DIM, HIDDEN = 25, 128, 512
EPOCHS = 3
"""The quickest of them counts, so that other work on the machine matters less."""
AT_MOST = 2.0  # times the instances of one epoch
SMALL_MB = 100  # below this the buffers are larger than the data, and nothing is judged
SMALLEST = 100  # bags of the run whose memory is that of the program itself


def main(arguments: Sequence[str] | None = None) -> None:
    args = _parser().parse_args(arguments)
    kept = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    with tempfile.TemporaryDirectory(prefix="elimipl-scale-", dir=args.folder) as name:
        folder = Path(name)
        empty = _train(_shards(folder, SMALLEST), folder)["peak_mb"]
        kept["program_mb"] = empty
        sizes = kept.setdefault("bags", {})
        for count in args.bags:
            sizes[str(count)] = _measured(_shards(folder, count), folder, count, empty)
            print(count, sizes[str(count)], flush=True)
        middle = _shards(folder, args.bags[0])
        kept["processes"] = {str(n): _train(middle, folder, n)["seconds_an_epoch"] for n in (1, 2)}
        print("seconds an epoch by processes", kept["processes"])
    kept["amp"] = accuracy_with_bfloat16(args.amp_epochs)
    print("amp", kept["amp"])
    kept["settings"] = {"instances": INSTANCES, "dim": DIM, "hidden": HIDDEN, "processes_on": args.bags[0]}
    kept["load_average"] = round(os.getloadavg()[0], 1)
    kept["cores"] = os.cpu_count()
    RESULTS.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")
    for count, found in kept["bags"].items():
        too_much = found["times_working_set"] > AT_MOST and found["working_set_mb"] >= SMALL_MB
        missed = "  MISSED" if too_much else ""
        print(f"{count:>9} bags: {found['times_working_set']} × the instances of an epoch, target {AT_MOST:g}{missed}")


def _shards(folder: Path, count: int) -> Path:
    """Made-up bags in shards on disk."""
    path = folder / f"{count}.shards"
    if path.exists():
        return path
    rng = np.random.default_rng(count)
    labels = np.arange(count) % len(TISSUE7)
    instances = rng.standard_normal((count * INSTANCES, DIM), dtype=np.float32)
    centres = rng.normal(0, 1, (len(TISSUE7), DIM)).astype(np.float32)
    instances[::INSTANCES] += centres[labels]  # one instance of each bag carries the class
    offsets = np.arange(0, count * INSTANCES + 1, INSTANCES)
    candidates = simulate(labels, TISSUE7, seed=0).candidates
    BagDataset(instances, offsets, candidates, labels, TISSUE7, "deep", source="made-up bags").save(path)
    return path


def _measured(shards: Path, folder: Path, count: int, empty: float) -> dict[str, float]:
    working = count * INSTANCES * DIM * 4 / 2**20
    found = _train(shards, folder)
    return {
        "working_set_mb": round(working, 1),
        "times_working_set": round((found["peak_mb"] - empty) / working, 2),
    } | found


def _train(shards: Path, folder: Path, processes: int = 1) -> dict[str, float]:
    """Seconds an epoch, and the largest resident memory, mapped files included, of a training with nothing held out."""
    checkpoint = shards.with_suffix(f".{processes}")
    command = [sys.executable]
    if processes > 1:
        command += ["-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={processes}"]
    command += ["-m", "elimipl", "train", str(shards), "--out", str(folder / "models"), "--held-out", "0", "--quiet"]
    command += ["--epochs", str(EPOCHS), "--hidden", str(HIDDEN), "--device", "cpu", "--checkpoint", str(checkpoint)]
    process = subprocess.Popen(
        command, env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    history = read_tensors(checkpoint, "elimipl.checkpoint", str(checkpoint))[1]["history"]
    seconds = min(epoch["seconds"] for epoch in history)
    return {"seconds_an_epoch": round(seconds, 2), "peak_mb": round(used.ru_maxrss / 1024, 1)}


def accuracy_with_bfloat16(epochs: int, seeds: Sequence[int] = (0, 1, 2)) -> dict[str, Any]:
    """Test accuracy on 30 % of 7,000 made-up bags, trained with float32 and with bfloat16 products."""
    dataset = made_bags()
    found: dict[str, list[float]] = {"float32": [], "bfloat16": []}
    for seed in seeds:
        train, test = stratified_splits(dataset.labels, 1, seed=seed)[0]
        for name, amp in (("float32", False), ("bfloat16", True)):
            config = Config.preset("default", hidden=128, epochs=epochs, seed=seed, amp=amp)
            fitted = fit(dataset.subset(train), config, device="cpu")
            accuracy = fitted.predict(dataset.subset(test)).accuracy(dataset.labels[test])
            assert accuracy is not None
            found[name].append(round(accuracy, 4))
    return {"bags": repr(dataset), "epochs": epochs, "seeds": list(seeds), "accuracy": found}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--bags", type=int, nargs="+", default=[1000, 10000], help="sizes; 100000 takes minutes")
    parser.add_argument("--folder", type=Path, help="for temporary files: 1.3 GB for 100,000 bags")
    parser.add_argument("--amp-epochs", type=int, default=30)
    return parser


if __name__ == "__main__":
    main()
