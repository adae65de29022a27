"""How the values of large pictures are converted: by few and small steps, with the outcome of the usual ones."""

import numpy as np
from PIL import Image, ImageCms

from bag_generators.reading.pixel_values import Colours, Storage, on_white, to_rgb


def test_every_value_of_every_opacity_looks_on_white_as_pillow_lays_it():
    value, opacity = np.meshgrid(np.arange(256, dtype=np.uint8), np.arange(256, dtype=np.uint8))
    pixels = np.dstack([value, value[:, ::-1], value[::-1]])
    paper = Image.new("RGBA", (256, 256), "white")
    paper.alpha_composite(Image.fromarray(np.dstack([pixels, opacity])))
    assert np.array_equal(on_white(pixels, opacity), np.asarray(paper.convert("RGB")))


def test_the_way_from_lab_is_built_once_for_all_bands(monkeypatch):
    lab = Image.new("RGB", (300, 200), (150, 90, 140)).convert("LAB")
    usual = np.asarray(lab.convert("RGB"))
    built, build = [], ImageCms.buildTransform
    monkeypatch.setattr(ImageCms, "buildTransform", lambda *args: built.append(args) or build(*args))
    monkeypatch.setattr("bag_generators.reading.pixel_values.PIXELS_A_BAND", 1000)
    pixels, _ = to_rgb(lab, Storage(), Colours())
    assert np.array_equal(pixels, usual)
    assert len(built) <= 1
