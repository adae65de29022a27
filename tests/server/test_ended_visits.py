"""Visits that ended leave nothing in the memory of a running server, though nobody comes after them."""

import asyncio
from contextlib import AsyncExitStack

from tests.support.running_app import running_app
from tests.support.simulated_visitor import Visitor

SIZE = 5_000_000
APP = """
import streamlit as st
from streamlit import runtime
from elimipl_app.server import upload_limit
upload_limit.LEFT_SECONDS, upload_limit.SWEEP_SECONDS = 0.4, 0.1
upload_limit.bound_uploads()
st.file_uploader("File", key="upload", accept_multiple_files=True)
kept = runtime.get_instance().uploaded_file_mgr.file_storage.values()
st.text(f"held {sum(len(file.data) for visit in list(kept) for file in visit.values())}")
st.text(f"visits {len(runtime.get_instance()._session_mgr.list_sessions())}")
"""


async def test_uploads_of_ended_visits_are_released_though_nobody_comes(tmp_path):
    script = tmp_path / "uploads.py"
    script.write_text(APP, encoding="utf-8")
    with running_app(script) as (address, _):
        async with Visitor(address) as watching:
            async with AsyncExitStack() as together:
                for number in range(3):
                    leaving = await together.enter_async_context(Visitor(address))
                    await leaving.run()
                    await leaving.upload("upload", f"{number}.png", bytes(SIZE))
                await watching.run()
                assert f"held {3 * SIZE}" in watching.texts
            # Nobody connects meanwhile, which is what would make Streamlit clean up.
            while not {"held 0", "visits 1"} <= set(watching.texts):
                await asyncio.sleep(0.1)
                await watching.run()
