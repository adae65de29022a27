"""Servers in trouble, and what is followed."""

import shutil
import socket
import subprocess
import threading
from dataclasses import replace

import pytest

from bag_generators.errors import InputError
from elimipl.data import download
from elimipl.data.fetch import describe
from tests.elimipl.data.tile_server import FILE_PATH, NAME, ZIP

pytestmark = pytest.mark.usefixtures("no_waiting")


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
