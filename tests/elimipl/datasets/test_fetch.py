"""Fetching tiles and whole sets from a server on this machine, also one in trouble, and what is followed."""

import io
import shutil
import socket
import subprocess
import threading
import zipfile
from collections import Counter
from contextlib import suppress
from dataclasses import replace

import pytest

from bag_generators.base.errors import InputError
from elimipl.candidates.labels import TISSUE7
from elimipl.datasets import download
from elimipl.datasets.download import RemoteFile
from elimipl.datasets.fetch import describe, fetch_tiles, fetch_whole, tiles_by_class, unpack
from tests.elimipl.datasets.tile_server import CLASSES, FILE_PATH, NAME, TILES, ZIP, content_of, make_zip, tile

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


class TestServerTrouble:
    @pytest.mark.parametrize("status", [429, 500, 503])
    def test_a_busy_server_is_asked_again(self, server, behaviour, no_waiting, status):
        behaviour.faults = [status, status]
        assert describe(NAME, server(behaviour)).size == len(ZIP)
        assert no_waiting == [6.0]  # at once, then after a pause

    def test_a_server_may_say_how_long_to_wait_but_not_for_ever(self, server, behaviour, no_waiting):
        behaviour.faults, behaviour.retry_after = [429], "7"
        address = server(behaviour)
        describe(NAME, address)
        behaviour.faults, behaviour.retry_after = [429], "86400"
        describe(NAME, address)
        assert no_waiting == [7.0, 60.0]
        behaviour.faults, behaviour.retry_after = [503], "when it suits me"
        with pytest.raises(InputError, match="can't be reached"):
            describe(NAME, address)

    @pytest.mark.parametrize(
        ("status", "sentence"),
        [
            (404, "has no file at"),
            (403, "refuses the request"),
            (429, "refuses the request"),
            (502, "status 502.*later"),
        ],
    )
    def test_a_refusal_is_a_sentence(self, server, behaviour, status, sentence):
        behaviour.faults = [status] * 4
        with pytest.raises(InputError, match=sentence):
            describe(NAME, server(behaviour))

    def test_no_server(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            address = f"http://127.0.0.1:{unused.getsockname()[1]}"
            with pytest.raises(InputError, match=r"can't be reached \([^H]*Connection refused\).*your connection"):
                describe(NAME, address)

    def test_no_internet(self, monkeypatch):
        def unknown(*_args, **_kwargs):
            raise socket.gaierror(-3, "Temporary failure in name resolution")

        monkeypatch.setattr(socket, "getaddrinfo", unknown)
        with pytest.raises(InputError, match=r"zenodo\.org can't be reached \(Failed to resolve"):
            describe(NAME)

    def test_a_server_that_never_answers(self, server, behaviour, monkeypatch):
        monkeypatch.setattr(download, "TIMEOUT", 0.05)
        behaviour.silent = threading.Event()
        with pytest.raises(InputError, match=r"can't be reached \(Read timed out"):
            describe(NAME, server(behaviour))

    @pytest.mark.parametrize(
        ("record", "sentence"),
        [
            (b"<html>", "not the description of a data set"),
            (b"[1, 2]", "not the description of a data set"),
            (b"{}", "doesn't describe"),
            (b'{"files": [{"key": "other.zip"}]}', "doesn't describe"),
            (b'{"files": [{"key": "CRC-VAL-HE-7K.zip", "size": "x"}]}', "doesn't describe"),
            (b" " * (1 << 23), "not the description of a data set"),
            (
                b'{"files": [{"key": "CRC-VAL-HE-7K.zip", "size": 3, "checksum": "sha256:0", "links": {"self": "x"}}]}',
                "no MD5 checksum",
            ),
        ],
    )
    def test_a_record_of_another_kind(self, server, behaviour, record, sentence):
        with pytest.raises(InputError, match=sentence):
            describe(NAME, server(replace(behaviour, record=record)))


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate for 127.0.0.1 that nobody has signed, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl to make a certificate with")
    files = [str(tmp_path_factory.mktemp("tls") / name) for name in ("certificate.pem", "key.pem")]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-out", files[0], "-keyout", files[1]]
    subprocess.run(command, check=True, capture_output=True)
    return tuple(files)


class TestWhatIsFollowed:
    """Redirects and the surroundings: proxies and certificates count, credentials and cookies don't."""

    def test_redirects_keep_the_wish_for_a_part(self, server, behaviour):
        address = server(behaviour)
        url = describe(NAME, address).url
        behaviour.redirects = [url, url]
        assert b"".join(download.read_part(url, 10, 20, len(ZIP))) == ZIP[10:20]
        assert [part for _, part in behaviour.asked[-3:]] == ["bytes=10-19"] * 3

    def test_redirects_without_end_and_to_files_of_this_machine(self, server, behaviour):
        address = server(behaviour)
        behaviour.redirects = [address] * 50
        with pytest.raises(InputError, match="Exceeded 10 redirects"):
            describe(NAME, address)
        assert len(behaviour.asked) == 11
        behaviour.redirects = ["file:///etc/passwd"]
        with pytest.raises(InputError, match="can't be reached"):
            describe(NAME, address)
        behaviour.redirects = ["http://[::\x1b]/"]
        with pytest.raises(InputError, match="can't be reached"):
            describe(NAME, address)

    def test_an_answer_without_end_is_left_when_all_is_there(self):
        with socket.create_server(("127.0.0.1", 0)) as listening:

            def send_on() -> None:
                connection, _ = listening.accept()
                with connection, suppress(OSError):
                    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                    while True:
                        connection.sendall(bytes(1 << 16))

            threading.Thread(target=send_on, daemon=True).start()
            url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
            assert b"".join(download.read_part(url, 0, 10, 10, or_whole=True)) == bytes(10)

    def test_no_credentials_and_no_cookies_are_sent(self, server, behaviour, tmp_path, monkeypatch):
        netrc = tmp_path / "netrc"
        netrc.write_text("machine 127.0.0.1 login me password secret\n")
        monkeypatch.setenv("NETRC", str(netrc))
        address = server(behaviour)
        describe(NAME, address)
        behaviour.redirects = [f"{address}/api/records/1214456"]
        describe(NAME, address)
        describe(NAME, address)
        assert behaviour.identified == ["who=me"]  # within the redirect that set it, not later

    def test_the_proxy_of_the_environment_is_used(self, server, behaviour, monkeypatch):
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("http_proxy", server(behaviour))
        with pytest.raises(InputError, match=r"tiles\.example has no file"):
            describe(NAME, "http://tiles.example")
        assert [path for path, _ in behaviour.asked] == ["http://tiles.example/api/records/1214456"]

    def test_only_certificates_that_the_system_knows_are_trusted(self, server, behaviour, certificate, monkeypatch):
        behaviour.certificate = certificate
        address = server(behaviour)
        with pytest.raises(InputError, match="certificate verify failed"):
            describe(NAME, address)
        monkeypatch.setenv("SSL_CERT_FILE", certificate[0])
        assert download.RemoteFile(f"{address}{FILE_PATH}", len(ZIP)).read(10) == ZIP[:10]

    def test_from_https_only_to_https(self, server, behaviour, certificate, monkeypatch):
        monkeypatch.setenv("SSL_CERT_FILE", certificate[0])
        safe = replace(behaviour, certificate=certificate, redirects=[server(behaviour) + FILE_PATH])
        with pytest.raises(InputError, match="without encryption"):
            list(download.read_part(f"{server(safe)}{FILE_PATH}", 0, 10, len(ZIP)))
        assert behaviour.sent <= 10


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
