"""Where bags come from: tiles with other slides for the test, and the authors' files with their splits."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

from bag_generators.base.errors import InputError
from elimipl.benchmark.cells import Cell
from elimipl.benchmark.sources import DataFolders, Shelf, available
from elimipl.candidates.labels import LESION5, TISSUE7


def draw_tiles(folder: Path, names: tuple[str, ...], each: int) -> None:
    rng = np.random.default_rng(len(folder.parts))
    for name in names:
        (folder / name).mkdir(parents=True)
        for i in range(each):
            Image.fromarray(rng.integers(0, 255, (64, 64, 3), np.uint8)).save(folder / name / f"{i}.png")


def test_lesions_are_tested_on_all_tiles_of_other_slides(tmp_path: Path) -> None:
    draw_tiles(tmp_path / "lesion5/train", LESION5.names, 10)
    draw_tiles(tmp_path / "lesion5/val", LESION5.names, 2)
    seen = []
    folders = DataFolders((tmp_path,), kept=tmp_path / "kept")
    cell = Cell("lesion5-sbn", 0, "ELIMIPL")
    bags = Shelf(folders, lambda done, total: seen.append((done, total))).bags_of(cell)
    train, test = bags.parts(0)
    assert (len(train), len(test)) == (35, 10)
    np.testing.assert_array_equal(np.bincount(train.labels), [7] * 5)
    assert set(test.names) == {f"{name}/{i}.png" for name in LESION5.names for i in range(2)}
    np.testing.assert_array_equal(bags.parts(1)[1].instances, test.instances)
    assert train.params["stain"] == "tones"
    assert 1 < train.candidates.sum(axis=1).mean() < 3
    assert train.candidates[np.arange(35), train.labels].all()
    assert seen[-1] == (10, 10)

    again = Shelf(folders, lambda done, total: pytest.fail("made again")).bags_of(cell)
    assert again.described == bags.described
    np.testing.assert_array_equal(again.parts(3)[0].candidates, bags.parts(3)[0].candidates)


def test_tissues_are_split_by_tile(tmp_path: Path) -> None:
    draw_tiles(tmp_path / "tissue7/train", TISSUE7.names, 10)
    bags = Shelf(DataFolders((tmp_path,), kept=tmp_path / "kept")).bags_of(Cell("tissue7-row", 0, "CE"))
    train, test = bags.parts(0)
    assert (len(train), len(test), len(bags.splits)) == (49, 21, 10)
    assert not set(train.names) & set(test.names)


def write_mat(path: Path, bags: int = 10) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    cells = np.empty((bags, 3), dtype=object)
    for i in range(bags):
        cells[i] = [np.full((2, 3), i, float), np.array([[1, 2]]), np.array([[i % 2 + 1]])]
    savemat(path, {"data": cells})


def test_the_authors_files_come_with_their_candidate_sets_and_splits(tmp_path: Path) -> None:
    write_mat(tmp_path / "SIVAL_MIPL/SIVAL_MIPL_r2.mat")
    (tmp_path / "SIVAL_MIPL/index").mkdir()
    parts = {"trainIndex": np.arange(1, 8), "testIndex": np.arange(8, 11)}
    savemat(tmp_path / "SIVAL_MIPL/index/index1.mat", parts)
    cells = [Cell("authors-sival", r, "ELIMIPL") for r in (1, 2, 3)]
    found, missing = available(cells, DataFolders((tmp_path,), mat=tmp_path))
    assert [cell.r for cell in found] == [2]
    assert len(missing) == 2
    bags = Shelf(DataFolders((tmp_path,), mat=tmp_path)).bags_of(found[0])
    train, test = bags.parts(0)
    assert (len(train), len(test), len(bags.splits)) == (7, 3, 1)
    np.testing.assert_array_equal(test.instances[::2, 0], [7, 8, 9])
    np.testing.assert_array_equal(train.candidates.sum(axis=1), [2] * 7)


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("MNIST_MIPL_r1.mat", Cell("authors-mnist", 1, "CE")),
        ("FMNIST-MIPL-r3.mat", Cell("authors-fmnist", 3, "CE")),
        ("Birdsong_MIPL_10.mat", Cell("authors-birdsong", 10, "CE")),
        ("CRC-MIPL-KMeansSeg.mat", Cell("authors-crc-kmeansseg", 0, "CE")),
        ("crc_kmeans.mat", Cell("authors-crc-kmeansseg", 0, "CE")),
    ],
)
def test_the_authors_files_are_known_by_the_words_in_their_names(tmp_path: Path, name: str, cell: Cell) -> None:
    write_mat(tmp_path / name)
    assert DataFolders(mat=tmp_path).of(cell).name == name
    for other in (Cell("authors-mnist", 2, "CE"), Cell("authors-birdsong", 1, "CE"), Cell("authors-crc-row", 0, "CE")):
        with pytest.raises(InputError, match="Name the file like"):
            DataFolders(mat=tmp_path).of(other)


def test_without_a_folder_the_authors_data_is_not_there(tmp_path: Path) -> None:
    found, missing = available([Cell("authors-sival", 1, "ELIMIPL")], DataFolders((tmp_path,)))
    assert found == []
    assert "--mat" in missing[0]
