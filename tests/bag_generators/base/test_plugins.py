"""Registries and the plug-ins of installed packages."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bag_generators.base.errors import InputError
from bag_generators.base.plugins import Registry
from tests.bag_generators import quadrants

ROOT = Path(__file__).resolve().parents[3]


def number(thing):
    if not isinstance(thing, int):
        raise InputError(f"{thing!r} is not a number.", "Give a number.")
    return thing


def test_what_is_registered_follows_the_program_s_own():
    numbers = Registry("number", "elimipl.test_numbers", [("one", 1)], number)
    numbers.register("two", 2)
    assert dict(numbers) == {"one": 1, "two": 2}
    assert numbers.added == ("two",)
    numbers.unregister("two")
    assert "two" not in numbers
    with pytest.raises(InputError, match="No number 'one' was registered"):
        numbers.unregister("one")


@pytest.mark.parametrize(
    ("name", "thing", "sentence"),
    [
        ("one", 3, "There is a number 'one' already"),
        ("three", "3", "'3' is not a number"),
        ("", 3, "'' can't name a number"),
        (3, 3, "3 can't name a number"),
    ],
)
def test_what_can_not_be_registered_is_refused(name, thing, sentence):
    numbers = Registry("number", "elimipl.test_numbers", [("one", 1)], number)
    with pytest.raises(InputError, match=sentence):
        numbers.register(name, thing)
    assert list(numbers) == ["one"]


def installed(folder: Path, name: str, module: str, entries: str) -> dict[str, str]:
    """Surroundings in which a package of one module with these entry points is installed."""
    about = folder / f"{name}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(entries, encoding="utf-8")
    (folder / f"{name}.py").write_text(module, encoding="utf-8")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])}


MODULE = """
from elimipl.methods import network_method
METHOD = network_method("Narrow", "A narrow embedding.", hidden=4)
def pull(energies, candidates, weights):
    return -(weights * energies.log_softmax(1)).sum(1).mean()
"""
ENTRIES = """[elimipl.losses]
pull = brought:pull
broken = brought:nothing_of_that_name
missing = a_package_that_is_gone:loss
nonsense = brought:__name__

[elimipl.methods]
Narrow = brought:METHOD
ELIMIPL = brought:METHOD
"""
SCRIPT = """
import sys, warnings
from elimipl.registries import LOSSES
from elimipl.config import Config
assert not LOSSES._looked
with warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    assert tuple(LOSSES) == ("pull",), tuple(LOSSES)
    from elimipl.methods import METHODS, network_methods
    assert METHODS.added == ("Narrow",)
    assert network_methods()[-1] == "Narrow"
print(Config.preset("default", loss="pull").loss, METHODS["Narrow"].config(hidden=99).hidden)
for warning in heard:
    print(warning.message)
"""


def test_installed_packages_bring_losses_and_methods_and_a_broken_one_stops_nothing(tmp_path):
    surroundings = installed(tmp_path, "brought", MODULE, ENTRIES)
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=surroundings, timeout=120)
    assert run.returncode == 0, run.stderr
    first, *sentences = run.stdout.splitlines()
    assert first == "pull 4"
    assert len(sentences) == 4
    assert all(sentence.endswith("Update or remove it.") for sentence in sentences)
    assert any("The loss 'missing' of the package “brought” is left out: No module named" in line for line in sentences)
    assert any("The loss 'nonsense'" in line and "is not a loss" in line for line in sentences)
    assert any("The method 'ELIMIPL'" in line and "already" in line for line in sentences)


def test_an_installed_package_brings_a_generator_to_the_command_line_and_its_workers(tmp_path):
    source = Path(quadrants.__file__).read_text(encoding="utf-8")
    entries = "[bag_generators.generators]\nquadrants = plugged:GENERATOR\n"
    surroundings = installed(tmp_path, "plugged", source, entries)
    pictures = [str(path) for path in sorted((ROOT / "assets" / "samples").glob("phantom-???.png"))[:5]]

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "elimipl", "bags", "--unlabelled", *arguments]
        return subprocess.run(command, env=surroundings, capture_output=True, text=True, timeout=120, check=False)

    assert "quadrants" in run("--help").stdout
    made = run("--generator", "quadrants", "--workers", "2", *pictures)
    assert made.returncode == 0, made.stderr
    assert made.stdout.count("\n        4         3  ") == 5
