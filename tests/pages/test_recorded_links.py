"""Every old link restores what was recorded."""

from tests.support.link_record import recorded, restored


def test_every_old_link_restores_what_was_recorded():
    assert restored() == recorded()
