"""A folder of slides on a cluster: the maps of one machine, also when a worker is killed in the middle of one."""

import pytest

from elimipl.cluster.engine import connected
from elimipl.slides import SlideMap
from tests.elimipl.cluster import mortals
from tests.elimipl.commands.command_line import run
from tests.elimipl.slides.kinds import LAYOUT
from tests.elimipl.slides.test_mapping import same
from tests.support.phantom_slide import PhantomSlide


@pytest.fixture
def slides(tmp_path):
    folder = tmp_path / "slides"
    folder.mkdir()
    PhantomSlide(LAYOUT).write(folder / "a.tif")
    return folder


def test_the_same_maps_though_a_worker_is_killed(forgiving, slides, tmp_path, capsys):
    killed = tmp_path / "killed"
    with connected(forgiving.scheduler_address) as client:
        client.run(mortals.dies_after_a_row, killed)
    said = {}
    for out, where in (("there", ["--scheduler", forgiving.scheduler_address]), ("here", ["--workers", 1])):
        arguments = ["map", slides, "--model", "tissue7-row-elimipl", "--out", tmp_path / out, "--quiet", *where]
        assert run(*arguments) == 0
        said[out] = sorted(line.rpartition(" (")[0] or line for line in capsys.readouterr().out.splitlines())
    assert killed.exists()
    assert said["there"] == said["here"]
    assert same(SlideMap.read(tmp_path / "there" / "a.tif"), SlideMap.read(tmp_path / "here" / "a.tif"))
    assert "1 have a map" in (tmp_path / "there" / "summary.md").read_text(encoding="utf-8")
