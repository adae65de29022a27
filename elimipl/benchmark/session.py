"""A run of the benchmark: which splits are to do, in which order, and what is noted as they end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bag_generators.errors import InputError
from elimipl.benchmark.cells import Cell
from elimipl.benchmark.records import Records
from elimipl.benchmark.settings import settings_of
from elimipl.benchmark.sources import Shelf
from elimipl.benchmark.tasks import Outcome, Task, run_tasks
from elimipl.methods import METHODS
from elimipl.settings import Settings


def to_do(cells: Sequence[Cell], splits: int, records: Records) -> list[tuple[Cell, int]]:
    """The splits that are not finished: split 0 of every cell before split 1 of any, cheap cells first.

    Cells with the same bags follow each other.
    """
    left = [(cell, index) for cell in cells for index in range(splits) if index not in records.finished(cell)]
    return sorted(left, key=lambda todo: (todo[1], todo[0].cost, todo[0].data, todo[0].r))


def config_of(cell: Cell) -> Settings:
    """The settings of a cell; split i adds i to the seed."""
    config: Settings = METHODS[cell.method].config(**settings_of(cell))
    return config


@dataclass
class Session:
    """Runs splits and notes them; whatever goes wrong becomes a sentence in `problems` and stops nothing else."""

    records: Records
    shelf: Shelf
    workers: int = 1
    device: str = "cpu"
    problems: list[str] = field(default_factory=list)

    def run(self, todo: Sequence[tuple[Cell, int]]) -> Iterator[tuple[Task, Outcome]]:
        """Each split as it ends, noted already."""
        for task, outcome in run_tasks(self._tasks(todo), self.workers):
            if outcome.split is None:
                self.records.add_failure(task.cell, task.config, task.bags, task.index, outcome.failure)
                self.problems.append(f"{task.cell.name}, split {task.index}: {outcome.failure}")
            else:
                self.records.add(task.cell, task.config, task.bags, task.index, outcome.split)
            yield task, outcome

    def _tasks(self, todo: Sequence[tuple[Cell, int]]) -> Iterator[Task]:
        left_out: set[Cell] = set()
        for cell, index in todo:
            if cell in left_out:
                continue
            try:
                config, bags = config_of(cell), self.shelf.bags_of(cell)
                self.records.check(cell, config, bags.described)
            except InputError as error:
                left_out.add(cell)
                self.problems.append(f"{cell.name} is left out. {error}")
                continue
            if index < len(bags.splits):
                yield Task(cell, index, config, *bags.parts(index), bags.described, self.device)
