"""What `make crc100k` does, step by step: each is a command of the program that goes on where it was stopped."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bag_generators.storage import write_whole
from bag_generators.validation import read_json
from elimipl.commands import main
from elimipl.data.fetch import LICENCE
from elimipl.labels import TISSUE7

TRAINING, TEST = "NCT-CRC-HE-100K", "CRC-VAL-HE-7K"
SEED = 0


@dataclass(frozen=True)
class Recipe:
    """Where everything goes, and what is asked for."""

    folder: Path
    url: str
    generators: Sequence[str]
    epochs: int
    workers: int
    processes: int
    """Of torchrun, for training; 1 does without."""

    def tiles(self, dataset: str) -> Path:
        """The class folders of a set."""
        return self.folder / "tiles" / dataset

    def bags(self, dataset: str, generator: str) -> Path:
        """The bags of a set."""
        return self.folder / "bags" / f"{dataset}-{generator}.shards"

    @property
    def models(self) -> Path:
        """Weights and cards."""
        return self.folder / "models"

    def card(self, generator: str) -> Path:
        """The card of a model."""
        return self.models / f"crc100k-{generator}-elimipl.json"


@dataclass(frozen=True)
class Step:
    """A command with a name; it is done once it has ended without a complaint."""

    name: str
    arguments: tuple[str, ...]
    processes: int = 1

    def run(self) -> int:
        """The exit code: 0 all well, 1 some pictures were refused."""
        if self.processes == 1:
            return main(self.arguments)
        torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={self.processes}"]
        return subprocess.run([*torchrun, "-m", "elimipl", *self.arguments], check=False).returncode


def steps_of(recipe: Recipe) -> Iterator[Step]:
    """Fetch both sets, bags with candidate sets for every generator, a model of each, measured on the test set."""
    for dataset in (TRAINING, TEST):
        where = "--out", str(recipe.tiles(dataset)), "--url", recipe.url, "--classes", *TISSUE7.names
        yield Step(f"fetch {dataset}", ("fetch", dataset, "--whole", *where))
    for generator in recipe.generators:
        for dataset in (TRAINING, TEST):
            made_of = str(recipe.tiles(dataset)), "--generator", generator, "--workers", str(recipe.workers)
            about = "--labels", TISSUE7.id, "--source", dataset, "--licence", LICENCE
            drawn = "--crowd", "--candidate-seed", str(SEED)
            out = "--out", str(recipe.bags(dataset, generator))
            yield Step(f"bags {generator} {dataset}", ("bags", *made_of, *out, *about, *drawn))
    for generator in recipe.generators:
        data = str(recipe.bags(TRAINING, generator)), "--test", str(recipe.bags(TEST, generator)), "--held-out", ".1"
        kept = "--checkpoint", str(recipe.folder / f"{generator}.checkpoint"), "--resume"
        out = "--out", str(recipe.models), "--id", recipe.card(generator).stem
        trained = "--epochs", str(recipe.epochs), "--seed", str(SEED)
        yield Step(f"train {generator}", ("train", *data, *kept, *out, *trained), recipe.processes)


class Journal:
    """Which steps are done and what each took, over all runs, in one JSON file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.steps: dict[str, Any] = dict(read_json(path, "The journal", "Remove it.")) if path.exists() else {}

    def is_done(self, name: str) -> bool:
        """Whether a step has ended."""
        return bool(self.steps.get(name, {}).get("done"))

    def run(self, step: Step) -> int:
        """Run a step and note how it went; what it took is noted even where it fails."""
        began, used = time.perf_counter(), _processor_seconds()
        code = 2
        try:
            code = step.run()
        finally:
            known = self.steps.get(step.name, {"seconds": 0.0, "processor_seconds": 0.0})
            took = {"seconds": time.perf_counter() - began, "processor_seconds": _processor_seconds() - used}
            spent = {kind: round(known[kind] + value, 2) for kind, value in took.items()}
            self.steps[step.name] = {**spent, "done": code in (0, 1)}
            write_whole(self._path, json.dumps(self.steps, indent=2).encode(), "The journal")
        return code


def _processor_seconds() -> float:
    """Of this process and those it has waited for: other work on the machine changes it little."""
    both = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)
