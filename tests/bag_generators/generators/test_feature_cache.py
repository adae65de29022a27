"""Features are computed once, whoever asks, and come back bit for bit."""

import sqlite3
import threading

import cv2
import numpy as np
import pytest

from bag_generators import generate, generate_many, generate_together
from bag_generators.generators import deep, encoder, feature_cache
from bag_generators.generators.feature_cache import FOLDER, LARGEST, FeatureCache, cached
from bag_generators.image import TissueImage
from bag_generators.tissue.phantom import draw


def tile(seed):
    return TissueImage.from_array(draw("TUM", seed).pixels)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER, str(tmp_path / "kept"))
    feature_cache.opened.cache_clear()
    yield tmp_path / "kept"
    feature_cache.opened.cache_clear()


@pytest.fixture
def computed(monkeypatch):
    """How many patches the network was asked for."""
    asked = []
    plain = encoder.Encoder._compute
    monkeypatch.setattr(
        encoder.Encoder, "_compute", lambda self, patches: asked.append(len(patches)) or plain(self, patches)
    )
    return asked


def test_a_second_run_reads_instead_of_computing(folder, computed, monkeypatch):
    picture = tile(1)
    first, second = generate("deep", picture), generate("deep", TissueImage.from_array(picture.pixels.copy()))
    assert computed == [16]
    monkeypatch.delenv(FOLDER)
    without = generate("deep", picture)
    assert computed == [16, 16]
    assert first.features.tobytes() == second.features.tobytes() == without.features.tobytes()


def test_other_pixels_and_another_stain_are_computed(folder, computed):
    picture = tile(1)
    changed = picture.pixels.copy()
    changed[0, 0, 0] ^= 1
    for image, stain in ((picture, "none"), (TissueImage.from_array(changed), "none"), (picture, "macenko")):
        generate("deep", image, stain=stain)
    assert computed == [16, 16, 16]


@pytest.mark.parametrize("kept", [True, False])
def test_pictures_together_give_the_bags_of_each_alone_and_only_new_ones_are_computed(
    folder, computed, kept, monkeypatch
):
    if not kept:
        monkeypatch.delenv(FOLDER)
    pictures = [tile(1), tile(2), tile(1), TissueImage.from_array(draw("LYM", 3, 112).pixels)]
    alone = [generate("deep", pictures[0]), generate("deep", pictures[1])]
    together = generate_together("deep", pictures)
    assert computed == ([16, 16, 4] if kept else [16, 16, 52])
    assert [bag.image_sha256 for bag in together] == [picture.sha256 for picture in pictures]
    for bag, expected in zip(together, (*alone, alone[0], generate("deep", pictures[3])), strict=True):
        np.testing.assert_allclose(bag.features, expected.features, atol=1e-4)
        np.testing.assert_array_equal(bag.regions.boxes, expected.regions.boxes)


def test_what_made_the_features_belongs_to_the_key(folder):
    pixels = np.zeros((2, 2, 3), np.uint8)
    for number, made_by in enumerate(("one network", "another")):
        (found,) = cached([pixels], made_by, lambda _, number=number: [np.full((1, 4), number, np.float32)])
        assert found[0, 0] == number


def test_nothing_is_kept_unless_a_folder_is_named(tmp_path, monkeypatch):
    monkeypatch.delenv(FOLDER, raising=False)
    monkeypatch.chdir(tmp_path)
    generate("deep", tile(1))
    assert not list(tmp_path.iterdir())


def test_damage_costs_time_only(folder, computed):
    generate("deep", tile(1))
    with sqlite3.connect(folder / "features.sqlite") as file:
        file.execute("UPDATE features SET content = zeroblob(length(content))")
    assert generate("deep", tile(1)).features.any()
    assert computed == [16, 16]
    feature_cache.opened.cache_clear()
    for name in folder.iterdir():
        name.write_bytes(b"no database at all" * 100)
    generate("deep", tile(1))
    generate("deep", tile(1))
    assert computed == [16, 16, 16]


def test_a_folder_that_cannot_be_is_passed_over(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv(FOLDER, str(tmp_path / "file" / "kept"))
    assert len(generate("deep", tile(1))) == 16


def test_the_oldest_make_room(tmp_path, monkeypatch):
    monkeypatch.setenv(LARGEST, "0.5")
    monkeypatch.setattr(feature_cache, "_CHECK_EVERY", 8)
    cache = FeatureCache(tmp_path)
    entry = np.ones((16, 128), np.float32)
    for i in range(400):
        cache.put(b"%d" % i, entry)
    assert (tmp_path / "features.sqlite").stat().st_size < 0.7 * 2**20
    assert cache.get(b"0") is None
    assert cache.get(b"399").tobytes() == entry.tobytes()


def test_several_share_one_file(tmp_path):
    one, other = FeatureCache(tmp_path), FeatureCache(tmp_path)
    one.put(b"a", np.ones((2, 3), np.float32))
    other.put(b"b", np.zeros((1, 3), np.float32))
    assert one.get(b"b").shape == (1, 3)
    assert other.get(b"a").tolist() == [[1, 1, 1], [1, 1, 1]]


def test_threads_bring_patches_of_many_pictures_to_one_device(tmp_path, monkeypatch):
    """No GPU is needed: a device called “cpu:0” is not the CPU to the encoder, only to torch."""
    paths = []
    for seed in range(6):
        paths.append(tmp_path / f"{seed}.png")
        cv2.imwrite(str(paths[-1]), tile(seed).pixels)
    expected = [bag.features for _, bag in generate_many("deep", paths)]
    monkeypatch.setenv(encoder.DEVICE, "cpu:0")
    assert deep.gathers()
    batches, all_there, plain = [], threading.Barrier(6), encoder.Encoder._compute
    bring = encoder.Encoder.encode

    def together(self, patches):
        if len(patches) == 16:
            all_there.wait(30)
        return bring(self, patches)

    monkeypatch.setattr(encoder.Encoder, "encode", together)
    stub = encoder.shipped_encoder()
    monkeypatch.setattr(
        stub._gathered, "_compute", lambda patches: batches.append(len(patches)) or plain(stub, patches)
    )
    found = [bag.features for _, bag in generate_many("deep", paths)]
    assert max(batches) >= 32
    assert sum(batches) == 4 + 6 * 16
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4)


def test_a_device_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setenv(encoder.DEVICE, "cuda:7")
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    encoder._resolved.cache_clear()
    with pytest.raises(ValueError, match="has no device 'cuda:7'"):
        generate("deep", tile(1))
