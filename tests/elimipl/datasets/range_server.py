"""A small stand-in for Zenodo on this machine: one record, its files, range requests, and faults on demand."""

import hashlib
import json
import re
import ssl
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

RECORD = "/api/records/1214456"


@dataclass
class Behaviour:
    """What the server holds, and what it is told to do wrong."""

    files: dict[str, bytes]
    checksums: dict[str, str] = field(default_factory=dict)
    record: bytes | None = None  # sent instead of the true description
    ranges: bool = True
    faults: list[int] = field(default_factory=list)  # statuses of the next answers
    cuts: list[int] = field(default_factory=list)  # the next file answers end after so many bytes
    silent: threading.Event | None = None  # no answer before this is set
    retry_after: str = ""
    redirects: list[str] = field(default_factory=list)  # where the next answers send the client
    certificate: tuple[str, str] | None = None  # files of certificate and key, for https
    asked: list[tuple[str, str]] = field(default_factory=list)  # path and Range of every request
    identified: list[str] = field(default_factory=list)  # credentials and cookies that came with requests
    sent: int = 0  # bytes of files

    def description(self, base: str) -> bytes:
        files = [
            {
                "key": name,
                "size": len(content),
                "checksum": self.checksums.get(name, "md5:" + hashlib.md5(content).hexdigest()),
                "links": {"self": f"{base}{RECORD}/files/{name}/content"},
            }
            for name, content in self.files.items()
        ]
        return json.dumps({"id": 1214456, "files": files}).encode()


@contextmanager
def serve(behaviour: Behaviour):
    """The base address of a server that behaves like this until the block ends."""
    server = _Server(("127.0.0.1", 0), _handler(behaviour))
    if behaviour.certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*behaviour.certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http{'s' if behaviour.certificate else ''}://127.0.0.1:{server.server_port}"
    finally:
        if behaviour.silent:
            behaviour.silent.set()
        server.shutdown()
        thread.join()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Clients hang up early in these tests; that is no news."""


def _handler(behaviour: Behaviour):
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            behaviour.asked.append((self.path, self.headers.get("Range", "")))
            behaviour.identified += [self.headers[name] for name in ("Authorization", "Cookie") if name in self.headers]
            if behaviour.silent:
                behaviour.silent.wait()
            if behaviour.redirects:
                self.send_response(302)
                self.send_header("Location", behaviour.redirects.pop(0))
                self.send_header("Set-Cookie", "who=me")
                self.end_headers()
            elif behaviour.faults:
                self.send_response(behaviour.faults.pop(0))
                if behaviour.retry_after:
                    self.send_header("Retry-After", behaviour.retry_after)
                self.end_headers()
            elif self.path == RECORD:
                base = f"http://{self.headers['Host']}"
                content = behaviour.description(base) if behaviour.record is None else behaviour.record
                self.answer(200, content, {})
            elif (name := self.path.removeprefix(f"{RECORD}/files/").removesuffix("/content")) in behaviour.files:
                self.answer_part(behaviour.files[name])
            else:
                self.send_error(404)

        def answer_part(self, content):
            wish = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
            if not wish or not behaviour.ranges:
                self.answer(200, content, {}, counted=True)
                return
            first, last = int(wish[1]), min(int(wish[2] or len(content)), len(content) - 1)
            headers = {"Content-Range": f"bytes {first}-{last}/{len(content)}"}
            self.answer(206, content[first : last + 1], headers, counted=True)

        def answer(self, status, content, headers, counted=False):
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            if counted and behaviour.cuts:
                content = content[: behaviour.cuts.pop(0)]
            behaviour.sent += len(content) * counted  # before the client can know
            self.wfile.write(content)

    return Handler
