"""Who may import whom: the rules that keep the rooms of the house apart."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("bag_generators", "elimipl", "ui")
FOUNDATIONS = (
    "errors", "validation", "storage", "pool", "formats", "bag_file", "mapped_rows", "shards", "assets", "plugins",
    "threads",
)  # fmt: skip
"""Modules of the lower package that know neither pictures nor bags of pictures, for both packages to build on."""

KNOW_PICTURES = {
    "tiles.py", "tile_parts.py", "tile_shards.py", "zips.py", "phantoms.py", "qualities.py", "generator_files.py",
    "doctor.py",
}  # fmt: skip
"""Builders of bags, and who examines the whole house; with commands and slides the only files of `elimipl` that do."""

ROOMS = {
    "bag_generators.reading": {"bag_generators.errors", "bag_generators.formats"},
    "elimipl.model": {
        "elimipl.config", "elimipl.dataset", "elimipl.dataset_arrays", "bag_generators.errors",
        "bag_generators.threads",
    },
    "elimipl.training": {
        "elimipl.config", "elimipl.dataset", "elimipl.labels", "elimipl.loss_registry", "elimipl.model",
        *(f"bag_generators.{name}" for name in FOUNDATIONS),
    },
    "elimipl.methods": {
        "elimipl.config", "elimipl.dataset", "elimipl.model", "elimipl.settings", "elimipl.training",
        *(f"bag_generators.{name}" for name in FOUNDATIONS),
    },
    "elimipl.cards": {
        "elimipl.data", "elimipl.dataset", "elimipl.labels", "elimipl.predictor", "elimipl.training",
        *(f"bag_generators.{name}" for name in FOUNDATIONS),
    },
    "elimipl.slides": {
        "elimipl.cards", "elimipl.cluster", "elimipl.csv_cells", "elimipl.labels", "elimipl.model", "elimipl.predictor",
        "bag_generators",
    },
    "elimipl.cluster": {f"bag_generators.{name}" for name in FOUNDATIONS},
    "elimipl.data": {
        "elimipl.cluster", "elimipl.dataset", "elimipl.labels", "elimipl.training.splits", "bag_generators",
    },
}  # fmt: skip
"""What a room may take from the rest of the house; everything in the room itself is allowed."""

PAGES = ("explore", "slide", "batch", "generators", "lesson", "classroom", "compare", "results", "train", "doctor")
LENT = {
    "explore": {"train"},  # models of this visit
    "compare": {"train"},  # one method trained here and now
    "classroom": {"batch", "lesson", "train"},  # labels in file names, Figure 1, turns to train
}
"""Which pages use parts of another page; all share `ui.frame` and `ui.figures`."""


@cache
def imports(path: Path) -> frozenset[str]:
    """Full dotted names a file imports, at any depth of nesting; names imported from a module are appended to it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        found.update(_named_in(node))
    return frozenset(found)


def imports_on_loading(path: Path) -> set[str]:
    """What a file imports the moment it is imported itself: not inside functions, not for type checkers only."""
    found: set[str] = set()
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            continue
        found.update(_named_in(statement))
    return found


def _named_in(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def packages(path: Path) -> set[str]:
    return {name.partition(".")[0] for name in imports(path)}


def files(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def within(name: str, rooms: set[str]) -> bool:
    return any(f"{name}.".startswith(f"{room}.") for room in rooms)


@pytest.mark.parametrize("path", files("bag_generators"), ids=str)
def test_pictures_know_neither_labels_nor_pages(path: Path) -> None:
    torch_too = {"torch"} if path.name not in ("encoder.py", "threads.py") else set()
    assert not packages(path) & ({"elimipl", "ui", "streamlit"} | torch_too)


@pytest.mark.parametrize("name", FOUNDATIONS)
def test_foundations_build_on_each_other_only(name: str) -> None:
    own = {taken for taken in imports(ROOT / "bag_generators" / f"{name}.py") if taken.startswith("bag_generators.")}
    assert all(within(taken, {f"bag_generators.{other}" for other in (*FOUNDATIONS, "worker")}) for taken in own), own


@pytest.mark.parametrize("path", files("elimipl"), ids=str)
def test_learning_knows_no_pages(path: Path) -> None:
    assert not packages(path) & {"ui", "streamlit", "cv2"}


@pytest.mark.parametrize("path", files("elimipl"), ids=str)
def test_learning_takes_only_bags_and_foundations_from_pictures(path: Path) -> None:
    if path.parent.name in ("commands", "slides") or path.name in KNOW_PICTURES:
        return
    allowed = {"bag_generators.Bag", "bag_generators.InputError", *(f"bag_generators.{name}" for name in FOUNDATIONS)}
    taken = {name for name in imports(path) if name.startswith("bag_generators")}
    assert {name for name in taken if not within(name, allowed)} == set()


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_takes_only_what_it_is_built_on(room: str) -> None:
    for path in files(room.replace(".", "/")):
        taken = {name for name in imports(path) if name.partition(".")[0] in PACKAGES}
        assert {name for name in taken if not within(name, {room, *ROOMS[room]})} == set(), path


@pytest.mark.parametrize("page", PAGES)
def test_pages_live_apart(page: str) -> None:
    others = {f"ui.{other}" for other in PAGES if other not in {page, *LENT.get(page, ())}}
    folder = ROOT / "ui" / page
    for path in files(f"ui/{page}") if folder.is_dir() else [folder.with_suffix(".py")]:
        assert not {name for name in imports(path) if within(name, others)}, path


@pytest.mark.parametrize("folder", ["frame", "figures"])
def test_what_pages_share_knows_no_page(folder: str) -> None:
    for path in files(f"ui/{folder}"):
        assert not {name for name in imports(path) if within(name, {f"ui.{page}" for page in PAGES})}, path


@pytest.mark.parametrize("path", [ROOT / "app.py", *files("pages")], ids=str)
def test_pages_do_no_maths(path: Path) -> None:
    assert packages(path) <= {"streamlit", "ui", "bag_generators"}


def test_no_module_waits_for_itself() -> None:
    """No cycles: a module is imported only by modules that it does not import, on whatever way round."""
    paths = {module_of(path): path for package in PACKAGES for path in files(package)}
    needs = {name: _modules_among(imports_on_loading(path), set(paths)) - {name} for name, path in paths.items()}
    while needs:
        ready = {name for name, others in needs.items() if not others & needs.keys()}
        assert ready, f"in cycles: {sorted(needs)}"
        needs = {name: others for name, others in needs.items() if name not in ready}


def _modules_among(names: set[str], modules: set[str]) -> set[str]:
    return {name if name in modules else name.rpartition(".")[0] for name in names} & modules


def test_no_pickle_anywhere() -> None:
    for folder in ("bag_generators", "elimipl", "ui", "pages"):
        for path in files(folder):
            assert not packages(path) & {"pickle", "joblib", "dill"}, path
            assert not {"torch.save", "torch.load"} & imports(path), path


def test_files_fit_in_one_head() -> None:
    """500 lines at most, tests and scripts included."""
    folders = ("bag_generators", "elimipl", "ui", "pages", "scripts", "benchmarks", "fuzz", "examples", "tests")
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for one in folders for path in files(one)}
    assert {str(path): lines for path, lines in lengths.items() if lines > 500} == {}
