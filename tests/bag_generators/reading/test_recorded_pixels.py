"""Every good file of the corpora decodes to the pixels that were recorded."""

from tests.support.pixel_record import decoded, recorded


def test_every_good_file_decodes_to_the_recorded_pixels():
    assert decoded() == recorded()
