"""The scale of a picture stands in its file, or nowhere: resolutions for screens and printers are not believed."""

import copy
import io
import struct

import numpy as np
import pytest
from PIL import Image, TiffImagePlugin

from bag_generators.image import load
from bag_generators.reading.scale import LARGEST, SMALLEST
from bag_generators.tissue.samples import SCALE_SOURCE, list_samples
from tests.support.bad_files import with_chunk

TISSUE = Image.fromarray(np.full((70, 80, 3), 150, np.uint8))
OME = (
    '<?xml version="1.0" encoding="UTF-8"?><OME><Image ID="Image:0"><Pixels DimensionOrder="XYCZT" '
    'PhysicalSizeX="{0}" PhysicalSizeY="{1}"{2} SizeX="80"><Channel PhysicalSizeX="9"/></Pixels></Image></OME>'
)


def saved(kind: str, **options: object) -> bytes:
    file = io.BytesIO()
    TISSUE.save(file, kind, **options)
    return file.getvalue()


def tiff(description: str = "", resolution: tuple[object, object] | None = None, unit: int = 2) -> bytes:
    tags = TiffImagePlugin.ImageFileDirectory_v2()
    if description:
        tags.tagtype[270] = 1
        tags[270] = description.encode()
    if resolution is not None:
        tags[282], tags[283] = (TiffImagePlugin.IFDRational(value) for value in resolution)
        tags[296] = unit
    return saved("TIFF", tiffinfo=tags)


def phys(across: int, down: int, unit: int = 1) -> bytes:
    return with_chunk(saved("PNG"), b"pHYs", struct.pack(">IIB", across, down, unit))


@pytest.mark.parametrize(
    ("data", "microns", "source"),
    [
        (tiff(OME.format("0.25", "0.25", "")), 0.25, "OME description"),
        (tiff(OME.format("250", "250", ' PhysicalSizeXUnit="nm" PhysicalSizeYUnit="nm"')), 0.25, "OME description"),
        (tiff(OME.format("0.5", "0.5", ' PhysicalSizeXUnit="µm" PhysicalSizeYUnit="&#181;m"')), 0.5, "OME description"),
        (tiff("Aperio Image Library|AppMag = 40|MPP = 0.2525|Left = 1"), 0.2525, "scanner's description"),
        (tiff("ImageJ=1.53\nunit=micron\nspacing=1.0\n", (2, 2), 1), 0.5, "ImageJ description"),
        (tiff("", (20_000, 20_000), 3), 0.5, "TIFF resolution"),
        (tiff("", (50_800, 50_800), 2), 0.5, "TIFF resolution"),
        (tiff(OME.format("9e9", "1", ""), (50_800, 50_800), 2), 0.5, "TIFF resolution"),
        (phys(2_000_000, 2_000_000), 0.5, "PNG resolution (pHYs)"),
        (saved("JPEG", dpi=(25_400, 25_400)), 1.0, "JPEG density (JFIF)"),
    ],
)
def test_a_plausible_scale_is_read_with_its_source(data, microns, source):
    image = load(data)
    assert image.microns_per_pixel == pytest.approx(microns, rel=1e-3)
    assert image.scale_source == source


@pytest.mark.parametrize(
    "data",
    [
        saved("TIFF"),
        saved("PNG"),
        saved("JPEG"),
        saved("BMP"),
        *(saved(kind, dpi=(dpi, dpi)) for kind in ("TIFF", "PNG", "JPEG", "BMP") for dpi in (72, 96, 300, 1200)),
        tiff("", (50_800, 25_400), 2),
        tiff("", (0, 0), 2),
        tiff("", (20_000, 20_000), 1),
        tiff(OME.format("nan", "nan", "")),
        tiff(OME.format("0.5", "0.9", "")),
        tiff(OME.format("0.5", "0.5", ' PhysicalSizeXUnit="pixel"')),
        tiff("<Pixels " * 9_000),
        tiff("MPP = ...."),
        phys(2_000_000, 2_000_000, unit=0),
        phys(0, 0),
        phys(2_000_000, 4_000_000),
    ],
)
def test_what_a_microscope_can_not_have_counts_as_not_said(data):
    image = load(data)
    assert (image.microns_per_pixel, image.scale_source) == (None, "")


def test_both_ends_of_what_is_plausible():
    assert load(phys(round(1e6 / SMALLEST), round(1e6 / SMALLEST))).microns_per_pixel == pytest.approx(SMALLEST)
    assert load(phys(round(1e6 / LARGEST), round(1e6 / LARGEST))).microns_per_pixel == pytest.approx(LARGEST)
    assert load(phys(21_000_000, 21_000_000)).microns_per_pixel is None
    assert load(phys(199_000, 199_000)).microns_per_pixel is None


def test_a_tile_and_another_process_keep_the_scale():
    image = load(phys(2_000_000, 2_000_000))
    for kept in (image.tile(3, 4, 64), copy.copy(image)):
        assert (kept.microns_per_pixel, kept.scale_source) == (0.5, "PNG resolution (pHYs)")


def test_a_sample_whose_scale_is_known_says_so():
    sample = list_samples()[0].model_copy(update={"microns_per_pixel": 0.4})
    assert (sample.load().microns_per_pixel, sample.load().scale_source) == (0.4, SCALE_SOURCE)
