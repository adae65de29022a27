"""The app for a user who may change nothing: not root, in a checkout and with a home that can't be written."""

import hashlib
import json
import os
import pwd
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.bench_load import tile_png
from tests.support.running_app import end_app, free_port, wait_until_healthy
from tests.support.simulated_visitor import Visitor

ROOT = Path(__file__).resolve().parents[2]
NOBODY = "nobody"
PARTS = ("app.py", "pages", "elimipl_app", "bag_generators", "elimipl", "assets", ".streamlit", "pyproject.toml")


def may_become_nobody() -> bool:
    """Root can, where others may enter the folders that the interpreter lies in."""
    if os.name != "posix" or os.geteuid() != 0 or shutil.which("setpriv") is None:
        return False
    command = ["setpriv", "--reuid", NOBODY, "--clear-groups", sys.executable, "-c", "import streamlit, torch"]
    return subprocess.run(command, capture_output=True, cwd="/").returncode == 0


@pytest.mark.skipif(not may_become_nobody(), reason="only root can become somebody who may write nowhere")
async def test_the_app_serves_somebody_who_may_write_nowhere(tmp_path_factory):
    place = Path(tmp_path_factory.mktemp("checkout"))
    own = [folder for folder in (place, *place.parents) if folder.owner() == "root" and "pytest" in str(folder)]
    for folder in own:
        folder.chmod(0o755)
    for part in PARTS:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        copy(ROOT / part, place / part)
    port, tile = free_port(), tile_png(31)
    user = pwd.getpwnam(NOBODY)
    before = sorted(path.relative_to(place) for path in place.rglob("*"))
    # Python may lie in a folder of root's; to look into folders is not to write.
    looks = ["--inh-caps", "+dac_read_search", "--ambient-caps", "+dac_read_search"]
    command = ["setpriv", "--reuid", str(user.pw_uid), "--regid", str(user.pw_gid), "--clear-groups", *looks]
    command.append(sys.executable)
    variables = {**os.environ, "HOME": "/nonexistent", "PYTHONPATH": str(place), "TMPDIR": "/nonexistent"}
    server = subprocess.Popen(
        [*command, "-m", "streamlit", "run", str(place / "app.py"), "--server.port", str(port)],
        cwd=place, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    address = f"http://localhost:{port}"
    try:
        wait_until_healthy(address, server)
        async with Visitor(address) as visitor:
            await visitor.run()
            await visitor.upload("upload", "tile.png", tile)
            exported = json.loads(await visitor.download("download-json"))
        assert exported["picture"]["sha256"] == hashlib.sha256(tile).hexdigest()
    finally:
        end_app(server)
    assert sorted(path.relative_to(place) for path in place.rglob("*")) == before
