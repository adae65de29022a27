"""What a really running server refuses: forged uploads, foreign pages, files too large, files of its own."""

import asyncio
import http.client
import json
import socket
import tomllib
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from websockets.exceptions import ConnectionClosed

from benchmarks.bench_load import tile_png
from scripts.running_app import running_app
from scripts.simulated_visitor import XSRF_COOKIE, Visitor, put_file, visiting, xsrf_token
from tests.server.opening import opening
from tests.support.waiting import PATIENCE, wait_until

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
CAP = SETTINGS["server"]["maxUploadSize"] * 1024 * 1024


def test_the_settings_that_ship():
    server, client = SETTINGS["server"], SETTINGS["client"]
    assert server["enableCORS"] is server["enableXsrfProtection"] is True
    assert server["enableStaticServing"] is server["enableAgentApi"] is False
    assert server["address"] == "localhost"
    assert SETTINGS["browser"]["gatherUsageStats"] is False
    assert client["showErrorDetails"] == "none"


def statuses(address: str, name: str = "tile.png", content: bytes = b"x") -> dict[str, int]:
    """What the server answers to the same upload with different tokens."""
    strange = xsrf_token(address)

    async def ask() -> dict[str, int]:
        async with Visitor(address) as visitor:
            await visitor.run()
            urls = await visitor.upload_address(name)
            own, url = visitor.xsrf, f"{address}{urls.upload_url}"
            tokens = {
                "nothing": {},
                "cookie only": {"Cookie": f"{XSRF_COOKIE}={own}"},
                "token only": {"X-Xsrftoken": own},
                "made up": {"X-Xsrftoken": "2|0|0|0", "Cookie": f"{XSRF_COOKIE}=2|0|0|0"},
                "of somebody else": {"X-Xsrftoken": strange, "Cookie": f"{XSRF_COOKIE}={own}"},
                "right": {"X-Xsrftoken": own, "Cookie": f"{XSRF_COOKIE}={own}"},
            }
            return {case: put_file(url, name, content, headers) for case, headers in tokens.items()}

    return visiting(ask())


def test_only_an_upload_with_the_right_token_is_taken(served):
    answers = statuses(served.address)
    assert answers.pop("right") == 204
    assert set(answers.values()) == {403}


def test_nobody_uploads_into_a_visit_that_is_not_there(served):
    own = xsrf_token(served.address)
    headers = {"X-Xsrftoken": own, "Cookie": f"{XSRF_COOKIE}={own}"}
    url = f"{served.address}/_stcore/upload_file/no-such-session/no-such-file"
    assert put_file(url, "tile.png", b"x", headers) == 400


def begin_upload(address: str, path: str, token: str, header: str, value: str) -> http.client.HTTPConnection:
    """An upload with the right token of which nothing but the head is sent."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=PATIENCE)
    connection.putrequest("PUT", path)
    for name, content in {
        header: value,
        "Content-Type": "multipart/form-data; boundary=edge",
        "X-Xsrftoken": token,
        "Cookie": f"{XSRF_COOKIE}={token}",
    }.items():
        connection.putheader(name, content)
    connection.endheaders()
    return connection


def with_upload_address(address: str, send: Callable[[str, str], int]) -> int:
    """What `send` makes of the path and the token of a new visitor's upload."""

    async def ask() -> int:
        async with Visitor(address) as visitor:
            await visitor.run()
            urls = await visitor.upload_address()
            return await asyncio.to_thread(send, urls.upload_url, visitor.xsrf)

    return visiting(ask())


def test_one_byte_above_the_cap_is_refused_by_the_server_before_it_is_sent(served):
    def announce(path: str, token: str) -> int:
        return begin_upload(served.address, path, token, "Content-Length", str(CAP + 1)).getresponse().status

    assert with_upload_address(served.address, announce) == 413


def test_an_upload_that_hides_its_length_is_cut_off(served):
    def send(path: str, token: str) -> int:
        return _send_endlessly(begin_upload(served.address, path, token, "Transfer-Encoding", "chunked"))

    # Of the 200 MB, the cap and what is on its way between the sockets when the server hangs up, however busy it is.
    assert with_upload_address(served.address, send) < CAP + 32 * 1024 * 1024


def _send_endlessly(connection: http.client.HTTPConnection) -> int:
    """Send chunks without ever saying how many; how many bytes were taken before the server ended it."""
    head = b'--edge\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n'
    sent, chunk = 0, bytes(1024 * 1024)
    try:
        for part in (head, *[chunk] * 200):
            connection.send(b"%x\r\n%s\r\n" % (len(part), part))
            sent += len(part)
            connection.sock.setblocking(False)
            try:
                if connection.sock.recv(1, socket.MSG_PEEK):
                    break  # the answer came before the end of the question
            except BlockingIOError:
                pass
            connection.sock.settimeout(PATIENCE)
    except OSError:
        return sent  # the server hung up
    connection.sock.settimeout(PATIENCE)
    assert connection.getresponse().status == 413
    return sent


def test_pages_of_other_sites_open_no_websocket(served):
    assert opening(served.address, Origin=served.address) == "open"
    for foreign in ("https://evil.example", "http://localhost.evil.example", "null", "file://"):
        assert opening(served.address, Origin=foreign) == "403"


def test_a_foreign_name_for_this_machine_opens_no_websocket(served):
    # DNS rebinding: the attacker's name points here, so page and server seem to be of one site.
    assert opening(served.address, Origin="http://evil.example", Host="evil.example") == "403"


def test_a_foreign_page_makes_the_server_ask_nobody_outside(served):
    async def visit() -> None:
        async with Visitor(served.address) as visitor:
            await visitor.run()

    visiting(visit())
    written = len(served.log.read_bytes())
    assert opening(served.address, Origin="https://elsewhere.example") == "403"
    wait_until(lambda: b"disallowed Origin" in served.log.read_bytes()[written:])
    assert b"external IP" not in served.log.read_bytes()[written:]


def test_other_sites_may_read_no_answer(served):
    for path in ("/_stcore/health", "/_stcore/host-config", "/"):
        request = urllib.request.Request(f"{served.address}{path}", headers={"Origin": "https://evil.example"})
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            assert answer.headers.get("Access-Control-Allow-Origin") in (None, served.address)


PLACES = ["app.py", ".streamlit/config.toml", "requirements.txt", "elimipl/cards/card.py", "assets/models/{model}"]
WAYS = ["/{}", "/app/static/{}", "/static/../{}", "/static/%2e%2e/%2e%2e/{}", "/media/../{}", "/component/../{}",
        "/component/x/../../../{}", "//{}", "/_stcore/bidi-components/../../{}", "/static//{root}/{}",
        "/media/%2fetc%2f..%2f{root}/{}"]  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_files_of_the_project_are_not_served(served, place):
    file = ROOT / place.format(model="tissue7-sbn-elimipl.json")
    mark = max(file.read_bytes().splitlines(), key=len)[:200]
    connection = http.client.HTTPConnection(urlsplit(served.address).netloc, timeout=PATIENCE)
    for way in WAYS:
        connection.request("GET", way.format(str(file.relative_to(ROOT)), root=str(ROOT)))
        answer = connection.getresponse()
        content = answer.read()
        assert mark not in content, way
        assert answer.status in (200, 307, 400, 403, 404), way  # 200: the app's own page, whatever the address


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="tells who listens on Linux only")
def test_nobody_but_this_machine_is_listened_to(served):
    port = f"{urlsplit(served.address).port:04X}"
    table = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()]
    listening = [row[1] for row in table if row[3] == "0A" and row[1].endswith(f":{port}")]
    assert listening == [f"0100007F:{port}"]  # 127.0.0.1


def test_programs_may_not_drive_the_pages_through_the_agent_interface(served):
    request = urllib.request.Request(f"{served.address}/_stcore/agent/interact", b"{}", method="POST")
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=PATIENCE)
    assert refused.value.code in (403, 404)


@pytest.mark.parametrize("what", ["garbage", "debug_shutdown_runtime", "debug_disconnect_websocket", "clear_cache"])
def test_a_hostile_message_disturbs_nobody_else(served, what):
    message = BackMsg()
    if what != "garbage":
        setattr(message, what, True)
    sent = b"\xff" * 40 if what == "garbage" else message.SerializeToString()
    tile = tile_png(77)

    async def both() -> dict:
        async with Visitor(served.address) as victim, Visitor(served.address) as hostile:
            await victim.run()
            await victim.upload("upload", "tile.png", tile)
            await hostile.run()
            try:
                await hostile.send(sent)
                await asyncio.wait_for(hostile.receive("heartbeat_ack"), 0.5)
            except (TimeoutError, ConnectionClosed):
                pass
            await victim.choose("generator", "Row")
            return json.loads(await victim.download("download-json"))

    exported = visiting(both())
    assert exported["bag"]["generator"] == "row"
    assert served.process.poll() is None


def test_no_visitor_can_have_files_written_into_the_project(served):
    before = sorted(path.name for path in ROOT.iterdir())
    request = BackMsg()
    request.backend_operation_request.request_id = "1"
    request.backend_operation_request.install_skills.SetInParent()

    async def ask() -> str:
        async with Visitor(served.address) as visitor:
            await visitor.run()
            request.backend_operation_request.session_id = visitor.session_id
            await visitor.send(request.SerializeToString())
            return (await visitor.receive("backend_operation_response")).backend_operation_response.error_msg

    assert "not available" in visiting(ask())
    assert sorted(path.name for path in ROOT.iterdir()) == before


def test_usage_is_not_reported(served):
    async def ask() -> bool:
        async with Visitor(served.address) as visitor:
            await visitor.run()
            return visitor.usage_reported

    assert visiting(ask()) is False


def test_a_visitor_sees_nothing_of_an_error_in_the_code(tmp_path):
    script = tmp_path / "broken.py"
    script.write_text("secret_of_the_house = 1\nraise ValueError('secret-token-4711')\n", encoding="utf-8")
    with running_app(script) as (address, _):

        async def ask() -> None:
            async with Visitor(address) as visitor:
                await visitor.run()

        with pytest.raises(RuntimeError, match="the page failed") as shown:
            visiting(ask())
    assert "4711" not in str(shown.value)
    assert "secret" not in str(shown.value)
