"""The model of many workers keeps to what was measured and to its limits; the page holds the numbers of today."""

import pytest

from scripts import update_scale
from scripts.scale_model import COORDINATOR, DISK, epoch, pictures


def test_one_worker_takes_what_was_measured():
    assert pictures(1000, 0.03, 0, 1, 0.9).seconds == pytest.approx(30)
    assert epoch(640, 64, 0.001, 0.002, 10**6, 1).seconds == pytest.approx(640 * 0.001 + 10 * 0.002)


def test_two_workers_are_as_good_as_they_were_measured():
    assert pictures(1000, 0.03, 0, 2, 0.9).seconds == pytest.approx(30 / 1.8)


def test_what_is_shared_sets_the_pace_in_the_end():
    cheap = pictures(10**6, 0.001, 150_000, 64, 1.0)
    assert (cheap.limited_by, cheap.seconds) == ("the coordinator", pytest.approx(10**6 * COORDINATOR))
    heavy = pictures(1000, 0.001, 1e9, 64, 1.0)
    assert (heavy.limited_by, heavy.seconds) == ("the disk", pytest.approx(1000 * 1e9 / DISK))
    assert epoch(10**6, 64, 0.0001, 0.001, 10**5, 64).limited_by == "the network"


@pytest.mark.parametrize(("seconds", "said"), [(59, "59 s"), (600, "10 min"), (36_000, "10 h"), (864_000, "10.0 days")])
def test_durations_are_said_in_fitting_units(seconds, said):
    assert update_scale.duration(seconds) == said


def test_the_page_is_written_by_its_script(tmp_path, monkeypatch):
    before = update_scale.PAGE.read_text(encoding="utf-8")
    copy = tmp_path / "scale.md"
    copy.write_text(before, encoding="utf-8")
    monkeypatch.setattr(update_scale, "PAGE", copy)
    update_scale.main()
    assert copy.read_text(encoding="utf-8") == before
