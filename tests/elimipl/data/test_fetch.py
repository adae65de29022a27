"""Fetching single tiles from a server on this machine."""

import io
import zipfile
from collections import Counter
from dataclasses import replace

import pytest

from bag_generators.errors import InputError
from elimipl.data.download import RemoteFile
from elimipl.data.fetch import fetch_tiles, tiles_by_class, unpack
from elimipl.labels import TISSUE7
from tests.elimipl.data.tile_server import NAME, TILES, ZIP, content_of, make_zip, tile

pytestmark = pytest.mark.usefixtures("no_waiting")


class TestTiles:
    def test_the_right_tiles_and_little_else(self, server, behaviour, tmp_path, monkeypatch):
        monkeypatch.setattr(RemoteFile, "ahead", 20_000)  # in proportion to these small tiles
        paths = fetch_tiles(NAME, 3, tmp_path / "tiles", base_url=server(behaviour))
        assert Counter(path.parent.name for path in paths) == dict.fromkeys(TISSUE7.names, 3)
        assert all(path.read_bytes() == content_of(path) for path in paths)
        assert sorted(path for path in (tmp_path / "tiles").rglob("*") if path.is_file()) == sorted(paths)
        assert behaviour.sent < len(ZIP) / 3
        assert len(behaviour.asked) <= 3 + len(TISSUE7)  # record, end, directory, one look at each class

    def test_a_64_bit_directory_larger_than_the_first_look(self, server, behaviour, tmp_path, monkeypatch):
        monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 10)
        behaviour.files[f"{NAME}.zip"] = content = make_zip()
        assert b"PK\x06\x06" in content  # the end record of the 64-bit kind
        monkeypatch.setattr(RemoteFile, "ahead", 100)
        paths = fetch_tiles(NAME, 2, tmp_path, base_url=server(behaviour))
        assert all(path.read_bytes() == content_of(path) for path in paths)

    def test_stored_tiles_and_other_classes(self, server, behaviour, tmp_path):
        behaviour.files[f"{NAME}.zip"] = make_zip(compression=zipfile.ZIP_STORED)
        paths = fetch_tiles(NAME, 1, tmp_path, classes=("ADI", "BACK"), base_url=server(behaviour))
        assert [path.parent.name for path in paths] == ["ADI", "BACK"]
        assert all(path.read_bytes() == content_of(path) for path in paths)

    def test_the_seed_decides_which_and_more_than_there_are_gives_all(self, server, behaviour, tmp_path):
        address = server(behaviour)
        one, same, other = (
            [path.name for path in fetch_tiles(NAME, 2, tmp_path / str(i), seed=seed, base_url=address)]
            for i, seed in enumerate((5, 5, 6))
        )
        assert one == same
        assert one != other
        assert len(fetch_tiles(NAME, 10 * TILES, tmp_path, classes=("DEB",), base_url=address)) == TILES  # no more

    def test_tiles_already_there_are_not_fetched_again(self, server, behaviour, tmp_path, monkeypatch):
        monkeypatch.setattr(RemoteFile, "ahead", 20_000)
        address = server(behaviour)
        paths = fetch_tiles(NAME, 5, tmp_path, base_url=address)
        paths[3].write_bytes(b"cut")
        before = behaviour.sent
        again = fetch_tiles(NAME, 5, tmp_path, base_url=address)
        assert again == paths
        assert paths[3].read_bytes() == content_of(paths[3])
        assert behaviour.sent - before < 100_000

    def test_progress_counts_up_to_the_end(self, server, behaviour, tmp_path):
        seen = []
        fetch_tiles(NAME, 2, tmp_path, base_url=server(behaviour), progress=lambda *step: seen.append(step))
        assert {what for what, _, _ in seen} == {"reading the list of tiles", "fetching tiles"}
        assert [step for step in seen if step[0] == "fetching tiles"] == [
            ("fetching tiles", i, 14) for i in range(1, 15)
        ]

    def test_a_connection_that_breaks_off_is_continued(self, server, behaviour, tmp_path):
        behaviour.cuts = [1000, 0, 50_000]
        paths = fetch_tiles(NAME, 2, tmp_path, base_url=server(behaviour))
        assert all(path.read_bytes() == content_of(path) for path in paths)

    @pytest.mark.parametrize(
        ("dataset", "changes", "sentence"),
        [
            (NAME, {"cuts": [0] * 100}, "broke off after"),
            (NAME, {"ranges": False}, r"parts of a file.*whole data set"),
            ("NCT-CRC-HE-100K", {}, "not a whole zip"),
        ],
    )
    def test_what_can_not_be_read_is_given_up(self, server, behaviour, tmp_path, dataset, changes, sentence):
        with pytest.raises(InputError, match=sentence):
            fetch_tiles(dataset, 2, tmp_path, base_url=server(replace(behaviour, **changes)))

    def test_a_damaged_tile(self, server, behaviour, tmp_path):
        content = bytearray(ZIP)
        at = content.index(tile("DEB", 0)[:50])
        content[at : at + 50] = bytes(50)
        behaviour.files[f"{NAME}.zip"] = bytes(content)
        with pytest.raises(InputError, match=r"DEB-TCGA-000\.tif.*damaged"):
            fetch_tiles(NAME, TILES, tmp_path, base_url=server(behaviour))
        assert not list(tmp_path.rglob("*000.tif"))

    def test_a_huge_member_is_not_unpacked(self, server, behaviour, tmp_path):
        behaviour.files[f"{NAME}.zip"] = make_zip([(f"{NAME}/HUGE/a.tif", bytes(1 << 25))])
        with pytest.raises(InputError, match="too large"):
            fetch_tiles(NAME, 1, tmp_path, classes=("HUGE",), base_url=server(behaviour))

    @pytest.mark.parametrize(
        ("changes", "sentence"),
        [
            ({"per_class": 0}, "at least one"),
            ({"dataset": "KATHER-2016"}, "no data set “KATHER-2016”"),
            ({"classes": ("DEB", "CAT")}, r"no class CAT\. Choose from: ADI, BACK, DEB"),
            ({"base_url": "file:///etc"}, "not a web address"),
        ],
    )
    def test_wishes_that_can_not_be_met(self, server, behaviour, tmp_path, changes, sentence):
        wish = {"dataset": NAME, "per_class": 1, "base_url": server(behaviour), **changes}
        with pytest.raises(InputError, match=sentence):
            fetch_tiles(target_folder=tmp_path, **wish)


class TestNames:
    @pytest.mark.parametrize(
        "name",
        [
            "../../DEB/../evil.tif",
            "x/../evil.tif",
            "x/./DEB/..",
            "/etc/DEB/.hidden.tif",
            "x/DEB/a\\..\\..\\evil.tif",
            "x/D E B/evil.tif",
            "x/DEB/evil.exe",
            "x/DEB/evil.tif\n.png",
            "x/" + "D" * 40 + "/evil.tif",
            "evil.tif",
            "x/DEB/",
        ],
    )
    def test_names_that_lead_elsewhere_are_no_tiles(self, name):
        member = zipfile.ZipInfo(name)
        member.header_offset = 0
        assert tiles_by_class([member]) == {}

    def test_only_the_last_two_parts_are_used(self, tmp_path):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("../../../DEB/a.tif", b"one")
            archive.writestr("/abs/DEB/b.tif", b"two")
            archive.writestr("other/DEB/a.tif", b"a second of the same name")
        (tmp_path / "set.zip").write_bytes(buffer.getvalue())
        paths = unpack(tmp_path / "set.zip", tmp_path / "in" / "here")
        assert {path.relative_to(tmp_path).as_posix(): path.read_bytes() for path in paths} == {
            "in/here/DEB/a.tif": b"one",
            "in/here/DEB/b.tif": b"two",
        }
