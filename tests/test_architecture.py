"""Who may import whom: the rules that keep the rooms of the house apart."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOUNDATIONS = ("errors", "validation", "storage", "pool", "formats", "bag_file", "assets")
"""Modules of the lower package that know neither pictures nor bags of pictures, for both packages to build on."""


def imports(path: Path) -> set[str]:
    """Full dotted names a file imports, at any depth of nesting; names imported from a module are appended to it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def packages(path: Path) -> set[str]:
    return {name.partition(".")[0] for name in imports(path)}


def files(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize("path", files("bag_generators"), ids=str)
def test_pictures_know_neither_labels_nor_pages(path: Path) -> None:
    assert not packages(path) & {"elimipl", "ui", "streamlit", "torch"}


@pytest.mark.parametrize("path", files("elimipl"), ids=str)
def test_learning_knows_no_pages(path: Path) -> None:
    assert not packages(path) & {"ui", "streamlit", "cv2"}


@pytest.mark.parametrize("path", files("elimipl"), ids=str)
def test_learning_takes_only_bags_and_foundations_from_pictures(path: Path) -> None:
    # The commands and the builders of bags start from pictures; the rest starts from bags.
    if path.parent.name == "commands" or path.name in {"tiles.py", "zips.py", "phantoms.py"}:
        return
    allowed = {"bag_generators.Bag", "bag_generators.InputError"}
    foundations = tuple(f"bag_generators.{name}." for name in FOUNDATIONS)
    taken = {name for name in imports(path) if name.startswith("bag_generators")}
    assert {name for name in taken if not f"{name}.".startswith(foundations)} <= allowed


@pytest.mark.parametrize("path", [ROOT / "app.py", *files("pages")], ids=str)
def test_pages_do_no_maths(path: Path) -> None:
    assert not packages(path) & {"torch", "cv2", "numpy", "skimage", "PIL"}


def test_no_pickle_anywhere() -> None:
    for folder in ("bag_generators", "elimipl", "ui", "pages"):
        for path in files(folder):
            assert not packages(path) & {"pickle", "joblib", "dill"}, path
            assert not {"torch.save", "torch.load"} & imports(path), path


def test_cards_are_read_without_a_cycle() -> None:
    """What a card is knows neither its files nor how a model is finished; each room builds on those before it."""
    order = ("calibration", "limits", "card", "files", "finish")
    for place, name in enumerate(order):
        taken = {other for other in order for found in imports(ROOT / "elimipl" / "cards" / f"{name}.py")
                 if found.startswith(f"elimipl.cards.{other}")}  # fmt: skip
        assert taken <= set(order[:place]), name
