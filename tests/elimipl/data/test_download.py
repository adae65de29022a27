"""Fetching whole sets: continued, checked, unpacked."""

import shutil

import pytest

from bag_generators.errors import InputError
from elimipl.data import download
from elimipl.data.fetch import describe, fetch_whole, unpack
from tests.elimipl.data.tile_server import CLASSES, NAME, TILES, ZIP, content_of

pytestmark = pytest.mark.usefixtures("no_waiting")


class TestWhole:
    def test_the_file_comes_whole_and_unpacks(self, server, behaviour, tmp_path):
        seen = []
        path = fetch_whole(NAME, tmp_path / "new", base_url=server(behaviour), progress=lambda *step: seen.append(step))
        assert path.read_bytes() == ZIP
        assert [file.name for file in path.parent.iterdir()] == [f"{NAME}.zip"]
        assert ("fetching", len(ZIP), len(ZIP)) in seen
        assert ("checking", len(ZIP), len(ZIP)) in seen
        tiles = unpack(path, tmp_path / "tiles", progress=lambda *step: seen.append(step))
        assert len(tiles) == len(CLASSES) * TILES
        assert all(tile.read_bytes() == content_of(tile) for tile in tiles)
        assert seen[-1] == ("unpacking", len(tiles), len(tiles))

    @pytest.mark.parametrize(
        ("part", "changes", "sent"),
        [
            (ZIP[:100_000], {}, len(ZIP) - 100_000),  # goes on where the last fetch ended
            (ZIP + b"more", {}, len(ZIP)),  # starts over
            (ZIP[:15], {"ranges": False}, len(ZIP)),
            (b"", {"cuts": [1000, 70_000, 0, 0, 5]}, len(ZIP)),  # broken connections are continued within a call
        ],
        ids=["a part", "too long", "no ranges", "broken off"],
    )
    def test_a_fetch_goes_on_with_what_is_there(self, server, behaviour, tmp_path, part, changes, sent):
        (tmp_path / f"{NAME}.zip.part").write_bytes(part)
        for name, value in changes.items():
            setattr(behaviour, name, value)
        address = server(behaviour)
        assert fetch_whole(NAME, tmp_path, base_url=address).read_bytes() == ZIP
        assert behaviour.sent == sent
        fetch_whole(NAME, tmp_path, base_url=address)
        assert behaviour.sent == sent  # a whole file is not fetched again

    def test_after_giving_up_the_part_is_kept_for_the_next_call(self, server, behaviour, tmp_path):
        behaviour.cuts = [300_000, *[0] * download._FRUITLESS]
        address = server(behaviour)
        with pytest.raises(InputError, match="broke off after 300000 of"):
            fetch_whole(NAME, tmp_path, base_url=address)
        assert (tmp_path / f"{NAME}.zip.part").read_bytes() == ZIP[:300_000]
        assert fetch_whole(NAME, tmp_path, base_url=address).read_bytes() == ZIP
        assert behaviour.sent == len(ZIP)

    def test_an_interrupt_leaves_a_part_to_continue(self, server, behaviour, tmp_path):
        def stop(what, done, total):
            if done > 0:
                raise KeyboardInterrupt

        address = server(behaviour)
        with pytest.raises(KeyboardInterrupt):
            fetch_whole(NAME, tmp_path, base_url=address, progress=stop)
        part = (tmp_path / f"{NAME}.zip.part").read_bytes()
        assert part
        assert part == ZIP[: len(part)]
        assert fetch_whole(NAME, tmp_path, base_url=address).read_bytes() == ZIP

    def test_a_wrong_checksum_throws_the_file_away(self, server, behaviour, tmp_path):
        behaviour.checksums[f"{NAME}.zip"] = "md5:" + "0" * 32
        with pytest.raises(InputError, match="checksum is wrong"):
            fetch_whole(NAME, tmp_path, base_url=server(behaviour))
        assert list(tmp_path.iterdir()) == []

    def test_a_foreign_part_is_found_out_by_the_checksum(self, server, behaviour, tmp_path):
        (tmp_path / f"{NAME}.zip.part").write_bytes(bytes(1000))
        address = server(behaviour)
        with pytest.raises(InputError, match="checksum is wrong"):
            fetch_whole(NAME, tmp_path, base_url=address)
        assert fetch_whole(NAME, tmp_path, base_url=address).read_bytes() == ZIP

    def test_another_file_of_that_name_is_left_alone(self, server, behaviour, tmp_path):
        (tmp_path / f"{NAME}.zip").write_bytes(b"mine")
        with pytest.raises(InputError, match="another file"):
            fetch_whole(NAME, tmp_path, base_url=server(behaviour))
        assert (tmp_path / f"{NAME}.zip").read_bytes() == b"mine"

    def test_a_disk_known_to_be_too_small(self, server, behaviour, tmp_path, monkeypatch):
        usage = shutil.disk_usage(tmp_path)
        monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1000))
        with pytest.raises(InputError, match="Make room or choose another folder"):
            fetch_whole(NAME, tmp_path, base_url=server(behaviour))
        assert behaviour.sent == 0

    def test_a_disk_that_fills_up_on_the_way(self, server, behaviour, tmp_path):
        def full(what, done, total):
            if done > 0:
                raise OSError(28, "No space left on device")

        with pytest.raises(InputError, match=r"is full.*goes on where it was"):
            fetch_whole(NAME, tmp_path, base_url=server(behaviour), progress=full)
        assert (tmp_path / f"{NAME}.zip.part").exists()

    def test_a_folder_that_can_not_be_made(self, server, behaviour, tmp_path):
        (tmp_path / "file").write_text("in the way")
        with pytest.raises(InputError, match="could not be written"):
            fetch_whole(NAME, tmp_path / "file" / "sub", base_url=server(behaviour))

    def test_a_file_that_has_changed_on_the_server(self, server, behaviour, tmp_path):
        address = server(behaviour)
        described = describe(NAME, address)
        behaviour.files[f"{NAME}.zip"] = ZIP + b"more"
        with pytest.raises(InputError, match="not the one announced"):
            download.download(described.url, tmp_path / "x.zip", described.size, described.md5)
        with pytest.raises(InputError, match="not the one announced"):
            download.RemoteFile(described.url, described.size).read(10)

    def test_unpacking_what_is_no_archive(self, tmp_path):
        (tmp_path / "text.zip").write_text("no zip")
        (tmp_path / "cut.zip").write_bytes(ZIP[:-100])
        for name in ("text.zip", "cut.zip"):
            with pytest.raises(InputError, match="not a whole zip"):
                unpack(tmp_path / name, tmp_path)
        with pytest.raises(InputError, match="could not be read"):
            unpack(tmp_path / "none.zip", tmp_path)
