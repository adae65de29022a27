"""What `pip install .` gives: the wheel, unpacked into a folder of its own and used from another one."""

import importlib.metadata
import json
import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.running_app import end_app, free_port, wait_until_healthy
from tests.support.simulated_visitor import Visitor

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def site(wheel, tmp_path_factory):
    """The folder in which pip has put the wheel, without its dependencies: those of this environment serve."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*command, "--target", str(folder), str(wheel)], check=True, capture_output=True)
    return folder


@pytest.fixture
def run(site, tmp_path):
    """Run Python with the installed package in an empty folder; the checkout is out of sight."""

    def run(*arguments, **more):
        return subprocess.run(
            [sys.executable, "-P", *map(str, arguments)],
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(site)}, capture_output=True, text=True, **more,
        )  # fmt: skip

    return run


def test_nothing_of_ours_lies_loose_in_site_packages(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    top = {name.partition("/")[0] for name in names}
    ours = {"bag_generators", "elimipl", "elimipl_pathology", "elimipl_app"}
    assert {name for name in top if not name.endswith(".dist-info")} == ours
    assert not [name for name in names if "__pycache__" in name or name.startswith("tests/")]


def test_all_that_ships_is_in_the_wheel(site):
    for folder in ("bags", "lessons", "models", "samples", "trajectories"):
        shipped = {path.name: path.read_bytes() for path in (ROOT / "assets" / folder).iterdir() if path.is_file()}
        installed = {path.name: path.read_bytes() for path in (site / "elimipl_pathology/assets" / folder).iterdir()}
        assert installed == shipped
    for path in ("app.py", "assets/icon.png", ".streamlit/config.toml", "benchmarks/results/benchmark.json"):
        assert (site / "elimipl_pathology" / path).read_bytes() == (ROOT / path).read_bytes()
    assert (site / "elimipl_app/explore/report.html.jinja").is_file()
    pages = {path.name for path in (ROOT / "pages").glob("*.py")}
    assert {path.name for path in (site / "elimipl_pathology/pages").glob("*.py")} == pages


def test_every_place_is_found_in_the_installed_folder(run, site, tmp_path):
    program = """
import json
from bag_generators.base.assets import INSTALLED, PROJECT, WORK
from bag_generators.tissue.samples import SAMPLES_FOLDER
from elimipl import doctor
from elimipl.benchmark.records import FILE, RESULTS
from elimipl.benchmark.sources import DataFolders
from elimipl.cards.files import SHIPPED
from elimipl.datasets.shipped import BAGS_FOLDER
from elimipl.training.trajectories import TRAJECTORIES_FOLDER
from elimipl_app.shell.page import ICON
from elimipl_app.lesson.plan import LESSON_FILE
from elimipl_app.lesson.recorded import RECORDED_FILE
found = [PROJECT, SAMPLES_FOLDER, RESULTS / FILE, SHIPPED, BAGS_FOLDER, TRAJECTORIES_FOLDER, ICON, LESSON_FILE,
         RECORDED_FILE]
assert INSTALLED and doctor.INSTALLED and doctor.ROOT == PROJECT
print(json.dumps([str(path) for path in found if path.exists()] + [str(WORK), str(DataFolders().kept)]))
"""
    ended = run("-c", program)
    assert ended.returncode == 0, ended.stderr
    *found, work, kept = json.loads(ended.stdout.splitlines()[-1])
    assert len(found) == 9
    assert all(Path(path).is_relative_to(site / "elimipl_pathology") for path in found)
    assert Path(work) == tmp_path  # nothing is written into what belongs to pip
    assert Path(kept).is_relative_to(tmp_path)


def test_commands_work_from_any_folder(run, site, tmp_path):
    sample = site / "elimipl_pathology/assets/samples/phantom-tum.png"
    said = {
        ("-m", "elimipl", "models"): "colon-deep-elimipl",
        ("-m", "elimipl", "predict", sample): '"label"',
        ("-m", "elimipl", "doctor"): "models are whole and belong to their cards.",
        **{(site / "bin" / name, "--help"): target.partition(".")[0] for name, target in SCRIPTS.items()},
    }
    for words, expected in said.items():
        ended = run(*words)
        assert ended.returncode == 0, (words, ended.stderr)
        assert expected in ended.stdout, words
    assert list(tmp_path.iterdir()) == []


async def test_the_app_starts_from_any_folder_with_the_settings_that_ship(site, tmp_path):
    port, log = free_port(), tmp_path / "log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            [sys.executable, "-P", "-m", "elimipl", "app", "--port", str(port)],
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(site)}, stdout=output, stderr=output,
        )  # fmt: skip
    try:
        wait_until_healthy(f"http://localhost:{port}", server)
        async with Visitor(f"http://localhost:{port}") as visitor:
            await visitor.run()
        assert visitor.usage_reported is False  # Streamlit's own setting is to report
    finally:
        end_app(server)
    events = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines() if line.startswith("{")]
    assert {event["event"]: event["outcome"] for event in events}["predict"] == "ok", events


def declared(distribution: str, extra: str = "") -> set[str]:
    """What pip installs for a distribution that is here, with one of its extras: itself and all that it asks for."""
    found, open_ones = set(), [(distribution, extra)]
    while open_ones:
        name, extras = open_ones.pop()
        found.add(canonicalize_name(name))
        for line in importlib.metadata.requires(name) or ():
            needed = Requirement(line)
            wanted = needed.marker is None or needed.marker.evaluate({"extra": extras})
            if wanted and canonicalize_name(needed.name) not in found and _is_here(needed.name):
                open_ones += [(needed.name, one) for one in ("", *needed.extras)]
    return found


def _is_here(name: str) -> bool:
    try:
        return bool(importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        return False


@pytest.mark.timeout(900)
def test_pages_open_and_files_are_built_with_nothing_but_what_is_declared(run, site, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(site)  # what the wheel asks for, not what the checkout was installed with
    needed = declared("elimipl-pathology", "app")
    assert {"torch", "streamlit"} <= needed
    assert not {"pytest", "ruff", "mapie", "dask"} & needed
    ended = run(ROOT / "tests" / "declared_only.py", json.dumps(sorted(needed)), tmp_path)
    assert ended.returncode == 0, ended.stderr[-3000:]
    assert "built files" in ended.stdout
    assert ended.stdout.count("opened ") == 10


def test_without_the_extra_the_app_says_what_to_install(run):
    program = (
        "import sys; from importlib import util\n"
        "find = util.find_spec; util.find_spec = lambda name: None if name == 'streamlit' else find(name)\n"
        "from elimipl.commands import main; sys.exit(main(['app']))"
    )
    ended = run("-c", program)
    assert ended.returncode == 2
    assert ended.stderr.startswith("The app needs streamlit, which the bare package does without. Install")
    assert ended.stdout == ""
    assert len(ended.stderr.splitlines()) == 1
