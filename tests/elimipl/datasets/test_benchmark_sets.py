"""The benchmark bags: sizes, positives, no needless repetition; from files in every place and packing they come in."""

import gzip
import struct
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bag_generators.base.errors import InputError
from elimipl.candidates.labels import LabelSpace
from elimipl.datasets.benchmark_sets import (
    BIRDSONG,
    DIGITS_RECIPE,
    Deck,
    Recipe,
    bag_sizes,
    build_birdsong,
    build_digits,
    build_fmnist,
    build_mnist,
    mix_bags,
)

SMALL = Recipe(bags_per_class=4, smallest=3, largest=9, average=5.0, positive_share=0.25)


def mixed(recipe=SMALL, per_class=30, r=1, seed=0):
    """Bags of instances that carry their own number and class: targets 10, 11, 12, filling −1."""
    classes = np.repeat([10, 11, 12, -1], [per_class, per_class, per_class, 4 * per_class])
    features = np.column_stack([np.arange(len(classes)), classes]).astype(np.float32)
    space = LabelSpace.of("abc")
    return mix_bags(features, classes, (10, 11, 12), classes == -1, space, recipe, r=r, seed=seed, described={})


@pytest.mark.parametrize(
    ("count", "recipe", "instances"),
    [
        (500, Recipe(smallest=35, largest=48, average=41.33), 20664),
        (500, Recipe(smallest=36, largest=48, average=41.62), 20810),
        (1300, Recipe(smallest=25, largest=76, average=37.25), 48425),
    ],
)
def test_sizes_meet_table_1_of_the_paper(count, recipe, instances):
    sizes = bag_sizes(count, recipe)
    assert len(sizes) == count
    assert (sizes.min(), sizes.max()) == (recipe.smallest, recipe.largest)
    assert sizes.sum() == pytest.approx(instances, abs=2)


@pytest.mark.parametrize("average", [3.0, 3.4, 6.0, 8.9, 9.0])
def test_any_average_inside_the_range_is_met(average):
    sizes = bag_sizes(2000, Recipe(smallest=3, largest=9, average=average))
    assert sizes.mean() == pytest.approx(average, abs=0.02)


def test_one_size_for_all():
    assert set(bag_sizes(10, Recipe(smallest=5, largest=5, average=5))) == {5}


def test_a_bag_holds_its_class_anywhere_among_filling_and_no_instance_twice():
    dataset = mixed()
    assert len(dataset) == 12
    truths = np.split(dataset.instance_truth, dataset.offsets[1:-1])
    for i, label in enumerate(dataset.labels):
        kinds = dataset.bag(i)[:, 1]
        np.testing.assert_array_equal(kinds[truths[i]], 10 + label)
        np.testing.assert_array_equal(kinds[~truths[i]], -1)
        assert truths[i].sum() == SMALL.positives(len(kinds)) == max(1, (len(kinds) + 2) // 4)
    first = [bool(truth[0]) for truth in np.split(*_truth_and_cuts(mixed(replace(SMALL, bags_per_class=20))))]
    assert 0 < sum(first) < len(first)
    dataset = mixed()
    assert len(np.unique(dataset.instances[:, 0])) == len(dataset.instances)


def _truth_and_cuts(dataset):
    return dataset.instance_truth, dataset.offsets[1:-1]


def test_scarce_instances_are_shared_fairly_and_never_twice_in_a_bag():
    dataset = mixed(replace(SMALL, bags_per_class=20), per_class=4)
    for i in range(len(dataset)):
        assert len(np.unique(dataset.bag(i)[:, 0])) == dataset.sizes[i]
    numbers, uses = np.unique(dataset.instances[:, 0], return_counts=True)
    filling = uses[numbers >= 12]
    assert len(filling) == 16
    assert filling.max() - filling.min() <= 2


def test_the_seed_decides_and_the_settings_travel_with_the_data():
    one, same, other, more = mixed(), mixed(), mixed(seed=1), mixed(r=0)
    np.testing.assert_array_equal(one.instances, same.instances)
    np.testing.assert_array_equal(one.candidates, same.candidates)
    assert not np.array_equal(one.instances, other.instances)
    np.testing.assert_array_equal(one.instances, more.instances)  # r changes the labels only
    assert (more.candidates.sum(axis=1) == 1).all()
    assert mixed(r=1, seed=7).params == {
        "bags_per_class": 4,
        "smallest": 3,
        "largest": 9,
        "average": 5.0,
        "positive_share": 0.25,
        "r": 1,
        "seed": 7,
    }


@given(st.integers(1, 9), st.lists(st.integers(0, 25), max_size=8), st.integers(0, 99))
def test_a_deck_repeats_only_when_it_must(cards, hands, seed):
    deck = Deck(np.arange(cards), "", np.random.default_rng(seed))
    for count in hands:
        hand = deck.deal(count)
        assert len(hand) == count
        assert len(np.unique(hand)) == min(count, cards)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"bags_per_class": 0}, "at least one"),
        ({"smallest": 0}, "at least 1"),
        ({"average": 50.0}, "can't average 50"),
        ({"positive_share": 0.0}, "above 0"),
        ({"positive_share": 1.1}, "up to 1"),
    ],
)
def test_impossible_recipes_are_refused(change, sentence):
    with pytest.raises(InputError, match=sentence):
        replace(SMALL, **change)


def test_a_missing_class_is_named():
    with pytest.raises(InputError, match="no instance of the class “c”"):
        mix_bags(
            np.ones((3, 1), dtype=np.float32),
            np.array([0, 1, 5]),
            (0, 1, 2),
            np.array([False, False, True]),
            LabelSpace.of("abc"),
            SMALL,
            r=1,
            seed=0,
            described={},
        )


def test_sklearn_digits_make_teaching_bags():
    dataset = build_digits(r=3)
    assert (len(dataset), dataset.dim, dataset.n_classes) == (100, 64, 5)
    np.testing.assert_array_equal(np.bincount(dataset.labels), 20)
    assert (dataset.candidates.sum(axis=1) == 4).all()
    assert (dataset.instances.min(), dataset.instances.max()) == (0.0, 1.0)
    assert len(np.unique(dataset.instances, axis=0)) == len(dataset.instances)
    assert len(build_digits(recipe=replace(DIGITS_RECIPE, bags_per_class=3))) == 15


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


def test_missing_and_unfitting_files_are_answered(tmp_path):
    with pytest.raises(InputError, match="There is no “train-images-idx3-ubyte”"):
        build_mnist(tmp_path)
    images, classes = pictures()
    write_part(tmp_path, images, classes[:-1])
    with pytest.raises(InputError, match="300 images but 299 labels"):
        build_mnist(tmp_path, recipe=RECIPE)


GOOD = idx_bytes(np.arange(300))
DAMAGED = {
    "": (GOOD[:-1], GOOD + b"x", GOOD[:6], b"", b"\x89PNG" + GOOD, idx_bytes(np.ones((3, 2, 2)))),
    ".gz": (gzip.compress(GOOD)[:-9], b"no gzip at all", gzip.compress(GOOD)[:10] + b"\xff" * 20),
}


def test_damaged_idx_files_are_refused(tmp_path):
    write_part(tmp_path, *pictures())
    (tmp_path / "train-labels-idx1-ubyte").unlink()
    for suffix, contents in DAMAGED.items():
        path = tmp_path / f"train-labels-idx1-ubyte{suffix}"
        for content in contents:
            path.write_bytes(content)
            with pytest.raises(InputError, match="not a whole idx file of 1"):
                build_mnist(tmp_path)
        path.unlink()


@pytest.fixture
def small_file(tmp_path):
    """20 sounds of each species and 300 of none, each its own number."""
    label = np.repeat([*range(1, 14), -1], [20] * 13 + [300])
    X = np.column_stack([np.arange(len(label)), label]).astype(np.float32)
    np.savez(tmp_path / "song.npz", X=X, label=label, bag=np.zeros(len(label), dtype=int))
    return tmp_path / "song.npz"


def test_birdsong_is_as_in_table_1_and_one_sound_in_twelve_of_the_species(small_file):
    dataset = build_birdsong(small_file, r=3, seed=2)
    assert (len(dataset), dataset.n_classes) == (1300, 13)
    assert (dataset.sizes.min(), dataset.sizes.max()) == (25, 76)
    assert dataset.sizes.mean() == pytest.approx(37.25, abs=0.01)
    np.testing.assert_array_equal(np.bincount(dataset.labels), 100)
    assert (dataset.candidates.sum(axis=1) == 4).all()
    species, labels = dataset.instances[:, 1], np.repeat(dataset.labels, dataset.sizes)
    np.testing.assert_array_equal(species[dataset.instance_truth], labels[dataset.instance_truth] + 1)
    assert (species[~dataset.instance_truth] == -1).all()
    dataset = build_birdsong(small_file)
    positives = np.add.reduceat(dataset.instance_truth, dataset.offsets[:-1])
    np.testing.assert_array_equal(positives, (dataset.sizes + 6) // 12)
    shares = positives / dataset.sizes
    assert (shares.min(), shares.max()) == (2 / 29, 3 / 30)  # the authors' 6.9 % and 10.0 %
    assert shares.mean() == pytest.approx(0.083, abs=0.0005)
    assert BIRDSONG.names[0] == "BRCR"
    assert BIRDSONG.descriptions[BIRDSONG.index("HETH")] == "Hermit thrush."


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
