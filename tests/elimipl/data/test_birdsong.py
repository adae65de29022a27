"""Birdsong-MIPL, from a small file made here and, where it is at hand, the real one."""

import numpy as np
import pytest

from bag_generators.errors import InputError
from elimipl.data.birdsong import LABEL_SPACE, build_birdsong


@pytest.fixture
def small_file(tmp_path):
    """20 sounds of each species and 300 of none, each its own number."""
    label = np.repeat([*range(1, 14), -1], [20] * 13 + [300])
    X = np.column_stack([np.arange(len(label)), label]).astype(np.float32)
    np.savez(tmp_path / "song.npz", X=X, label=label, bag=np.zeros(len(label), dtype=int))
    return tmp_path / "song.npz"


def test_bags_as_in_table_1(small_file):
    dataset = build_birdsong(small_file, r=3, seed=2)
    assert (len(dataset), dataset.n_classes) == (1300, 13)
    assert (dataset.sizes.min(), dataset.sizes.max()) == (25, 76)
    assert dataset.sizes.mean() == pytest.approx(37.25, abs=0.01)
    np.testing.assert_array_equal(np.bincount(dataset.labels), 100)
    assert (dataset.candidates.sum(axis=1) == 4).all()
    species, labels = dataset.instances[:, 1], np.repeat(dataset.labels, dataset.sizes)
    np.testing.assert_array_equal(species[dataset.instance_truth], labels[dataset.instance_truth] + 1)
    assert (species[~dataset.instance_truth] == -1).all()


def test_one_sound_in_twelve_is_of_the_species_halves_rounded_up(small_file):
    dataset = build_birdsong(small_file)
    positives = np.add.reduceat(dataset.instance_truth, dataset.offsets[:-1])
    np.testing.assert_array_equal(positives, (dataset.sizes + 6) // 12)
    shares = positives / dataset.sizes
    assert (shares.min(), shares.max()) == (2 / 29, 3 / 30)  # the authors' 6.9 % and 10.0 %
    assert shares.mean() == pytest.approx(0.083, abs=0.0005)


def test_species_are_named_in_the_files_order():
    assert LABEL_SPACE.names[0] == "BRCR"
    assert LABEL_SPACE.descriptions[LABEL_SPACE.index("HETH")] == "Hermit thrush."


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"X": np.ones((3, 2))}, "not the birdsong data"),
        ({"X": np.ones((3, 2)), "label": [1, 2]}, "don't fit together"),
        ({"X": np.ones(3), "label": [1, 2, 3]}, "don't fit together"),
        ({"X": np.ones((2, 2)), "label": [0, 14]}, "1 to 13"),
        ({"X": np.array([{}, {}], dtype=object), "label": [1, 2]}, "not the birdsong data"),
    ],
)
def test_other_arrays_are_refused(tmp_path, arrays, sentence):
    np.savez(tmp_path / "song.npz", **arrays)
    with pytest.raises(InputError, match=sentence):
        build_birdsong(tmp_path / "song.npz")


def test_other_files_are_refused(tmp_path, small_file):
    (tmp_path / "text.npz").write_text("no arrays")
    (tmp_path / "cut.npz").write_bytes(small_file.read_bytes()[:500])
    for name in ("text.npz", "cut.npz"):
        with pytest.raises(InputError, match="not the birdsong data"):
            build_birdsong(tmp_path / name)
    with pytest.raises(InputError, match="There is no file"):
        build_birdsong(tmp_path / "none.npz")


def test_the_real_recordings(shared_data):
    dataset = build_birdsong(shared_data / "birdsong" / "hja_birdsong.npz")
    assert (len(dataset), dataset.dim) == (1300, 38)
    assert len(dataset.instances) == pytest.approx(48425, abs=2)
