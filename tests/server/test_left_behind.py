"""What visitors brought is not left on the disk, however the server ends."""

import signal
from pathlib import Path

from tests.support.running_app import running_app
from tests.support.simulated_visitor import Visitor

DEMO = "slide_demo"


async def folders_with_a_slide(address: str, temporary: Path) -> list[Path]:
    """A visitor has a slide made; the files of it that lie on the disk."""
    async with Visitor(address, "slide") as visitor:
        await visitor.run()
        visitor._set(DEMO).trigger_value = True
        await visitor.run()
    return [path for path in temporary.rglob("*.tif") if path.is_file()]


async def test_slides_are_gone_when_the_server_ends_and_those_of_a_killed_one_at_the_next_start(tmp_path: Path):
    environment = {"TMPDIR": str(tmp_path)}
    with running_app(environment=environment) as (address, killed):
        left = await folders_with_a_slide(address, tmp_path)
        assert left
        killed.send_signal(signal.SIGKILL)
        killed.wait()
    assert all(path.exists() for path in left)
    with running_app(environment=environment) as (address, ended):
        assert not any(path.exists() for path in left)
        assert await folders_with_a_slide(address, tmp_path)
        ended.send_signal(signal.SIGTERM)
        ended.wait()
    assert [
        path for path in tmp_path.rglob("*") if path.is_file() and "elimipl" in str(path.relative_to(tmp_path))
    ] == []
