"""Slides to read: phantoms written as pyramidal TIFFs, and the real one where somebody has it."""

import os
from pathlib import Path

import pytest

from tests.support.phantom_slide import GLASS, PhantomSlide

LAYOUT = (
    (GLASS, GLASS, GLASS, GLASS, GLASS),
    (GLASS, "TUM", "TUM", "LYM", GLASS),
    (GLASS, "TUM", "MUS", "LYM", GLASS),
    (GLASS, GLASS, GLASS, GLASS, GLASS),
)


@pytest.fixture(scope="session")
def phantom_slide() -> PhantomSlide:
    return PhantomSlide(LAYOUT)


@pytest.fixture(scope="session")
def slide_file(tmp_path_factory, phantom_slide) -> Path:
    """1120 × 896 px in three levels at 0.5 µm/px; never written to."""
    path = tmp_path_factory.mktemp("slides") / "phantom.tif"
    phantom_slide.write(path)
    return path


@pytest.fixture(scope="session")
def real_slide() -> Path:
    """A small real SVS: the file named by ELIMIPL_SVS, or any below ../shared."""
    shared = Path(__file__).resolve().parents[4] / "shared"
    named = os.environ.get("ELIMIPL_SVS")
    found = [Path(named)] if named else sorted(shared.rglob("*.svs")) if shared.is_dir() else []
    if not found or not found[0].is_file():
        pytest.skip("no real SVS on this machine (set ELIMIPL_SVS)")
    return found[0]
