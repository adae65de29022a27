"""The field of view that a model reads of a picture at first."""

import numpy as np
import pytest

from bag_generators.image import TissueImage
from bag_generators.scale import field_size, first_field, is_large


def picture(width: int, height: int, microns: float | None = None) -> TissueImage:
    pixels = np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return TissueImage.from_array(pixels).at_scale(microns, "test")


def test_a_small_picture_is_read_whole():
    for width, height in ((224, 224), (335, 900), (100, 64)):
        image = picture(width, height)
        assert not is_large(image)
        assert first_field(image) is image


@pytest.mark.parametrize(("microns", "size"), [(None, 224), (0.5, 224), (0.25, 448), (1.0, 112), (4.0, 64), (0.1, 500)])
def test_the_field_holds_as_much_tissue_as_a_tile(microns, size):
    image = picture(900, 500, microns)
    field = first_field(image)
    assert field_size(image) == field.width == field.height == size
    assert field.sha256 == image.tile((900 - size) // 2, (500 - size) // 2, size).sha256
    assert field.microns_per_pixel == microns
