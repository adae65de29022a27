"""The sample proxy of docs/nginx.conf before a running app; skipped where there is no nginx."""

import contextlib
import http.client
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from benchmarks.bench_load import tile_png
from tests.support.running_app import free_port
from tests.support.simulated_visitor import Visitor
from tests.support.waiting import PATIENCE, wait_until

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
pytestmark = pytest.mark.skipif(NGINX is None, reason="there is no nginx here")
SAMPLE = (Path(__file__).resolve().parents[2] / "docs" / "nginx.conf").read_text(encoding="utf-8")
AROUND = """daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{ access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
{sample} }}
"""


def changed(sample: str, changes: dict[str, str]) -> str:
    """The sample with other names, addresses and times; each must be found."""
    for old, new in changes.items():
        assert old in sample, old
        sample = sample.replace(old, new)
    return sample


@pytest.fixture
def proxy(served, tmp_path) -> Iterator[str]:
    """The sample without TLS and login, on a free port, less patient."""
    with before(served.address, tmp_path, {"client_header_timeout 10s": "client_header_timeout 2s"}) as address:
        yield address


@contextlib.contextmanager
def before(app: str, tmp_path: Path, more: dict[str, str]) -> Iterator[str]:
    """The sample without TLS and login before an app, on a free port."""
    port = free_port()
    login = SAMPLE[SAMPLE.index("    auth_basic ") : SAMPLE.index("    # A school has")]
    keys = SAMPLE[SAMPLE.index("    ssl_certificate ") : SAMPLE.index("    auth_basic ")]
    changes = {
        "listen 443 ssl": f"listen 127.0.0.1:{port}",
        "teaching.example.org": "localhost",
        "http://127.0.0.1:8501": app.replace("localhost", "127.0.0.1"),
        **more,
    }
    sample = changed(SAMPLE.replace(login, "").replace(keys, ""), changes)
    settings = tmp_path / "nginx.conf"
    settings.write_text(AROUND.format(folder=tmp_path, sample=sample), encoding="utf-8")
    process = subprocess.Popen([NGINX, "-p", str(tmp_path), "-c", str(settings)], stderr=subprocess.PIPE)
    try:
        wait_until(lambda: process.poll() is not None or answers(port))
        assert process.poll() is None, process.stderr.read().decode()
        yield f"http://localhost:{port}"
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE)


def answers(port: int) -> bool:
    with contextlib.suppress(OSError):
        socket.create_connection(("127.0.0.1", port)).close()
        return True
    return False


def status(address: str, path: str, method: str = "GET", **headers: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(address).port, timeout=PATIENCE)
    connection.request(method, path, headers={"Host": urlsplit(address).netloc, **headers})
    return connection.getresponse().status


async def test_a_visit_an_upload_and_what_stays_outside(proxy):
    async with Visitor(proxy) as visitor:
        await visitor.run()
        await visitor.upload("upload", "tile.png", tile_png(21))
        assert b'"generator"' in await visitor.download("download-json")
    assert status(proxy, "/_stcore/health") == 200
    assert status(proxy, "/_stcore/metrics") == status(proxy, "/_stcore/script-health-check") == 404
    too_much = {"Content-Length": str(52 * 2**20)}
    assert status(proxy, "/_stcore/upload_file/a/b", "PUT", **too_much) == 413


def waiting(address: str, count: int) -> list[socket.socket]:
    """Connections whose request has begun: the head comes, the body does not."""
    opened = []
    for _ in range(count):  # one after the other: a proxy that waits for a head does not wait long
        connection = socket.create_connection(("127.0.0.1", urlsplit(address).port), timeout=PATIENCE)
        opened.append(connection)
        connection.send(b"PUT /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n")
    return opened


def test_a_class_behind_one_address_comes_in_together(proxy):
    """Forty students, the teacher and the projector: a WebSocket and six connections each, 140 files, some requests."""
    everybody = waiting(proxy, 42 * 7)
    assert status(proxy, "/_stcore/health") == 200
    more = waiting(proxy, 40)
    assert [connection.recv(12) for connection in more[8:]].count(b"HTTP/1.1 503") >= 25
    for connection in everybody + more:
        connection.close()


def test_a_class_may_ask_for_all_files_of_the_page_at_once(tmp_path):
    """An app that is not there: nginx says 502 for what it would have passed on and 503 for what it refuses."""
    with before(f"http://127.0.0.1:{free_port()}", tmp_path, {}) as address:
        connection = http.client.HTTPConnection("127.0.0.1", urlsplit(address).port, timeout=PATIENCE)

        def answered(path: str) -> int:
            connection.request("GET", path)
            answer = connection.getresponse()
            answer.read()
            return answer.status

        assert {answered("/static/js/index.js") for _ in range(42 * 144)} == {502}
        assert {answered("/_stcore/host-config") for _ in range(42 * 10)} == {502}
        assert any(answered("/_stcore/host-config") == 503 for _ in range(5000))


def test_silent_connections_are_dropped_and_many_refused(proxy):
    server = ("127.0.0.1", urlsplit(proxy).port)
    silent = [socket.create_connection(server, timeout=PATIENCE) for _ in range(100)]
    for connection in silent:
        with contextlib.suppress(ConnectionError):
            connection.send(b"GET / HTTP/1.1\r\nX-Slow: ")
    for connection in silent:  # the header never ends, so nginx ends the connection
        with contextlib.suppress(ConnectionError):
            assert connection.recv(1) == b""
    slow = waiting(proxy, 400)
    answers = [connection.recv(12) for connection in slow[300:]]
    assert answers.count(b"HTTP/1.1 503") >= 80
    for connection in slow:
        connection.close()
    assert status(proxy, "/_stcore/health") == 200


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes the certificate")
def test_the_sample_as_it_is_is_understood(tmp_path):
    key, certificate, passwords = (tmp_path / name for name in ("key.pem", "certificate.pem", "passwords"))
    passwords.write_text("ann:{PLAIN}secret\n")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=teaching.example.org", "-keyout",
         str(key), "-out", str(certificate)], check=True, capture_output=True,
    )  # fmt: skip
    places = {
        "/etc/ssl/certs/teaching.example.org.pem": str(certificate),
        "/etc/ssl/private/teaching.example.org.key": str(key),
        "/etc/nginx/elimipl.htpasswd": str(passwords),
    }
    settings = tmp_path / "nginx.conf"
    settings.write_text(AROUND.format(folder=tmp_path, sample=changed(SAMPLE, places)), encoding="utf-8")
    tried = subprocess.run([NGINX, "-t", "-p", str(tmp_path), "-c", str(settings)], capture_output=True, text=True)
    assert tried.returncode == 0, tried.stderr
