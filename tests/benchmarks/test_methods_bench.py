"""The benchmark of the methods: it measures what it says, with made-up runs and with a real one."""

import pytest

from benchmarks import bench_methods
from benchmarks.bench_methods import exponent, measure, times_elimipl
from benchmarks.bench_training import made_bags
from elimipl.benchmark.tasks import Outcome, run_task
from elimipl.methods import METHODS


def test_the_exponent_is_the_slope_of_the_logarithms():
    assert exponent({500: {"cpu_seconds": 1.0}, 1000: {"cpu_seconds": 4.0}, 2000: {"cpu_seconds": 16.0}}) == 2.0
    assert exponent({500: {"cpu_seconds": 1.0}, 1000: {"failed": "Memory ran out."}}) is None


def test_times_are_in_units_of_elimipl():
    runs = {"CE": {"cpu_seconds": 3.0}, "ELIMIPL": {"cpu_seconds": 2.0}, "RC-Mean": {"failed": "Memory ran out."}}
    compared = times_elimipl(runs)
    assert (compared["CE"]["times_elimipl"], compared["ELIMIPL"]["times_elimipl"]) == (1.5, 1.0)
    assert compared["RC-Mean"] == {"failed": "Memory ran out."}


def test_every_method_is_measured_on_the_same_bags_at_every_size(monkeypatch: pytest.MonkeyPatch):
    seen = []

    def here(tasks, workers):
        for task in tasks:
            seen.append((task.cell.method, len(task.train), len(task.test)))
            small = task.config.replace(epochs=1)
            yield task, Outcome(run_task(type(task)(task.cell, 0, small, task.train, task.test, task.bags)))

    monkeypatch.setattr(bench_methods, "run_tasks", here)
    found = measure(made_bags(), ("ELIMIPL", "RC-Mean"), (70, 140))
    assert seen == [("ELIMIPL", 49, 21), ("RC-Mean", 49, 21), ("ELIMIPL", 98, 42), ("RC-Mean", 98, 42)]
    assert all(run["cpu_seconds"] > 0 and run["added_mb"] >= 0 for runs in found.values() for run in runs.values())


def test_methods_of_every_kind_grow():
    assert set(bench_methods.GROWING) <= set(METHODS)
    assert {METHODS[name].family for name in bench_methods.GROWING} == {"MIPL", "PLL"}
