"""Zip files of class folders: what is read, and what a hostile or broken file gets."""

import io
import zipfile

import numpy as np
import pytest
from PIL import Image

from bag_generators import InputError, generate, load
from elimipl.data import tiles as tile_zip
from elimipl.data.tiles import bags_from_zip
from elimipl.labels import TISSUE7
from scripts.bad_inputs.encodings import png_claiming


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
