"""MNIST-MIPL and FMNIST-MIPL from idx files made here, in every place and packing they come in."""

import gzip
import struct

import numpy as np
import pytest

from bag_generators.errors import InputError
from elimipl.data.digits import build_fmnist, build_mnist
from elimipl.data.idx_files import read_idx
from elimipl.data.mixed_bags import Recipe

RECIPE = Recipe(bags_per_class=3, smallest=5, largest=9, average=7.0, positive_share=0.3)


def idx_bytes(array):
    header = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return header + array.astype(np.uint8).tobytes()


def write_part(folder, images, classes, packed=False, dot="-"):
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in (("images", images), ("labels", classes)):
        file = f"train-{name}{dot}idx{array.ndim}-ubyte"
        content = idx_bytes(array)
        (folder / (file + ".gz" * packed)).write_bytes(gzip.compress(content) if packed else content)


def pictures(offset=0):
    """300 pictures of 4×3 pixels: the first pixel is ten times the class plus `offset`, the others the number."""
    classes = np.arange(300) % 10
    images = np.zeros((300, 4, 3), dtype=np.uint8)
    images[:, 0, 0] = 10 * classes + offset
    images[:, 1, :2] = np.column_stack(divmod(np.arange(300), 256))
    return images, classes


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("dot", ["-", "."])
@pytest.mark.parametrize("place", ["", "raw", "MNIST/raw"])
def test_bags_from_every_layout(tmp_path, packed, dot, place):
    write_part(tmp_path / place, *pictures(), packed=packed, dot=dot)
    dataset = build_mnist(tmp_path, r=2, seed=1, recipe=RECIPE)
    assert (len(dataset), dataset.dim) == (15, 12)
    assert dataset.label_space.names == ("0", "2", "4", "6", "8")
    assert (dataset.candidates.sum(axis=1) == 3).all()
    assert dataset.params["image"] == [4, 3]
    kinds = np.round(dataset.instances[:, 0] * 255).astype(int) // 10
    labels = np.repeat(dataset.labels, dataset.sizes)
    np.testing.assert_array_equal(kinds[dataset.instance_truth], 2 * labels[dataset.instance_truth])
    assert (kinds[~dataset.instance_truth] % 2 == 1).all()
    assert len(np.unique(dataset.instances, axis=0)) == len(dataset.instances)


def test_each_set_finds_its_own_files_below_one_folder(tmp_path):
    write_part(tmp_path / "MNIST" / "raw", *pictures(offset=1))
    write_part(tmp_path / "FashionMNIST" / "raw", *pictures(offset=2))
    mnist, fashion = build_mnist(tmp_path, recipe=RECIPE), build_fmnist(tmp_path, recipe=RECIPE)
    assert set(np.round(mnist.instances[:, 0] * 255) % 10) == {1}
    assert set(np.round(fashion.instances[:, 0] * 255) % 10) == {2}
    assert fashion.label_space.names == ("T-shirt/top", "Trouser", "Coat", "Sneaker", "Bag")


def test_fashion_hides_the_papers_five_classes_among_the_other_five(tmp_path):
    write_part(tmp_path, *pictures())
    dataset = build_fmnist(tmp_path, recipe=RECIPE)
    kinds = np.round(dataset.instances[:, 0] * 255).astype(int) // 10
    labels, hidden = np.repeat(dataset.labels, dataset.sizes), dataset.instance_truth
    np.testing.assert_array_equal(kinds[hidden], np.array([0, 1, 4, 7, 8])[labels[hidden]])
    assert set(kinds[~hidden]) == {2, 3, 5, 6, 9}


def test_the_default_recipes_are_the_papers(tmp_path):
    classes = np.arange(40_000) % 10
    write_part(tmp_path, np.zeros((40_000, 1, 1)), classes)
    mnist, fashion = build_mnist(tmp_path), build_fmnist(tmp_path)
    assert [len(mnist), mnist.sizes.min(), mnist.sizes.max()] == [500, 35, 48]
    assert [len(fashion), fashion.sizes.min(), fashion.sizes.max()] == [500, 36, 48]
    np.testing.assert_array_equal(np.bincount(mnist.labels), 100)
    assert mnist.sizes.mean() == pytest.approx(41.33, abs=0.01)
    assert fashion.sizes.mean() == pytest.approx(41.62, abs=0.01)
    for dataset in (mnist, fashion):
        positives = np.add.reduceat(dataset.instance_truth, dataset.offsets[:-1])
        np.testing.assert_array_equal(positives, np.where(dataset.sizes <= 43, 3, 4))


def test_a_folder_without_files_is_answered(tmp_path):
    with pytest.raises(InputError, match="There is no “train-images-idx3-ubyte”"):
        build_mnist(tmp_path)


def test_images_and_labels_must_belong_together(tmp_path):
    images, classes = pictures()
    write_part(tmp_path, images, classes[:-1])
    with pytest.raises(InputError, match="300 images but 299 labels"):
        build_mnist(tmp_path, recipe=RECIPE)


GOOD = idx_bytes(np.arange(24).reshape(2, 3, 4))


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("short", GOOD[:-1], "does not hold the 24 values"),
        ("long", GOOD + b"x", "does not hold the 24 values"),
        ("header", GOOD[:10], "not an idx file"),
        ("empty", b"", "not an idx file"),
        ("other", b"\x89PNG" + GOOD, "not an idx file"),
        ("one", idx_bytes(np.arange(4)), "not an idx file of 3"),
        ("huge", bytes([0, 0, 8, 3]) + struct.pack(">3I", 2**32 - 1, 2**32 - 1, 28), "claims to hold"),
        ("swapped.gz", gzip.compress(GOOD)[:10] + b"\xff" * 20, "packed but damaged"),
        ("cut.gz", gzip.compress(GOOD)[:-9], "packed but damaged"),
        ("noise.gz", b"no gzip at all", "packed but damaged"),
        ("broken.gz", gzip.compress(GOOD)[:-8] + b"\xff" * 8, "packed but damaged"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_damaged_idx_files_are_refused(tmp_path, name, content, sentence):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=sentence):
        read_idx(tmp_path / name, dims=3)


def test_an_unreadable_place_is_a_sentence(tmp_path):
    with pytest.raises(InputError, match="could not be read"):
        read_idx(tmp_path, dims=3)
