"""Who may import whom: the rules that keep the rooms of the house apart."""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("bag_generators", "elimipl", "elimipl_app")
KNOW_PICTURES = {
    "tiles.py", "crc_mipl.py", "tile_shards.py", "shipped.py", "doctor.py", "answer.py",
}  # fmt: skip
"""Builders of bags, who examines the whole house, and the answer, which names the scale that was read at; with commands
and slides the only files of `elimipl` that know them."""

ROOMS = {
    "bag_generators.reading": {"bag_generators.base.errors", "bag_generators.base.formats"},
    "elimipl.model": {
        "elimipl.registries",
        "elimipl.config", "elimipl.datasets.dataset", "bag_generators.base.errors",
        "bag_generators.base.threads",
    },
    "elimipl.training": {
        "elimipl.candidates.labels", "elimipl.config", "elimipl.datasets.dataset",
        "elimipl.model", "elimipl.registries",
        "bag_generators.base",
    },
    "elimipl.methods": {
        "elimipl.config", "elimipl.datasets.dataset", "elimipl.model", "elimipl.training",
        "bag_generators.base",
    },
    "elimipl.cards": {
        "elimipl.answers", "elimipl.candidates", "elimipl.datasets", "elimipl.training",
        "bag_generators.base",
    },
    "elimipl.slides": {
        "elimipl.cards", "elimipl.class_marks", "elimipl.cluster", "elimipl.csv_cells", "elimipl.candidates.labels",
        "elimipl.answers", "elimipl.model", "bag_generators",
    },
    "elimipl.cluster": {"bag_generators.base"},
    "elimipl.datasets": {
        "elimipl.candidates", "elimipl.cluster", "elimipl.training.splits", "bag_generators",
    },
}  # fmt: skip
"""What a room may take from the rest of the house; everything in the room itself is allowed."""

PAGES = ("explore", "slide", "batch", "generators", "lesson", "classroom", "compare", "results", "train", "doctor")


@cache
def imports(path: Path) -> frozenset[str]:
    """Full dotted names a file imports, at any depth of nesting; names imported from a module are appended to it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(name for node in ast.walk(tree) for name in _named_in(node))


def imports_on_loading(path: Path) -> set[str]:
    """What a file imports the moment it is imported itself: not inside functions, not for type checkers only."""
    return {name for statement in ast.parse(path.read_text(encoding="utf-8")).body for name in _named_in(statement)}


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


def taken_from(rooms: set[str], path: Path, allowed: Iterable[str] = ()) -> set[str]:
    """What a file imports from some rooms beyond what is allowed."""
    return {name for name in imports(path) if within(name, rooms) and not within(name, set(allowed))}


def breaking(taken: dict[Path, set[str]]) -> dict[str, set[str]]:
    """What each file takes against a rule, without the files that keep it."""
    return {str(path.relative_to(ROOT)): names for path, names in taken.items() if names}


def test_pictures_know_neither_labels_nor_pages() -> None:
    assert (
        breaking({path: packages(path) & {"elimipl", "elimipl_app", "streamlit"} for path in files("bag_generators")})
        == {}
    )
    with_torch = {"encoder.py", "lite0.py", "threads.py"}
    without_torch = [path for path in files("bag_generators") if path.name not in with_torch]
    assert breaking({path: packages(path) & {"torch"} for path in without_torch}) == {}


def test_the_base_knows_no_pictures() -> None:
    base = files("bag_generators/base")
    assert breaking({path: taken_from({"bag_generators"}, path, {"bag_generators.base"}) for path in base}) == {}


def test_learning_knows_no_pages_and_of_pictures_only_bags_and_foundations() -> None:
    assert breaking({path: packages(path) & {"elimipl_app", "streamlit", "cv2"} for path in files("elimipl")}) == {}
    allowed = {"bag_generators.Bag", "bag_generators.InputError", "bag_generators.base"}
    learning = [
        path
        for path in files("elimipl")
        if path.parent.name not in ("classroom", "commands", "regions", "slides") and path.name not in KNOW_PICTURES
    ]
    assert breaking({path: taken_from({"bag_generators"}, path, allowed) for path in learning}) == {}


def test_a_room_takes_only_what_it_is_built_on() -> None:
    for room, built_on in ROOMS.items():
        own = files(room.replace(".", "/"))
        assert breaking({path: taken_from(set(PACKAGES), path, {room, *built_on}) for path in own}) == {}, room


def test_no_page_imports_another_and_what_they_share_knows_none() -> None:
    pages = {f"elimipl_app.{page}" for page in PAGES}
    for path in files("elimipl_app"):
        own = {page for page in pages if within(module_of(path), {page})}
        assert taken_from(pages - own, path) == set(), path


def test_pages_do_no_maths() -> None:
    thin = [ROOT / "app.py", *files("pages")]
    assert breaking({path: packages(path) - {"streamlit", "elimipl_app", "bag_generators"} for path in thin}) == {}


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
    for folder in ("bag_generators", "elimipl", "elimipl_app", "pages"):
        for path in files(folder):
            assert not packages(path) & {"pickle", "joblib", "dill"}, path
            assert not {"torch.save", "torch.load"} & imports(path), path


def test_files_fit_in_one_head() -> None:
    """500 lines at most, tests and scripts included."""
    folders = (
        "bag_generators",
        "elimipl",
        "elimipl_app",
        "pages",
        "scripts",
        "benchmarks",
        "fuzz",
        "examples",
        "tests",
    )
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for one in folders for path in files(one)}
    assert {str(path): lines for path, lines in lengths.items() if lines > 500} == {}
