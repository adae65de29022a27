"""How the values of large pictures are converted: by few and small steps, with the outcome of the usual ones."""

import tracemalloc

import numpy as np
import pytest
from PIL import Image, ImageCms

from bag_generators.reading.colour_profiles import CONVERTED, Colours, colours_of
from bag_generators.reading.pixel_values import Storage, on_white, to_rgb
from scripts.bad_inputs.metadata import DISPLAY_P3


def test_every_value_of_every_opacity_looks_on_white_as_pillow_lays_it():
    value, opacity = np.meshgrid(np.arange(256, dtype=np.uint8), np.arange(256, dtype=np.uint8))
    pixels = np.dstack([value, value[:, ::-1], value[::-1]])
    paper = Image.new("RGBA", (256, 256), "white")
    paper.alpha_composite(Image.fromarray(np.dstack([pixels, opacity])))
    assert np.array_equal(on_white(pixels, opacity), np.asarray(paper.convert("RGB")))


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "LA", "PA"])
def test_a_simple_profile_never_goes_the_slow_way(mode):
    def slow(part):
        raise AssertionError("the colour library takes six times as long")

    picture = Image.new("RGBA", (4, 3), (200, 100, 50, 128)).convert(mode)
    pixels, notes = to_rgb(picture, Storage(), Colours(slow, CONVERTED, quick=lambda values: values // 2))
    plain, _ = to_rgb(picture.convert("RGBA").convert("RGB"), Storage(), Colours())
    opacity = np.full((3, 4), 128 if mode != "RGB" else 255, np.uint8)
    assert np.array_equal(pixels, on_white(plain // 2, opacity))
    assert CONVERTED in notes


def test_a_simple_profile_needs_little_room():
    """Numbers of 32 bits would need twice as much, and as much longer."""
    quick, pixels = colours_of(DISPLAY_P3, "RGB").quick, np.full((500, 1000, 3), 99, np.uint8)
    tracemalloc.start()
    try:
        quick(pixels)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 16 * pixels.size / 3


def test_the_way_from_lab_is_built_once_for_all_bands(monkeypatch):
    lab = Image.new("RGB", (300, 200), (150, 90, 140)).convert("LAB")
    usual = np.asarray(lab.convert("RGB"))
    built, build = [], ImageCms.buildTransform
    monkeypatch.setattr(ImageCms, "buildTransform", lambda *args: built.append(args) or build(*args))
    monkeypatch.setattr("bag_generators.reading.pixel_values.PIXELS_A_BAND", 1000)
    pixels, _ = to_rgb(lab, Storage(), Colours())
    assert np.array_equal(pixels, usual)
    assert len(built) <= 1
