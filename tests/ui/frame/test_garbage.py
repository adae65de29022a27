"""What stays loaded is not looked through after every run of a page."""

import gc
from pathlib import Path

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[3]


def test_modules_are_spared_once_and_later_things_are_still_collected():
    page = AppTest.from_file(ROOT / "app.py", default_timeout=120).run()
    page.run()
    spared = gc.get_freeze_count()
    assert spared > 100_000
    page.run()
    page.run()
    assert gc.get_freeze_count() <= spared  # objects that end leave; none were added
    assert not page.exception

    class Knot:
        pass

    knot = Knot()
    knot.self = knot
    del knot
    assert gc.collect() > 0
