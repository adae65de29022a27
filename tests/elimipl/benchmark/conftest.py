"""A benchmark of seconds: a tiny birdsong file, tiny settings, nowhere else to look for data, no processes."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest

from elimipl.benchmark import sources, tasks
from elimipl.benchmark.cells import NETWORKS, Cell
from elimipl.benchmark.tasks import SplitOutcome, Task, run_task
from elimipl.commands import benchmark, main
from elimipl.datasets.benchmark_sets import Recipe

TINY = Recipe(bags_per_class=4, smallest=3, largest=5, average=4)


def tiny_settings(cell: Cell) -> dict[str, object]:
    return {"hidden": 4, "epochs": 2} if cell.method in NETWORKS else {"epochs": 2}


def run_here(tasks: Iterable[Task], workers: int) -> Iterator[tuple[Task, SplitOutcome]]:
    """`run_tasks` without processes."""
    for task in tasks:
        yield task, SplitOutcome(run_task(task))


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a tiny birdsong file."""
    rng = np.random.default_rng(0)
    label = np.r_[np.repeat(np.arange(1, 14), 8), np.full(60, -1)]
    folder = tmp_path / "data"
    (folder / "birdsong").mkdir(parents=True)
    np.savez(folder / "birdsong/hja_birdsong.npz", X=rng.normal(size=(len(label), 3)) + label[:, None], label=label)
    small = {name: source._replace(recipe=TINY) for name, source in sources.SOURCES.items()}
    monkeypatch.setattr(sources, "SOURCES", small)
    monkeypatch.setattr(benchmark, "USUAL_FOLDERS", ())
    monkeypatch.setattr(tasks, "settings_of", tiny_settings)
    monkeypatch.setattr(tasks, "run_tasks", run_here)
    return folder


@pytest.fixture
def run(data: Path, tmp_path: Path) -> Callable[..., int]:
    """The command on the tiny data; results go to the folder `results`."""

    def command(*more: str, results: str = "results") -> int:
        folders = ["--data", str(data), "--results", str(tmp_path / results)]
        return main(["benchmark", *folders, "--workers", "1", "--quiet", *more])

    return command
