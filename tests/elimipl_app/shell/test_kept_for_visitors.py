"""What a browser finds again after a reload: its own, within bounds, and not for ever."""

import time

from elimipl_app.server import visitor
from elimipl_app.server.visitor import KeptForVisitors


def test_everybody_finds_their_own_and_the_latest():
    kept = KeptForVisitors[str](10)
    kept.keep("a", "first")
    kept.keep("b", "other")
    kept.keep("a", "second")
    assert (kept.of("a"), kept.of("b"), kept.of("c")) == ("second", "other", None)
    kept.forget("a")
    assert kept.of("a") is None


def test_the_longest_unused_make_room_and_the_latest_stays_however_large():
    kept = KeptForVisitors[bytes](10, len)
    for name in "ab":
        kept.keep(name, bytes(5))
    kept.keep("a", bytes(5))
    kept.keep("c", bytes(5))
    assert [name for name in "abc" if kept.of(name)] == ["a", "c"]
    kept.keep("d", bytes(50))
    assert [name for name in "abcd" if kept.of(name)] == ["d"]
    assert kept.drop_longest_unused()
    assert not kept.drop_longest_unused()


def test_what_is_out_of_date_goes_though_nobody_comes(monkeypatch):
    monkeypatch.setattr(visitor, "KEPT_SECONDS", 0.05)
    kept = KeptForVisitors[str](10)
    kept.keep("a", "mine")
    while len(kept):
        time.sleep(0.01)
    assert kept.of("a") is None
    kept.keep("a", "again")  # and the clock runs for what comes later
    while len(kept):
        time.sleep(0.01)
