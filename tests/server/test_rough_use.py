"""What goes wrong at a running server: killed in the middle of an upload, files made to harm on a page."""

import io
import json
import re
import socket
import zipfile
from urllib.parse import urlsplit

import pytest

from tests.support.running_app import running_app
from tests.support.simulated_visitor import Visitor


async def test_a_server_killed_in_the_middle_of_an_upload_leaves_nothing_behind(tmp_path):
    with running_app(environment={"TMPDIR": str(tmp_path)}) as (address, process):
        async with Visitor(address) as visitor:
            await visitor.run()
            place = (await visitor.upload_address()).upload_url
            head = (
                f"PUT {place} HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=edge\r\n"
                f"X-Xsrftoken: {visitor.xsrf}\r\nCookie: {visitor.cookie_header}\r\nContent-Length: 9000000\r\n\r\n"
                '--edge\r\nContent-Disposition: form-data; name="f"; filename="a.png"\r\n\r\n'
            )
            with socket.create_connection(("localhost", urlsplit(address).port)) as half:
                half.sendall(head.encode() + bytes(5_000_000))
                await visitor.run()
                process.kill()
                process.wait()
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.stat().st_size > 1000]
    with running_app(environment={"TMPDIR": str(tmp_path)}) as (address, _):
        async with Visitor(address) as visitor:
            await visitor.run()
            assert "upload" in visitor.elements


def zipped(**members: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return packed.getvalue()


ZIPS = {
    "not a zip": b"PK\x03\x04 and nothing",
    "names that are paths": zipped(**{"../../a/1.png": b"x", "/etc/b/2.png": b"y"}),
    "a bomb": zipped(**{"a/1.png": bytes(200_000_000), "b/2.png": b"y"}),
    "classes that are markup": zipped(**{"<script>alert(1)</script>/1.png": b"x", "=cmd()/2.png": b"y"}),
    "a broken bag file": b"\xff" * 64,
}


@pytest.mark.parametrize("name", ZIPS)
async def test_archives_made_to_harm_are_a_sentence_on_the_train_page(served, name):
    async with Visitor(served.address, "train") as visitor:
        await visitor.run("train_data=own")
        await visitor.upload("train_upload", "bags.safetensors" if "bag" in name else "a.zip", ZIPS[name])
        assert refusals(visitor)


def ring(*points: object) -> bytes:
    return json.dumps({"type": "Polygon", "coordinates": [list(points)]}).encode()


ANNOTATIONS = {
    "brackets without end": b"[" * 200_000,
    "no numbers": ring(*[[float("nan"), float("inf")]] * 4),
    "numbers beyond all slides": ring([0, 0], [1e308, 0], [1e308, 1e308], [0, 0]),
    "whole numbers of ten thousand digits": b'{"type":"Polygon","coordinates":[[[0,' + b"9" * 10_000 + b"]]]}",
    "words": ring(["a", "b"], ["c", "d"], ["e", "f"], ["a", "b"]),
    "markup as its kind": b'{"type":"<img src=x onerror=alert(1)>"}',
}


async def test_annotations_made_to_harm_are_a_sentence_each_on_the_slide_page(served):
    async with Visitor(served.address, "slide") as visitor:
        await visitor.run()
        await visitor.click("slide_demo")
        for name, content in ANNOTATIONS.items():
            await visitor.upload("slide_geojson", f"{name}.geojson", content)
            assert refusals(visitor), name


def refusals(visitor: Visitor) -> list[str]:
    """Sentences in the form of a refusal: what happened in bold, then what to do."""
    found = [text for text in visitor.texts if text.startswith("**") and text.count("**") == 2 and text[-1] == "."]
    assert not any(re.search(r"(?<!\\)<|Traceback", text) for text in found)
    return found
