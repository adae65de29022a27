"""Bags from folders of class folders: order, labels, groups, and pictures that can't be used."""

import io
import shutil
import zipfile

import numpy as np
import pytest
from PIL import Image

from bag_generators import InputError, generate, load
from elimipl.candidates.labels import LESION5, TISSUE7, LabelSpace
from elimipl.datasets import tiles as tile_zip
from elimipl.datasets.tiles import bags_from_tiles, bags_from_zip, find_tiles
from tests.support.bad_files import png_claiming


def write_picture(path, seed):
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.random.default_rng(seed).integers(0, 255, (8, 8, 3), dtype=np.uint8)
    Image.fromarray(pixels).resize((64, 64), Image.Resampling.BICUBIC).save(path)


@pytest.fixture
def folder(tmp_path):
    for seed, name in enumerate(("TUM/b.png", "TUM/a.PNG", "DEB/deep/c.jpg", "STR/d.tif")):
        write_picture(tmp_path / "tiles" / name, seed)
    (tmp_path / "tiles" / "STR" / "notes.txt").write_text("not a picture")
    (tmp_path / "tiles" / "STR" / "._d.tif").write_text("left over by a Mac")
    (tmp_path / "tiles" / ".cache").mkdir()
    return tmp_path / "tiles"


def test_every_picture_becomes_its_own_bag(folder):
    made = bags_from_tiles(folder, "row", workers=1, source="here", licence="CC0", stain="none")
    assert made.refused == ()
    assert made.dataset.names == ("DEB/deep/c.jpg", "STR/d.tif", "TUM/a.PNG", "TUM/b.png")
    assert made.dataset.label_space is TISSUE7
    np.testing.assert_array_equal(made.dataset.labels, [TISSUE7.index(name) for name in ("DEB", "STR", "TUM", "TUM")])
    np.testing.assert_array_equal(made.dataset.candidates.sum(axis=1), 1)
    for i, name in enumerate(made.dataset.names):
        bag = generate("row", load(folder / name))
        np.testing.assert_array_equal(made.dataset.bag(i), bag.features)
        assert made.dataset.params == dict(bag.params)
    assert (made.dataset.generator, made.dataset.source, made.dataset.licence) == ("row", "here", "CC0")


def test_broken_pictures_are_reported_and_the_rest_is_kept(folder):
    (folder / "TUM" / "a.PNG").write_bytes(b"no picture")
    seen = []
    made = bags_from_tiles(folder, "sbn", progress=lambda done, total: seen.append((done, total)))
    assert len(made.dataset) == 3
    ((path, error),) = made.refused
    assert path == folder / "TUM" / "a.PNG"
    assert isinstance(error, InputError)
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_when_nothing_can_be_used_the_first_reason_is_given(tmp_path):
    for name in ("DEB", "TUM"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.png").write_bytes(b"no picture")
    with pytest.raises(InputError, match=r"None of the 2 pictures.*x\.png"):
        bags_from_tiles(tmp_path, "row")


def test_copies_of_a_picture_share_a_group(folder):
    shutil.copy(folder / "TUM" / "b.png", folder / "TUM" / "z.png")
    made = bags_from_tiles(folder, "row").dataset
    groups = dict(zip(made.names, made.groups.tolist(), strict=True))
    assert groups["TUM/b.png"] == groups["TUM/z.png"]
    assert len(set(groups.values())) == 4


def test_unknown_folders_make_their_own_label_space_and_a_given_one_rules(tmp_path, folder):
    for name in ("cat", "bird", "cow"):
        write_picture(tmp_path / "farm" / name / "1.png", seed=1)
    _, labels, space = find_tiles(tmp_path / "farm")
    assert space.names == ("bird", "cat", "cow")
    assert labels == [0, 1, 2]
    space = LabelSpace.of(["TUM", "STR", "DEB", "other"])
    made = bags_from_tiles(folder, "row", label_space=space)
    np.testing.assert_array_equal(made.dataset.labels, [2, 1, 0, 0])
    with pytest.raises(InputError, match="“DEB” is not a class of “lesion5”"):
        bags_from_tiles(folder, "row", label_space=LESION5)


def test_folders_without_pictures_are_answered(tmp_path):
    with pytest.raises(InputError, match="There is no folder"):
        find_tiles(tmp_path / "none")
    with pytest.raises(InputError, match=r"0 class folder\(s\)"):
        find_tiles(tmp_path)
    (tmp_path / "DEB").mkdir()
    with pytest.raises(InputError, match="no pictures in the class folders"):
        find_tiles(tmp_path)


def test_wrong_generators_and_parameters_are_sentences(folder):
    with pytest.raises(InputError, match="deeper"):
        bags_from_tiles(folder, "deeper")
    with pytest.raises(InputError, match="colour"):
        bags_from_tiles(folder, "row", colour="red")


def test_real_tiles_on_all_cores(shared_data):
    made = bags_from_tiles(shared_data / "tissue7" / "train", "row", workers=2)
    assert made.refused == ()
    assert (len(made.dataset), made.dataset.dim) == (128, 9)
    assert made.dataset.label_space is TISSUE7
    assert set(made.dataset.sizes) == {8}


def picture(seed):
    small = np.random.default_rng(seed).integers(0, 255, (8, 8, 3), dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(small).resize((64, 64), Image.Resampling.BICUBIC).save(buffer, "PNG")
    return buffer.getvalue()


def zipped(files, compression=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def test_pictures_become_bags_and_a_broken_one_is_reported():
    pictures = {"tiles/TUM/b.png": picture(0), "tiles/DEB/a.PNG": picture(1), "tiles/TUM/a.png": picture(0)}
    rest = {"tiles/notes.txt": b"", "__MACOSX/tiles/TUM/._b.png": b"", "top.png": picture(2), "tiles/.x/c.png": b""}
    seen = []
    made = bags_from_zip(zipped({**pictures, **rest}), "row", lambda done, total: seen.append((done, total)))
    assert made.refused == ()
    assert made.dataset.names == ("tiles/DEB/a.PNG", "tiles/TUM/a.png", "tiles/TUM/b.png")
    assert made.dataset.label_space is TISSUE7
    assert made.dataset.labels.tolist() == [TISSUE7.index(name) for name in ("DEB", "TUM", "TUM")]
    assert made.dataset.groups[1] == made.dataset.groups[2] != made.dataset.groups[0]
    np.testing.assert_array_equal(made.dataset.bag(0), generate("row", load(picture(1))).features)
    assert seen == [(1, 3), (2, 3), (3, 3)]
    made = bags_from_zip(zipped({"a/x.png": picture(0), "b/y.png": b"no picture", "b/z.png": picture(1)}), "sbn")
    assert made.dataset.names == ("a/x.png", "b/z.png")
    ((name, error),) = made.refused
    assert name == "b/y.png"
    assert isinstance(error, InputError)


def test_a_name_that_climbs_out_of_the_folder_is_only_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = {"/one/a.png": picture(0), "/etc/two/b.png": picture(1), "../../three/c.png": picture(2)}
    made = bags_from_zip(zipped(files), "row")
    assert made.dataset.label_space.names == ("one", "two")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"no zip", "not a whole zip"),
        (zipped({"a/x.png": picture(0)})[:-40], "not a whole zip"),
        (zipped({"x.png": picture(0)}), "no pictures in class folders"),
        (zipped({"only/x.png": picture(0)}), r"1 class folder\(s\)"),
        (zipped({"a/x.png": b"?", "b/y.png": b"?"}), "None of the 2 pictures"),
        (zipped({"a" * 61 + "/x.png": b"", "b/y.png": b""}), "can't be shown"),
        (zipped({f"class {i}/x.png": b"" for i in range(51)}), "51 classes"),
    ],
)
def test_what_can_not_be_used_gets_a_sentence(content, told):
    with pytest.raises(InputError, match=told):
        bags_from_zip(content, "row")


def test_a_damaged_entry_gets_a_sentence():
    content = bytearray(zipped({"a/x.png": picture(0), "b/y.png": picture(1)}, zipfile.ZIP_STORED))
    place = content.index(b"IDAT")
    content[place] ^= 255  # the checksum of the entry no longer holds
    with pytest.raises(InputError, match="damaged"):
        bags_from_zip(bytes(content), "row")


def test_a_bomb_is_not_unpacked(monkeypatch):
    monkeypatch.setattr(tile_zip, "MAX_BYTES", 10_000)
    with pytest.raises(InputError, match="unpacks to more"):
        bags_from_zip(zipped({"a/x.png": bytes(20_000), "b/y.png": picture(1)}), "row")


def test_all_pictures_together_are_counted_too(monkeypatch):
    files = {"a/x.png": picture(0), "b/y.png": picture(1)}
    monkeypatch.setattr(tile_zip, "MOST_ZIP_BYTES", sum(map(len, files.values())) - 1)
    with pytest.raises(InputError, match="unpacks to more"):
        bags_from_zip(zipped(files), "row")


def test_pixels_of_all_pictures_are_counted_before_the_first_is_decoded(monkeypatch):
    monkeypatch.setattr(tile_zip, "read_upload", lambda _: pytest.fail("a picture was decoded"))
    buffer = io.BytesIO()
    Image.new("1", (8000, 5000)).save(buffer, "PNG")
    files = {f"{'ab'[i % 2]}/{i}.png": buffer.getvalue() for i in range(13)}
    with pytest.raises(InputError, match="more than 500 million pixels together"):
        bags_from_zip(zipped(files), "row")


@pytest.mark.parametrize("format_", ["PNG", "JPEG", "TIFF", "BMP", "WEBP"])
def test_the_header_of_every_format_is_counted(monkeypatch, format_):
    def encoded(seed):
        buffer = io.BytesIO()
        Image.open(io.BytesIO(picture(seed))).save(buffer, format_)
        return buffer.getvalue()

    files = {f"a/x.{format_.lower()}": encoded(0), f"b/y.{format_.lower()}": encoded(1)}
    monkeypatch.setattr(tile_zip, "MOST_ZIP_PIXELS", 2 * 64 * 64)
    assert len(bags_from_zip(zipped(files), "row").dataset) == 2
    monkeypatch.setattr(tile_zip, "MOST_ZIP_PIXELS", 2 * 64 * 64 - 1)
    with pytest.raises(InputError, match="million pixels together"):
        bags_from_zip(zipped(files), "row")


def test_a_picture_too_large_to_be_decoded_costs_no_pixels():
    files = {"a/x.png": picture(0), "b/y.png": picture(1), "b/z.png": png_claiming(30_000, 30_000)}
    made = bags_from_zip(zipped(files), "row")
    assert len(made.dataset) == 2
    assert [name for name, _ in made.refused] == ["b/z.png"]
