"""Bags of tiles with copies, made by several processes and kept."""

import numpy as np
from PIL import Image

from bag_generators import generate, load
from elimipl.labels import LabelSpace
from scripts.shipped_models import tiles
from scripts.shipped_models.tiles import TileSet, tile_bags


def test_a_bag_for_each_tile_then_its_copies_made_once(tmp_path, monkeypatch):
    monkeypatch.setattr(tiles, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(tiles, "number_of_workers", lambda *_: 2)
    rng = np.random.default_rng(0)
    for name in ("a/0.png", "a/1.png", "b/2.png"):
        path = tmp_path / "tiles" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 256, (5, 5, 3), dtype=np.uint8)).resize((64, 64)).save(path)
    tile_set = TileSet(tmp_path / "tiles", LabelSpace.of("ab"), "drawn", "CC0")
    heard = []
    arguments = (tile_set, "row", "none", 1, lambda done, total: heard.append((done, total)), np.array([0, 2]))
    made = tile_bags(*arguments)
    assert heard == [(1, 2), (2, 2)]
    assert made.names == ("a/0.png", "b/2.png", "a/0.png", "b/2.png")
    assert made.labels.tolist() == [0, 1, 0, 1]
    assert made.groups.tolist() == [0, 2, 0, 2]
    assert np.array_equal(made.bag(1), generate("row", load(tmp_path / "tiles" / "b" / "2.png")).features)
    assert not np.array_equal(made.bag(3), made.bag(1))

    monkeypatch.setattr(tiles, "in_processes", None)  # kept: not made again
    assert np.array_equal(tile_bags(*arguments).instances, made.instances)
