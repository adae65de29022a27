"""Pictures and bags for the commands."""

import cv2
import pytest


@pytest.fixture(scope="session")
def tiles(tmp_path_factory, draw_toy_picture):
    """A folder of class folders with six pictures each."""
    folder = tmp_path_factory.mktemp("tiles")
    for name in ("blue", "pink", "white"):
        (folder / name).mkdir()
        for seed in range(6):
            pixels = draw_toy_picture(name, seed).pixels
            cv2.imwrite(str(folder / name / f"{seed}.png"), cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR))
    return folder


@pytest.fixture
def data(toy_dataset, tmp_path):
    path = tmp_path / "toy.safetensors"
    toy_dataset.save(path)
    return path


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """Nothing is kept in the folder of whoever runs the tests."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
