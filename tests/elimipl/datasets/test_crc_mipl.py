"""CRC-MIPL from PathMNIST's file or from full tiles: the same bags, drawn by a seed; what is refused."""

import numpy as np
import pytest
from PIL import Image

from bag_generators import generate
from bag_generators.base.errors import InputError
from bag_generators.image import load
from elimipl.benchmark.cells import Cell
from elimipl.benchmark.sources import DataFolders, Shelf, available
from elimipl.candidates.labels import TISSUE7
from elimipl.datasets import crc_mipl
from elimipl.datasets.benchmark_sets import Recipe
from elimipl.datasets.crc_mipl import PATHMNIST, build_crc_mipl, build_crc_val, build_pathmnist

NINE = ("ADI", "BACK", *TISSUE7.names)
EACH = 12


def smooth_tiles(seed=0):
    """Tiles of 224×224 without details, (9·EACH, 224, 224, 3), and their codes."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, 255, (len(NINE) * EACH, 6, 6, 3), np.uint8)
    tiles = [np.asarray(Image.fromarray(one).resize((224, 224), Image.Resampling.BICUBIC)) for one in coarse]
    return np.array(tiles), np.repeat(np.arange(len(NINE)), EACH)


@pytest.fixture(scope="module")
def tiles():
    return smooth_tiles()


@pytest.fixture(scope="module")
def npz(tiles, tmp_path_factory):
    pictures, codes = tiles
    small = [np.asarray(Image.fromarray(one).resize((28, 28), Image.Resampling.BILINEAR)) for one in pictures]
    path = tmp_path_factory.mktemp("pathmnist") / "pathmnist.npz"
    seen = np.arange(len(codes)) % EACH == 0
    np.savez(
        path,
        train_images=np.array(small),
        train_labels=codes[:, None],
        test_images=np.array(small)[::-1],
        test_labels=codes[::-1, None],
        test_in_tissue7=seen[::-1],
    )
    return path


@pytest.fixture(scope="module")
def folder(tiles, tmp_path_factory):
    root = tmp_path_factory.mktemp("nct")
    for number, (tile, code) in enumerate(zip(*tiles, strict=True)):
        (root / NINE[code]).mkdir(exist_ok=True)
        Image.fromarray(tile).save(root / NINE[code] / f"{number:04}.png")
    return root


def test_seven_classes_of_equal_size_each_with_its_label_alone(npz):
    bags = build_crc_mipl(npz, "row", per_class=8)
    assert (len(bags), bags.dim, set(bags.sizes)) == (56, 9, {8})
    np.testing.assert_array_equal(np.bincount(bags.labels), [8] * 7)
    np.testing.assert_array_equal(bags.candidates.sum(1), 1)
    assert bags.label_space == TISSUE7
    assert bags.names[0].startswith("DEB/")
    assert bags.generator == "row"
    again, other = (build_crc_mipl(npz, "row", per_class=8, seed=seed) for seed in (0, 1))
    np.testing.assert_array_equal(again.instances, bags.instances)
    assert other.names != bags.names


@pytest.mark.parametrize("generator", ["row", "sbn"])
def test_small_pictures_give_the_bags_of_the_full_tiles(generator, npz, folder):
    small, full = (build_crc_mipl(source, generator, per_class=EACH) for source in (npz, folder))
    np.testing.assert_array_equal(small.labels, full.labels)
    for a, b in zip(small.instances.T, full.instances.T, strict=True):
        assert np.corrcoef(a, b)[0, 1] > 0.99


def test_a_folder_of_tiles_takes_any_generator_and_the_same_bags_as_one_by_one(folder):
    bags = build_crc_mipl(folder, "kmeansseg", per_class=2)
    expected = generate("kmeansseg", load(folder / bags.names[3]))
    np.testing.assert_array_equal(bags.bag(3), expected.features)


def test_what_can_not_be_built_is_refused(npz, folder, tmp_path):
    for generator in ("sift", "kmeansseg"):
        with pytest.raises(InputError, match=f"{generator}' needs details that small pictures have lost"):
            build_crc_mipl(npz, generator)
    with pytest.raises(InputError, match="has 12 tiles of DEB, not 1000"):
        build_crc_mipl(npz)
    with pytest.raises(InputError, match="0 tiles per class make no bags"):
        build_crc_mipl(npz, per_class=0)
    with pytest.raises(InputError, match=r"There is no file .*pathmnist\.npz of MedMNIST"):
        build_crc_mipl(tmp_path / "gone.npz")
    with pytest.raises(InputError, match=r"class folders of .* are not those"):
        build_crc_mipl(tmp_path)
    np.savez(tmp_path / "other.npz", train_images=np.zeros((3, 28, 28)), train_labels=np.zeros(3))
    with pytest.raises(InputError, match="are not those of PathMNIST"):
        build_crc_mipl(tmp_path / "other.npz")
    (tmp_path / "text.npz").write_text("text")
    with pytest.raises(InputError, match="is not PathMNIST"):
        build_crc_mipl(tmp_path / "text.npz")


def test_the_benchmark_has_them_with_a_crowd_for_every_split(npz, tmp_path, monkeypatch):
    monkeypatch.setattr(crc_mipl.build_crc_mipl, "__kwdefaults__", {"per_class": 10, "seed": 0, "progress": None})
    folders = DataFolders((npz.parent,), kept=tmp_path / "kept")
    cell = Cell("crc-sbn", 0, "CDL-SAM-CN")
    assert available([cell], folders) == ([cell], [])
    bags = Shelf(folders).bags_of(cell)
    train, test = bags.parts(0)
    assert (len(train), len(test), len(bags.splits)) == (49, 21, 10)
    assert train.candidates.sum(axis=1).mean() > 1
    assert Shelf(folders).bags_of(cell).described == bags.described
    found, missing = available([cell], DataFolders((tmp_path,)))
    assert found == []
    assert "medmnist.PathMNIST" in missing[0]


def test_the_test_part_gives_all_its_tiles_of_the_seven_classes_that_no_model_has_seen(npz):
    bags = build_crc_val(npz, "sbn")
    np.testing.assert_array_equal(np.bincount(bags.labels), [EACH - 1] * 7)
    assert bags.dim == 15


def test_drawers_of_small_tiles_hide_a_few_of_their_class_and_know_which(npz, tmp_path):
    recipe = Recipe(bags_per_class=3, smallest=10, largest=14, average=12, positive_share=0.2)
    bags, others = (build_pathmnist(npz, part, r=2, recipe=recipe) for part in ("train", "test"))
    assert (len(bags), bags.dim, bags.label_space) == (15, 28 * 28 * 3, PATHMNIST)
    np.testing.assert_array_equal(bags.candidates.sum(1), 3)
    with np.load(npz) as file:
        pictures, codes = file["train_images"].reshape(-1, 28 * 28 * 3) / np.float32(255), file["train_labels"][:, 0]
    tissue = {one.tobytes(): crc_mipl._PATHMNIST[code] for one, code in zip(pictures, codes, strict=True)}
    for bag in range(len(bags)):
        of_class = PATHMNIST.names[bags.labels[bag]]
        for one, carries in zip(bags.bag(bag), bags.instance_truth[bags.offsets[bag] :], strict=False):
            assert (
                tissue[one.tobytes()] == of_class if carries else tissue[one.tobytes()] in {"ADI", "BACK", "MUS", "STR"}
            )
    assert others.source != bags.source


def test_drawers_are_tested_on_other_patients(npz, monkeypatch):
    monkeypatch.setattr("elimipl.benchmark.sources.benchmark_sets.MNIST_RECIPE", Recipe(2, 5, 7, 6, 0.2))
    prepared = Shelf(DataFolders((npz.parent,))).bags_of(Cell("pathmnist", 1, "ELIMIPL"))
    train, test = prepared.parts(0)
    assert "train part" in prepared.dataset.source
    assert len(test) == 150
    assert set(prepared.splits[0][1]) == set(prepared.splits[1][1])
    assert len(train) == 350
