"""A visitor without a browser: speaks Streamlit's own protocol over a real WebSocket, uploads and downloads.

It does what a tab does, as little as possible: it remembers which widgets the page drew, sends their values back,
and waits until the server has finished running the page. Cheap enough to have dozens of them on one machine.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import requests
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Block_pb2 import Block
from streamlit.proto.Common_pb2 import FileURLs
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect

T = TypeVar("T")
PATIENCE = 240.0  # seconds one answer may take before the visitor gives up
XSRF_COOKIE = "_streamlit_xsrf"


def visiting(visit: Coroutine[Any, Any, T]) -> T:
    """What a visit comes to, run in a thread of its own: a browser test may have left this one an event loop."""
    with ThreadPoolExecutor(1) as apart:
        return apart.submit(asyncio.run, visit).result()


class Visitor:
    """One session. Use as `async with Visitor(address) as visitor`; every method waits for the server's answer."""

    def __init__(self, address: str, page: str = "") -> None:
        self.address = address
        self.page = page
        self.cookies = new_cookies(address)
        """What tells the browser from others; give it to another visitor to come back with the same browser."""
        self.session_id = ""
        self.elements: dict[str, object] = {}
        """What the page last drew, by the key given in the code: widget messages with an id."""
        self.tabs: list[str] = []
        """The tabs of the page, from left to right."""
        self.texts: list[str] = []
        """Everything the last run said: bodies of texts, captions and alerts."""
        self.fragments: dict[str, float] = {}
        """Parts of the page that asked to be run again, with their interval in seconds."""
        self.usage_reported = True
        """Whether the server told the tab to report its use to Streamlit."""
        self._page_hash = ""
        self._values: dict[str, WidgetState] = {}
        self._socket: ClientConnection

    @property
    def xsrf(self) -> str:
        """The token that Streamlit wants to see in the cookie and beside it."""
        return self.cookies[XSRF_COOKIE]

    @property
    def cookie_header(self) -> str:
        """All cookies as a browser sends them."""
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())

    async def __aenter__(self) -> Visitor:
        where = self.address.replace("http", "ws", 1) + "/_stcore/stream"
        self._socket = await connect(
            where,
            subprotocols=["streamlit", self.xsrf],
            origin=self.address,
            additional_headers={"Cookie": self.cookie_header},
            max_size=None,
            compression=None,
            open_timeout=PATIENCE,
            ping_interval=None,  # a busy server answers late; PATIENCE says how late is too late
        )
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self._socket.close()

    async def run(self, query: str = "", fragment: str = "") -> None:
        """Run the page (or one fragment of it) with the widgets as they are set, to the end."""
        await self.ask_to_run(query, fragment)
        while True:
            answer = await self._receive()
            if answer.WhichOneof("type") == "script_finished":
                if answer.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                    continue  # the page asked to be run again and is being run
                return

    async def ask_to_run(self, query: str = "", fragment: str = "") -> None:
        """Ask for a run without waiting for it."""
        message = BackMsg()
        state = message.rerun_script
        state.query_string, state.page_name, state.fragment_id = query, self.page, fragment
        state.page_script_hash = self._page_hash
        state.widget_states.widgets.extend(self._values.values())
        await self.send(message.SerializeToString())
        self._values = {name: value for name, value in self._values.items() if not value.HasField("trigger_value")}

    async def choose(self, key: str, option: str) -> None:
        """Choose an option of a segmented control by its text, and run the page."""
        self._set(key).string_array_value.data.append(option)
        await self.run()

    async def set_number(self, key: str, value: float) -> None:
        """Set a number, and run the page."""
        self._set(key).double_value = value
        await self.run()

    async def open_tab(self, key: str, label: str) -> None:
        """Open one of some tabs, and run the page."""
        self._set(key).string_value = label
        await self.run()

    async def switch(self, key: str, on: bool) -> None:
        """Set a toggle, and run the page."""
        self._set(key).bool_value = on
        await self.run()

    async def click(self, key: str) -> None:
        """Press a button, and run the page."""
        self._set(key).trigger_value = True
        await self.run()

    async def upload(self, key: str, name: str, content: bytes) -> None:
        """Put a file into an uploader, and run the page."""
        urls = await self.upload_address(name)
        own = {"X-Xsrftoken": self.xsrf, "Cookie": self.cookie_header}
        status = await asyncio.to_thread(put_file, f"{self.address}{urls.upload_url}", name, content, own)
        if status != 204:
            raise RuntimeError(f"the upload was refused with status {status}")
        info = self._set(key).file_uploader_state_value.uploaded_file_info.add()
        info.name, info.size, info.file_id = name, len(content), urls.file_id
        info.file_urls.CopyFrom(urls)
        await self.run()

    async def upload_address(self, name: str = "tile.png") -> FileURLs:
        """Where the server would take a file from this visitor."""
        request = BackMsg()
        request.file_urls_request.request_id = uuid.uuid4().hex
        request.file_urls_request.file_names.append(name)
        request.file_urls_request.session_id = self.session_id
        await self.send(request.SerializeToString())
        return (await self.receive("file_urls_response")).file_urls_response.file_urls[0]

    async def download(self, key: str) -> bytes:
        """The file behind a download button, built and fetched."""
        return await self.fetch(await self.build(key))

    async def build(self, key: str) -> str:
        """Have the file behind a download button built; where it can be fetched."""
        request = BackMsg()
        operation = request.backend_operation_request
        operation.request_id, operation.session_id = uuid.uuid4().hex, self.session_id
        operation.deferred_file.file_id = self.elements[key].deferred_file_id
        await self.send(request.SerializeToString())
        answer = (await self.receive("backend_operation_response")).backend_operation_response
        if answer.error_msg:
            raise RuntimeError(answer.error_msg)
        return str(answer.deferred_file.url)

    async def fetch(self, url: str) -> bytes:
        """A file of the server."""
        answer = await asyncio.to_thread(requests.get, self.address + url, timeout=PATIENCE)
        answer.raise_for_status()
        return answer.content

    async def send(self, message: bytes) -> None:
        """Send the bytes of any message, well-formed or not."""
        await self._socket.send(message)

    async def receive(self, kind: str) -> ForwardMsg:
        """The next message of a kind; those before it are noted as usual."""
        while True:
            message = await self._receive()
            if message.WhichOneof("type") == kind:
                return message

    def _set(self, key: str) -> WidgetState:
        element = self.elements[key]
        self._values[key] = state = WidgetState(id=element.id)
        return state

    async def _receive(self) -> ForwardMsg:
        message = ForwardMsg()
        message.ParseFromString(await asyncio.wait_for(self._socket.recv(), PATIENCE))
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.session_id = message.new_session.initialize.session_id or self.session_id
            self.usage_reported = bool(message.new_session.config.gather_usage_stats)
            self.texts = []
            if not message.metadata.run.fragment_ids:
                self.elements, self.fragments, self.tabs = {}, {}, []
        elif kind == "navigation":
            self._page_hash = message.navigation.page_script_hash
        elif kind == "auto_rerun":
            self.fragments[message.auto_rerun.fragment_id] = message.auto_rerun.interval
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            self._note(message.delta.new_element)
        elif kind == "delta" and message.delta.WhichOneof("type") == "add_block":
            self._note_tabs(message.delta.add_block)
        return message

    def _note_tabs(self, block: Block) -> None:
        if block.tab_container.id:
            self.elements[block.tab_container.id.split("-", 2)[2]] = block.tab_container
        if block.tab.label:
            self.tabs.append(block.tab.label)

    def _note(self, element: object) -> None:
        kind = element.WhichOneof("type")
        drawn = getattr(element, kind)
        if kind == "exception":
            raise RuntimeError(f"the page failed: {drawn.type} {drawn.message}")
        identity = getattr(drawn, "id", "")
        if identity:
            # Streamlit's ids end with the key that the page's code gave to the widget: $$ID-<hash>-<key>.
            self.elements[identity.split("-", 2)[2]] = drawn
        if text := getattr(drawn, "body", ""):
            self.texts.append(str(text))


def new_cookies(address: str) -> dict[str, str]:
    """The cookies that the server gives to a new browser."""
    given = requests.get(f"{address}/_stcore/health", timeout=PATIENCE).cookies
    return {str(name): str(value).strip('"') for name, value in given.items()}


def put_file(url: str, name: str, content: bytes, headers: Mapping[str, str]) -> int:
    """PUT one file as a browser's form does; the status of the answer."""
    sent = {"file": (name, content, "image/png")}
    return requests.put(url, files=sent, headers=headers, timeout=PATIENCE).status_code
