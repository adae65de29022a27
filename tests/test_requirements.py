"""What is imported is declared, what is declared is used, and what is pinned is what the ranges allow."""

import ast
import re
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from elimipl import doctor

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
OURS = {"bag_generators", "elimipl", "elimipl_app", "pages", "scripts", "benchmarks", "tests", "fuzz", "examples"}
# The library itself, which openslide-python finds and loads.
LOADED_BY_ANOTHER = {"openslide-bin"}


def declared(lines) -> dict[str, Requirement]:
    found = {canonicalize_name(item.name): item for item in map(Requirement, lines)}
    found.pop("elimipl-pathology", None)
    return found


CORE, APP, DEV, CLUSTER = (
    declared(lines) for lines in (PROJECT["dependencies"], EXTRAS["app"], EXTRAS["dev"], EXTRAS["cluster"])
)


def lines_of(name: str) -> list[str]:
    """Requirements of a file; in a lock a line that ends with a backslash goes on with sums."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return [line.removesuffix(" \\") for line in lines if line[:1].isalnum()]


APP_PINS, DEV_PINS = declared(lines_of("requirements.txt")), declared(lines_of("requirements-dev.txt"))
PINS = APP_PINS | DEV_PINS


owners = cache(packages_distributions)


@cache
def modules_of(path: Path) -> set[str]:
    """The first names of the modules of others that a file imports at any depth."""
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.append(str(node.module))
    return {name.partition(".")[0] for name in names} - OURS - set(sys.stdlib_module_names)


def imported(*folders: str) -> dict[str, set[str]]:
    """Distributions that the files of the folders import at any depth, each with the files that do."""
    found: dict[str, set[str]] = {}
    for path in (path for folder in folders for path in sorted(ROOT.glob(folder))):
        for name in modules_of(path):
            for owner in owners().get(name, [name]):
                found.setdefault(canonicalize_name(owner), set()).add(str(path.relative_to(ROOT)))
    return found


def test_what_the_library_imports_is_a_dependency():
    missing = {name: files for name, files in imported("bag_generators/**/*.py", "elimipl/**/*.py").items()
               if name not in CORE}  # fmt: skip
    assert missing == {name: {"elimipl/cluster/engine.py"} for name in CLUSTER}


def test_what_the_app_imports_is_a_dependency_or_in_its_extra():
    missing = {name: files for name, files in imported("elimipl_app/**/*.py", "pages/*.py", "app.py").items()
               if name not in CORE | APP}  # fmt: skip
    assert missing == {}


def test_what_the_rest_imports_is_for_developers():
    found = imported("tests/**/*.py", "scripts/**/*.py", "benchmarks/*.py", "fuzz/*.py", "examples/*.py")
    optional = {"atheris"}  # of `make fuzz`, where it can be installed
    comes_with_streamlit = {"websockets"}
    missing = {name: files for name, files in found.items() if name not in CORE | APP | DEV | CLUSTER}
    assert missing.keys() <= optional | comes_with_streamlit, missing


def test_nothing_is_asked_for_that_nobody_imports():
    used = imported("bag_generators/**/*.py", "elimipl/**/*.py").keys() | LOADED_BY_ANOTHER
    assert CORE.keys() - used == set()
    assert APP.keys() - imported("elimipl_app/**/*.py", "pages/*.py", "app.py").keys() == set()


def test_every_pinned_version_is_in_its_range():
    for name, asked in (CORE | APP | DEV | CLUSTER).items():
        (pin,) = PINS[name].specifier
        assert pin.operator == "==", name
        assert asked.specifier.contains(pin.version), name


def test_every_pin_is_declared():
    assert APP_PINS.keys() == (CORE | APP).keys()
    assert DEV_PINS.keys() == (DEV | CLUSTER).keys()


def test_the_locks_have_every_pin_with_a_sum_and_name_no_place():
    for name, pins in (("requirements.lock", APP_PINS), ("requirements-dev.lock", PINS)):
        locked = declared(lines_of(name))
        assert pins.items() <= {key: Requirement(f"{one.name}{one.specifier}") for key, one in locked.items()}.items()
        text = (ROOT / name).read_text(encoding="utf-8")
        blocks = [block for block in re.split(r"\n(?=\w)", text) if block]
        assert len(blocks) == len(lines_of(name))
        assert all("--hash=sha256:" in block for block in blocks)
        assert not re.search(r"://|--index|--find-links", text)


def test_the_doctor_knows_what_is_needed_for_what(monkeypatch, tmp_path):
    expected = {**dict.fromkeys(CORE, False), **dict.fromkeys(APP, True)}
    assert {canonicalize_name(name): of_app for name, of_app in doctor.needed_packages().items()} == expected
    known_to_pip = [
        *PROJECT["dependencies"],
        *(f"{line}; extra == '{extra}'" for extra, lines in EXTRAS.items() for line in lines),
    ]
    monkeypatch.setattr(doctor, "requires", lambda name: known_to_pip)
    assert doctor.needed_packages(tmp_path) == doctor.needed_packages()


def test_the_oldest_python_is_said_once():
    oldest = ".".join(map(str, doctor.OLDEST_PYTHON))
    assert PROJECT["requires-python"] == f">={oldest}"
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    assert tools["mypy"]["python_version"] == oldest
    assert tools["ruff"]["target-version"] == f"py{oldest.replace('.', '')}"


def test_the_build_system_is_the_pinned_one():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]
    (needed,) = settings["requires"]
    assert re.fullmatch(r"hatchling==[\d.]+", needed)
    assert str(PINS["hatchling"].specifier) == str(Requirement(needed).specifier)
