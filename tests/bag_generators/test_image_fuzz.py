"""Whatever bytes arrive, the outcome is a picture or one kind of error, and Python prints nothing."""

import io
import struct
import warnings
import zlib

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from bag_generators.errors import InputError
from bag_generators.image import load

RNG = np.random.default_rng(3)
RGBA = Image.fromarray(RNG.integers(0, 256, (20, 24, 4), dtype=np.uint8))
RGB = RGBA.convert("RGB")
EXIF = Image.Exif()
EXIF[0x0112] = 6


def encoded(image, format_, **options):
    file = io.BytesIO()
    image.save(file, format_, **options)
    return file.getvalue()


SEEDS = [
    encoded(RGB, "PNG", exif=EXIF),
    encoded(RGBA, "PNG", save_all=True, append_images=[RGBA.rotate(90)]),
    encoded(RGB.quantize(9), "PNG", transparency=2),
    encoded(RGB, "JPEG", exif=EXIF, icc_profile=b"profile" * 9),
    encoded(RGB, "JPEG", progressive=True),
    encoded(RGB.convert("CMYK"), "JPEG"),
    encoded(RGB, "TIFF", exif=EXIF),
    encoded(RGB, "TIFF", compression="tiff_lzw"),
    encoded(RGB, "TIFF", compression="jpeg"),
    encoded(RGB.convert("F"), "TIFF", save_all=True, append_images=[RGB.convert("1")]),
    encoded(RGB, "BMP"),
    encoded(RGB.quantize(9), "BMP"),
    encoded(RGBA, "WEBP", lossless=True, exif=EXIF),
    encoded(RGB, "WEBP", save_all=True, append_images=[RGB.rotate(90)]),
]


@st.composite
def mutated_files(draw):
    data = bytearray(draw(st.sampled_from(SEEDS)))
    for _ in range(draw(st.integers(1, 6))):
        # Headers decide what a reader does, so half of the changes go there.
        end = draw(st.sampled_from([min(64, len(data)), len(data)]))
        position = draw(st.integers(0, max(end - 1, 0)))
        change = draw(st.sampled_from(["set", "set", "number", "cut", "insert", "remove"]))
        if change == "set":
            data[position : position + 1] = draw(st.binary(min_size=1, max_size=1))
        elif change == "number":
            number = draw(st.sampled_from([0, 1, 255, 65535, 2**31 - 1, 2**31, 2**32 - 1]))
            data[position : position + 4] = struct.pack(draw(st.sampled_from("<>")) + "I", number)
        elif change == "cut":
            del data[position + 1 :]
        elif change == "insert":
            data[position:position] = draw(st.binary(max_size=40))
        else:
            del data[position : position + draw(st.integers(1, 40))]
    return with_right_sums(bytes(data)) if draw(st.booleans()) else bytes(data)


def with_right_sums(data):
    """Mend a PNG's check sums, so that the changes get past them."""
    if not data.startswith(b"\x89PNG"):
        return data
    mended, position = bytearray(data), 8
    while position + 12 <= len(data):
        end = position + 8 + struct.unpack_from(">I", data, position)[0]
        if end + 4 > len(data):
            break
        struct.pack_into(">I", mended, end, zlib.crc32(data[position + 4 : end]))
        position = end + 4
    return bytes(mended)


def outcome_of(data):
    try:
        return load(data)
    except InputError as refusal:
        return refusal


@settings(max_examples=1200, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(mutated_files())
def check_mutated_files(data):
    outcome = outcome_of(data)
    if isinstance(outcome, InputError):
        assert outcome.what.endswith(".")
        assert outcome.fix.endswith(".")
        assert str(outcome).isprintable()
    else:
        assert outcome.pixels.dtype == np.uint8
        assert outcome.pixels.shape == (outcome.height, outcome.width, 3)
        assert outcome.pixels.size > 0
        assert outcome.pixels.flags.c_contiguous
        assert not outcome.pixels.flags.writeable


def test_damaged_files_give_a_picture_or_a_sentence_and_print_nothing(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_mutated_files()
    assert capsys.readouterr() == ("", "")


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.sampled_from([seed[:12] for seed in SEEDS] + [b""]), st.binary(max_size=300))
def test_noise_gives_a_sentence(start, noise):
    with pytest.raises(InputError):
        load(start + noise)
