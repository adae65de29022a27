"""What a really running server refuses: forged uploads, foreign pages, files too large, files of its own."""

import asyncio
import http.client
import json
import socket
import tomllib
from contextlib import suppress
from itertools import product
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests
from streamlit.proto.BackMsg_pb2 import BackMsg
from websockets.exceptions import ConnectionClosed

from benchmarks.bench_load import tile_png
from tests.server.opening import opening
from tests.support.running_app import running_app
from tests.support.simulated_visitor import XSRF_COOKIE, Visitor, new_cookies, put_file
from tests.support.waiting import PATIENCE, wait_until

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
CAP = SETTINGS["server"]["maxUploadSize"] * 1024 * 1024


async def test_only_an_upload_with_the_right_token_is_taken(served):
    strange = new_cookies(served.address)[XSRF_COOKIE]
    async with Visitor(served.address) as visitor:
        await visitor.run()
        own, url = visitor.xsrf, f"{served.address}{(await visitor.upload_address()).upload_url}"
        cookie = {"Cookie": f"{XSRF_COOKIE}={own}"}
        made_up = {"X-Xsrftoken": "2|0|0|0", "Cookie": f"{XSRF_COOKIE}=2|0|0|0"}
        wrong = ({}, cookie, {"X-Xsrftoken": own}, made_up, {"X-Xsrftoken": strange, **cookie})
        assert [put_file(url, "tile.png", b"x", headers) for headers in wrong] == [403] * 5
        assert put_file(url, "tile.png", b"x", {"X-Xsrftoken": own, **cookie}) == 204
    gone = f"{served.address}/_stcore/upload_file/no-such-session/no-such-file"
    assert put_file(gone, "tile.png", b"x", {"X-Xsrftoken": own, **cookie}) == 400


async def begin_upload(visitor: Visitor, header: str, value: str) -> http.client.HTTPConnection:
    """An upload with the right token of which nothing but the head is sent."""
    await visitor.run()
    connection = http.client.HTTPConnection(urlsplit(visitor.address).netloc, timeout=PATIENCE)
    connection.putrequest("PUT", (await visitor.upload_address()).upload_url)
    for name, content in {
        header: value,
        "Content-Type": "multipart/form-data; boundary=edge",
        "X-Xsrftoken": visitor.xsrf,
        "Cookie": f"{XSRF_COOKIE}={visitor.xsrf}",
    }.items():
        connection.putheader(name, content)
    connection.endheaders()
    return connection


async def test_one_byte_above_the_cap_is_refused_by_the_server_before_it_is_sent(served):
    async with Visitor(served.address) as visitor:
        begun = await begin_upload(visitor, "Content-Length", str(CAP + 1))
        assert begun.getresponse().status == 413


async def test_an_upload_that_hides_its_length_is_cut_off(served):
    async with Visitor(served.address) as visitor:
        begun = await begin_upload(visitor, "Transfer-Encoding", "chunked")
        # Of the 200 MB, the cap and what is on its way between the sockets when the server hangs up, however busy.
        assert _send_endlessly(begun) < CAP + 32 * 1024 * 1024


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
    assert opening(served.address) == "403"  # who doesn't say is no browser


def test_a_foreign_name_for_this_machine_opens_no_websocket(served):
    # DNS rebinding: the attacker's name points here, so page and server seem to be of one site.
    assert opening(served.address, Origin="http://evil.example", Host="evil.example") == "403"


def test_a_foreign_name_for_this_machine_gets_no_answer(served):
    for path in ("/", "/media/0.png", "/_stcore/health", "/slide-tiles/key/0/0_0.jpg"):
        answer = requests.get(f"{served.address}{path}", headers={"Host": "evil.example"}, timeout=PATIENCE)
        assert (answer.status_code, answer.text) == (403, "Unknown host"), path
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


async def test_a_foreign_page_makes_the_server_ask_nobody_outside(served):
    async with Visitor(served.address) as visitor:
        await visitor.run()
    written = len(served.log.read_bytes())
    assert opening(served.address, Origin="https://elsewhere.example") == "403"
    wait_until(lambda: b"disallowed Origin" in served.log.read_bytes()[written:])
    assert b"external IP" not in served.log.read_bytes()[written:]


def test_other_sites_may_read_no_answer(served):
    for path in ("/_stcore/health", "/_stcore/host-config", "/"):
        answer = requests.get(f"{served.address}{path}", headers={"Origin": "https://evil.example"}, timeout=PATIENCE)
        assert answer.ok
        assert answer.headers.get("Access-Control-Allow-Origin") in (None, served.address)


PLACES = ["app.py", ".streamlit/config.toml", "requirements.txt", "elimipl/cards/card.py",
          "assets/models/tissue7-sbn-elimipl.json"]  # fmt: skip
WAYS = ["/{}", "/app/static/{}", "/static/../{}", "/static/%2e%2e/%2e%2e/{}", "/media/../{}", "/component/../{}",
        "/component/x/../../../{}", "//{}", "/_stcore/bidi-components/../../{}", "/static//{root}/{}",
        "/media/%2fetc%2f..%2f{root}/{}"]  # fmt: skip


def test_files_of_the_project_are_not_served(served):
    connection = http.client.HTTPConnection(urlsplit(served.address).netloc, timeout=PATIENCE)
    for place, way in product(PLACES, WAYS):
        mark = max((ROOT / place).read_bytes().splitlines(), key=len)[:200]
        connection.request("GET", way.format(place, root=str(ROOT)))
        answer = connection.getresponse()
        assert mark not in answer.read(), (place, way)
        assert answer.status in (200, 307, 400, 403, 404), (place, way)  # 200: the app's own page, whatever the address


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="tells who listens on Linux only")
def test_nobody_but_this_machine_is_listened_to(served):
    port = f"{urlsplit(served.address).port:04X}"
    table = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()]
    listening = [row[1] for row in table if row[3] == "0A" and row[1].endswith(f":{port}")]
    assert listening == [f"0100007F:{port}"]  # 127.0.0.1


def test_programs_may_not_drive_the_pages_through_the_agent_interface(served):
    answer = requests.post(f"{served.address}/_stcore/agent/interact", b"{}", timeout=PATIENCE)
    assert answer.status_code in (403, 404)


@pytest.mark.parametrize("what", ["garbage", "debug_shutdown_runtime", "debug_disconnect_websocket", "clear_cache"])
async def test_a_hostile_message_disturbs_nobody_else(served, what):
    message = BackMsg()
    if what != "garbage":
        setattr(message, what, True)
    sent = b"\xff" * 40 if what == "garbage" else message.SerializeToString()
    async with Visitor(served.address) as victim, Visitor(served.address) as hostile:
        await victim.run()
        await victim.upload("upload", "tile.png", tile_png(77))
        await hostile.run()
        with suppress(TimeoutError, ConnectionClosed):
            await hostile.send(sent)
            await asyncio.wait_for(hostile.receive("heartbeat_ack"), 0.5)
        await victim.choose("generator", "Row")
        exported = json.loads(await victim.download("download-json"))
    assert exported["bag"]["generator"] == "row"
    assert served.process.poll() is None


async def test_no_visitor_can_have_files_written_into_the_project(served):
    before = sorted(path.name for path in ROOT.iterdir())
    request = BackMsg()
    request.backend_operation_request.request_id = "1"
    request.backend_operation_request.install_skills.SetInParent()
    async with Visitor(served.address) as visitor:
        await visitor.run()
        request.backend_operation_request.session_id = visitor.session_id
        await visitor.send(request.SerializeToString())
        answer = (await visitor.receive("backend_operation_response")).backend_operation_response
    assert "not available" in answer.error_msg
    assert sorted(path.name for path in ROOT.iterdir()) == before


async def test_usage_is_not_reported(served):
    async with Visitor(served.address) as visitor:
        await visitor.run()
        assert visitor.usage_reported is False


async def test_a_visitor_sees_nothing_of_an_error_in_the_code(tmp_path):
    script = tmp_path / "broken.py"
    script.write_text("secret_of_the_house = 1\nraise ValueError('secret-token-4711')\n", encoding="utf-8")
    with running_app(script) as (address, _), pytest.raises(RuntimeError, match="the page failed") as shown:
        async with Visitor(address) as visitor:
            await visitor.run()
    assert "4711" not in str(shown.value)
    assert "secret" not in str(shown.value)
