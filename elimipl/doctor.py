"""Is this computer ready? One line for each thing that can be wrong, with the way to fix it.

Imports nothing but the standard library at the top: the doctor has to work where the rest doesn't.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
import tempfile
import tomllib
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

_BESIDE_THE_PACKAGES = Path(__file__).resolve().parents[1]
# The same answer as bag_generators.base.assets.PROJECT, whose package can't be imported where OpenCV is broken.
ROOT = next(path for path in (_BESIDE_THE_PACKAGES / "elimipl_pathology", _BESIDE_THE_PACKAGES) if path.is_dir())
INSTALLED = ROOT != _BESIDE_THE_PACKAGES
INSTALL = f"Run “python -m pip install -r {ROOT / 'requirements.txt' if INSTALLED else 'requirements.txt'}”."
OLDEST_PYTHON = (3, 11)
LITTLE_SPACE = 1_000_000_000
PASS, WARN, FAIL = "PASS", "WARN", "FAIL"
_IMPORTED = {"torch": "torch", "torchvision": "torchvision", "opencv-python-headless": "cv2"}
_DISTRIBUTION = "elimipl-pathology"
_NAME = re.compile(r"[\w.-]+")
_OF_THE_APP = re.compile(r"extra == ['\"]app['\"]")


@dataclass(frozen=True)
class Check:
    """One finding; `fix` is a sentence on what to do, empty when all is well."""

    status: str
    what: str
    fix: str = ""

    def __str__(self) -> str:
        return f"{self.status}  {self.what} {self.fix}".rstrip()


def examine(models: Path | None = None) -> Iterator[Check]:
    """All findings, one after the other as they come; `models` is the folder of models (default: those that ship)."""
    checks: list[Callable[[], Iterator[Check]]] = [
        check_python,
        check_packages,
        check_opencv_twins,
        check_plug_ins,
        lambda: check_models(models),
        lambda: check_samples(ROOT / "assets" / "samples"),
        lambda: check_space(Path.cwd()),
        lambda: check_space(Path(tempfile.gettempdir())),
        check_device,
        check_cores,
    ]
    for check in checks:
        yield from check()


def check_python(found: tuple[int, ...] = tuple(sys.version_info[:3])) -> Iterator[Check]:
    """The language itself."""
    name = "Python " + ".".join(map(str, found))
    if found >= OLDEST_PYTHON:
        yield Check(PASS, f"{name}.")
    else:
        yield Check(FAIL, f"{name} is too old.", "Install Python 3.11 or newer and make the environment again.")


def needed_packages(root: Path = ROOT) -> dict[str, bool]:
    """What the commands and the app can't do without, by name, and whether only the app needs it; no developers' tools.

    Read from pyproject.toml, or in an installed package from what pip knows of it.
    """
    project = root / "pyproject.toml"
    if project.is_file():
        said = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
        lines = dict.fromkeys(said["dependencies"], False) | dict.fromkeys(said["optional-dependencies"]["app"], True)
    else:
        try:
            declared = requires(_DISTRIBUTION) or []
        except PackageNotFoundError:
            return {}
        lines = {line: "extra ==" in line for line in declared if "extra ==" not in line or _OF_THE_APP.search(line)}
    return {_NAME.match(line)[0]: of_app for line, of_app in lines.items()}  # type: ignore[index]


def check_packages(
    requirements: Path = ROOT / "requirements.txt", needed: Mapping[str, bool] | None = None
) -> Iterator[Check]:
    """Every package that is needed at its pinned version; torch, torchvision and cv2 are really imported."""
    pins = _pins(requirements)
    if not pins:
        yield Check(WARN, "There is no requirements.txt with pinned versions.", "Get the whole project folder.")
    for name, of_app in (needed_packages() if needed is None else needed).items():
        pinned = pins.get(name.lower())
        try:
            found = version(name)
            if name in _IMPORTED:
                import_module(_IMPORTED[name])
        except PackageNotFoundError:
            what = f"The package {name} is not installed."
            yield Check(WARN, what, f"Only “elimipl app” needs it. {INSTALL}") if of_app else Check(FAIL, what, INSTALL)
        except (ImportError, OSError, RuntimeError, AttributeError) as error:
            # torch and torchvision of different releases, or a system library that is missing
            yield Check(FAIL, f"{name} {found} can't be imported ({str(error).splitlines()[0]}).", INSTALL)
        else:
            same = pinned in (None, found.partition("+")[0])  # torch builds add +cpu or +cu128
            yield (
                Check(PASS, f"{name} {found}.")
                if same
                else Check(WARN, f"{name} is {found}, tested is {pinned}.", INSTALL)
            )


def check_opencv_twins() -> Iterator[Check]:
    """Two builds of OpenCV overwrite each other's files."""
    others = []
    for name in ("opencv-python", "opencv-contrib-python", "opencv-contrib-python-headless"):
        try:
            others.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    if others:
        yield Check(
            WARN,
            f"{', '.join(others)} is installed beside opencv-python-headless; they overwrite each other.",
            "Uninstall all of them, then install opencv-python-headless again.",
        )


def check_plug_ins() -> Iterator[Check]:
    """Generators, methods, losses and attentions that installed packages bring but that can't be used."""
    try:
        from bag_generators import GENERATORS
        from elimipl import ATTENTIONS, LOSSES, METHODS
    except ImportError:
        return  # said already among the packages
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # each is said below
        problems = [*GENERATORS.problems, *METHODS.problems, *LOSSES.problems, *ATTENTIONS.problems]
    for problem in problems:
        yield Check(WARN, problem.what, problem.fix)


def check_models(folder: Path | None = None) -> Iterator[Check]:
    """Every model file is the one its card describes and can be used."""
    try:
        from elimipl.answers.predictor import Predictor
        from elimipl.cards import files
    except ImportError as error:
        yield Check(FAIL, f"The models can't be checked ({error}).", INSTALL)
        return
    sound, ids = 0, list(files.card_paths(folder)) if (folder or files.SHIPPED).is_dir() else []
    for model_id in ids:
        try:
            Predictor.load(model_id, folder)
            sound += 1
        except ValueError as error:  # InputError: what is wrong and what to do, in sentences
            yield Check(FAIL, str(error))
    if not ids:
        yield Check(WARN, "There are no trained models.", "Restore the folder assets/models.")
    elif sound:
        yield Check(PASS, f"{sound} of {len(ids)} models are whole and belong to their cards.")


def check_samples(folder: Path) -> Iterator[Check]:
    """The pictures a person can try first."""
    pictures = [path for path in folder.rglob("*") if path.suffix.lower() in {".png", ".jpg", ".jpeg", ".tif"}]
    empty = [path.name for path in pictures if path.stat().st_size == 0]
    if not pictures:
        yield Check(WARN, "There are no sample pictures.", "Restore the folder assets/samples.")
    elif empty:
        yield Check(FAIL, f"The sample {empty[0]} is empty.", "Restore the folder assets/samples.")
    else:
        yield Check(PASS, f"{len(pictures)} sample pictures.")


def check_space(folder: Path) -> Iterator[Check]:
    """Whether results can be written, and whether there is room for them."""
    if not os.access(folder, os.W_OK):
        yield Check(WARN, f"The folder {folder} may not be written to.", "Work in a folder of your own.")
        return
    free = shutil.disk_usage(folder).free
    room = f"{free / 1e9:.1f} GB free in {folder}."
    if free < LITTLE_SPACE:
        yield Check(WARN, f"Only {room}", "Make room before training or fetching data.")
    else:
        yield Check(PASS, room)


def check_device() -> Iterator[Check]:
    """Where training would run."""
    try:
        import torch
    except ImportError:
        return  # said already among the packages
    if torch.cuda.is_available():
        yield Check(PASS, f"Training runs on {torch.cuda.get_device_name()} (CUDA).")
    elif torch.backends.mps.is_available():
        yield Check(PASS, "Training runs on the graphics unit (Apple MPS).")
    else:
        yield Check(PASS, "Training runs on the CPU; there is no usable graphics card, and none is needed.")


def check_cores() -> Iterator[Check]:
    """How much can run side by side."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if cores < 2:
        yield Check(WARN, "One core only: the protocol's splits run one after the other.", "Expect longer runs.")
    else:
        yield Check(PASS, f"{cores} cores ({platform.machine()}).")


def _pins(requirements: Path) -> dict[str, str]:
    """Version of every “name==version” line, by the name in small letters."""
    if not requirements.is_file():
        return {}
    lines = (line.split("#")[0].strip() for line in requirements.read_text(encoding="utf-8").splitlines())
    return {
        name.strip().lower(): pinned.strip() for name, _, pinned in (line.partition("==") for line in lines) if pinned
    }
