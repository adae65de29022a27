"""Every layout of a TIFF either gives the pixels that another decoder (tifffile) finds, or is refused."""

import io
from itertools import product

import cv2
import numpy as np
import pytest
import tifffile
from PIL import Image

from bag_generators.base.errors import InputError
from bag_generators.image import load
from tests.bag_generators.reading.tiff_writer import (
    BLACK_IS_ZERO,
    CMYK,
    DEFLATE,
    LAB,
    LZW,
    NONE,
    OLD_DEFLATE,
    PACK_BITS,
    PALETTE,
    RGB,
    WHITE_IS_ZERO,
    YCBCR,
    Layout,
    written,
)

HEIGHT, WIDTH = 19, 37
RANGES = (255, 1023, 4095, 16383, 65535)
SUBSAMPLING, ONE_TO_ONE = 530, (1, 1)
# What is opened today, by photometric interpretation and samples: bits, sample format.
OPENED = {
    (WHITE_IS_ZERO, 1): {(1, 1), (2, 1), (4, 1), (8, 1), (16, 1), (32, 3)},
    (BLACK_IS_ZERO, 1): {(1, 1), (2, 1), (4, 1), (8, 1), (8, 2), (12, 1), (16, 1), (16, 2), (32, 1), (32, 2), (32, 3)},
    (BLACK_IS_ZERO, 2): {(1, 1), (2, 1), (4, 1), (8, 1), (8, 2), (12, 1), (16, 1), (16, 2), (32, 1), (32, 2), (32, 3)},
    (RGB, 3): {(8, 1), (16, 1)},
    (RGB, 4): {(8, 1), (16, 1)},
    (CMYK, 4): {(8, 1), (16, 1)},
    (YCBCR, 3): {(8, 1)},
}
KINDS = [(bits, 1) for bits in (1, 2, 4, 8, 12, 16, 32)] + [(8, 2), (16, 2), (32, 2), (16, 3), (32, 3)]


def drawn(bits, sample_format, samples):
    """Values by chance, among them the largest; signed ones are not below zero, which has its own sentence."""
    rng = np.random.default_rng(bits)
    if sample_format == 3:
        return rng.random((HEIGHT, WIDTH, samples)).astype(f"f{bits // 8}")
    top = min(2**bits, 2**16) // (2 if sample_format == 2 else 1)
    values = rng.integers(0, top, (HEIGHT, WIDTH, samples))
    values[0, 0] = top - 1
    size = 1 if bits <= 8 else 2 if bits <= 16 else 4
    return values.astype(f"{'i' if sample_format == 2 else 'u'}{size}")


def expected(values, layout):
    """The literal conversion of what is stored to 8-bit RGB."""
    if layout.photometric in (WHITE_IS_ZERO, BLACK_IS_ZERO):
        grey = values[..., 0].astype(float)
        if layout.sample_format == 3:
            grey *= 255
        elif layout.bits < 8:
            grey *= 255 / (2**layout.bits - 1)
        elif layout.bits > 8:
            grey *= 255 / next(top for top in RANGES if grey.max() <= top)
        grey = np.rint(grey)
        return np.repeat((255 - grey if layout.photometric == WHITE_IS_ZERO else grey)[..., None], 3, axis=2)
    values = (values >> (layout.bits - 8)).astype(np.uint8)
    if layout.photometric == RGB:
        return values[..., :3].astype(float)
    mode = {CMYK: "CMYK", YCBCR: "YCbCr"}[layout.photometric]
    return np.asarray(Image.frombytes(mode, (WIDTH, HEIGHT), values.tobytes()).convert("RGB")).astype(float)


def decoded_by_another(data, layout, values):
    """By tifffile; where it can't (LZW, 2, 4 and 12 bits without a further library) what was written."""
    if layout.compression == LZW or layout.bits in (2, 4, 12):
        return values
    found = tifffile.imread(io.BytesIO(data))
    found = np.moveaxis(found, 0, -1) if layout.planes and found.ndim == 3 and found.shape[0] < 5 else found
    return found.reshape(values.shape)


def layouts(bits, sample_format, photometric, extra):
    for planes, compression, order, predictor, tiles, backwards in product(
        (False, True), (NONE, LZW, DEFLATE, PACK_BITS), "<>", (1, 2), (0, 16), (False, True)
    ):
        packs_differences = compression in (LZW, DEFLATE) and bits in (8, 16, 32) and sample_format != 3
        if predictor == 1 or packs_differences:
            yield Layout(
                bits, photometric, planes, compression, order, predictor, tiles, 7, sample_format, extra,
                backwards=backwards,
            )  # fmt: skip


@pytest.mark.parametrize(("bits", "sample_format"), KINDS)
@pytest.mark.parametrize(
    ("photometric", "samples", "extra"),
    [(WHITE_IS_ZERO, 1, ()), (BLACK_IS_ZERO, 1, ()), (BLACK_IS_ZERO, 2, (0,)), (RGB, 3, ()), (RGB, 4, (0,)),
     (BLACK_IS_ZERO, 2, (2,)), (CMYK, 4, ()), (YCBCR, 3, ())],
)  # fmt: skip
def test_every_layout_gives_right_pixels_or_a_sentence(photometric, samples, extra, bits, sample_format):
    values = drawn(bits, sample_format, samples)
    opens = OPENED[photometric, samples] if extra != (2,) else {(8, 1)}
    if extra == (2,):
        values[..., 1] = 255 if (bits, sample_format) == (8, 1) else 1  # opaque
    opened = 0
    for layout in layouts(bits, sample_format, photometric, extra):
        data = written(values, layout, {SUBSAMPLING: ONE_TO_ONE} if photometric == YCBCR else None)
        try:
            pixels = load(data).pixels
        except InputError:
            continue
        opened += 1
        found = decoded_by_another(data, layout, values)
        assert np.abs(pixels - expected(found, layout)).max() <= 1, layout
    assert (opened > 0) == ((bits, sample_format) in opens)


@pytest.mark.parametrize("compression", [LZW, DEFLATE])
@pytest.mark.parametrize("bits", [8, 16])
def test_the_writer_is_right_about_what_only_opencv_can_check(compression, bits):
    values = drawn(bits, 1, 3)
    data = written(values, Layout(bits, compression=compression, predictor=2))
    found = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    assert np.array_equal(found[..., ::-1], values)


@pytest.mark.parametrize("photometric", [WHITE_IS_ZERO, BLACK_IS_ZERO])
@pytest.mark.parametrize("bits", [4, 8, 16])
def test_a_single_plane_called_planes_is_the_plane_itself(photometric, bits):
    values = drawn(bits, 1, 1)
    one, planes = (load(written(values, Layout(bits, photometric, planes=named))).pixels for named in (False, True))
    assert np.array_equal(one, planes)


@pytest.mark.parametrize("extra", [1, 2])
def test_transparency_in_its_two_ways(extra):
    values = drawn(8, 1, 4)
    values[..., 3] |= 128
    if extra == 1:  # colours already multiplied by the opacity
        values[..., :3] = values[..., :3] * (values[..., 3:] / 255.0)
    pixels = load(written(values, Layout(extra=(extra,), compression=DEFLATE))).pixels
    share = values[..., 3:] / 255.0
    colours = values[..., :3] if extra == 1 else values[..., :3] * share
    assert np.abs(pixels - (colours + 255 * (1 - share))).max() <= 2


@pytest.mark.parametrize("extra", [1, 2])
def test_grey_with_transparency(extra):
    values = np.stack([np.full((HEIGHT, WIDTH), 100), np.full((HEIGHT, WIDTH), 255)], axis=-1).astype(np.uint8)
    assert (load(written(values, Layout(photometric=BLACK_IS_ZERO, extra=(extra,)))).pixels == 100).all()


@pytest.mark.parametrize("bits", [1, 4, 8])
def test_palettes(bits):
    values = drawn(bits, 1, 1)
    colours = np.random.default_rng(1).integers(0, 256, (3, 2**bits))
    tags = {320: tuple((colours * 257).ravel().tolist())}
    for compression, order in product((NONE, PACK_BITS, OLD_DEFLATE), "<>"):
        data = written(values, Layout(bits, PALETTE, compression=compression, order=order), tags)
        assert np.array_equal(load(data).pixels, colours.T[values[..., 0]])


@pytest.mark.parametrize("compression", [NONE, DEFLATE])
def test_lab_colours_have_signed_halves(compression):
    grey = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    grey[..., 0] = 128  # a and b are zero, which is stored as zero
    red, green, blue = load(written(grey, Layout(photometric=LAB, compression=compression))).pixels[0, 0].astype(int)
    assert abs(red - green) <= 2
    assert abs(green - blue) <= 2
    assert 110 < red < 130


@pytest.mark.parametrize("predictor", [1, 3])
def test_float_values_by_either_predictor(predictor):
    values = drawn(32, 3, 1)
    layout = Layout(32, BLACK_IS_ZERO, compression=DEFLATE, predictor=predictor, sample_format=3)
    assert np.abs(load(written(values, layout)).pixels[..., 0] - np.rint(values[..., 0] * 255)).max() <= 1


@pytest.mark.parametrize(("bits", "sample_format"), [(16, 2), (32, 2), (32, 3)])
def test_packed_wide_values_with_the_high_bytes_first_are_refused(bits, sample_format):
    values = np.zeros((HEIGHT, WIDTH, 1), {2: "i", 3: "f"}[sample_format] + str(bits // 8))
    values[:9] = 1  # turned round these would be a black picture, not nonsense
    layout = Layout(bits, BLACK_IS_ZERO, compression=DEFLATE, order=">", sample_format=sample_format)
    with pytest.raises(InputError, match="with the high bytes first"):
        load(written(values, layout))


@pytest.mark.parametrize("tags", [{}, {SUBSAMPLING: (2, 2)}, {SUBSAMPLING: (2, 1)}])
def test_fewer_colours_than_pixels_without_compression_are_refused(tags):
    with pytest.raises(InputError, match="fewer colours than pixels"):
        load(written(drawn(8, 1, 3), Layout(photometric=YCBCR), tags))


def test_large_files_of_the_newer_kind():
    values = drawn(8, 1, 3)
    for tiles, compression in product((0, 16), (NONE, DEFLATE)):
        data = written(values, Layout(big=True, tiles=tiles, compression=compression))
        assert np.array_equal(load(data).pixels, values)
    with pytest.raises(InputError, match="BigTIFF with the high bytes first"):
        load(written(values, Layout(order=">", big=True)))


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32])
def test_values_below_zero_are_quoted_instead_of_wrapped(kind):
    values = np.full((HEIGHT, WIDTH, 1), 90, kind)
    values[3, 4] = -5
    layout = Layout(8 * values.itemsize, BLACK_IS_ZERO, sample_format=2)
    with pytest.raises(InputError, match="from -5 to 90, which fits no known brightness scale"):
        load(written(values, layout))


def test_values_of_32_bits_are_called_so_and_never_negative():
    values = np.full((HEIGHT, WIDTH, 1), 1000, np.uint32)
    layout = Layout(32, BLACK_IS_ZERO)
    assert load(written(values, layout)).notes[0] == "32-bit grey values were scaled from 0–1023 to 0–255."
    values[0, 0] = 2**32 - 1
    with pytest.raises(InputError, match=r"from 1000 to 4\.29497e\+09"):
        load(written(values, layout))
