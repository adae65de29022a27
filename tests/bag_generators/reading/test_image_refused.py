"""Files that get a sentence, beyond those of the table of bad inputs (`test_bad_inputs`)."""

import io
import struct

import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from bag_generators.base.errors import InputError
from bag_generators.image import load
from bag_generators.reading import decoding
from tests.support.bad_files import encoded, jpeg_of_scans, motion_photo, png_claiming, tissue

NOISE = np.random.default_rng(1).integers(0, 256, (64, 64, 3), dtype=np.uint8)


def refusal_of(data):
    with pytest.raises(InputError) as refusal:
        load(data)
    return str(refusal.value)


def test_other_kinds_of_file_are_named_with_what_can_be_read():
    said = refusal_of("Überweisung für die Pathologie".encode())
    assert said.startswith("This is not an image we can read: it looks like a text file")
    assert said.endswith("Give a PNG, JPEG, TIFF, BMP or WebP picture.")
    for data in (b"\xff" * 50, b"RIFF\0\0\0\0AVI "):
        assert "its kind is unknown" in refusal_of(data)


def test_an_eps_named_png_never_starts_ghostscript(tmp_path, monkeypatch):
    started = []
    monkeypatch.setattr("subprocess.Popen.__init__", lambda *arguments, **_: started.append(arguments))
    path = tmp_path / "tissue.png"
    path.write_bytes(encoded("EPS"))
    with pytest.raises(InputError, match="PostScript"):
        load(path)
    assert started == []


def test_any_flipped_byte_of_a_png_is_noticed():
    data = encoded("PNG", Image.fromarray(NOISE[:8, :8]))
    for position in range(8, len(data)):
        flipped = bytearray(data)
        flipped[position] ^= 0x10
        assert "incomplete or damaged" in refusal_of(bytes(flipped))
    for length in range(8, 41):
        assert "incomplete or damaged" in refusal_of(data[:length])


def test_bombs_are_refused_from_the_header(monkeypatch):
    monkeypatch.delattr(PngImagePlugin.PngImageFile, "load_prepare")  # decoding would fail
    said = refusal_of(png_claiming(9000, 9000, b"\0" * 9001 * 100))
    assert "9,000 × 9,000 pixels; at most 40 million in all and 20,000 per side" in said


def test_a_film_behind_a_picture_is_no_part_of_it_nor_is_a_thumbnail():
    image = load(motion_photo())
    assert np.array_equal(image.pixels, load(encoded("JPEG")).pixels)
    thumbnail = encoded("JPEG", tissue().resize((32, 32)))
    data = encoded("JPEG")
    data = data[:2] + b"\xff\xe1" + (len(thumbnail) + 2).to_bytes(2, "big") + thumbnail + data[2:]
    assert np.array_equal(load(data).pixels, image.pixels)


def test_several_scans_of_many_pixels_are_refused(monkeypatch):
    progressive = encoded("JPEG", progressive=True)
    load(progressive)
    load(jpeg_of_scans(400))
    load(encoded("JPEG", restart_marker_rows=1))
    monkeypatch.setattr(decoding, "MOST_SCANNED_PIXELS", 224 * 224)
    with pytest.raises(InputError, match=r"made of too many parts: .*scans"):
        load(progressive)
    load(encoded("JPEG"))


@pytest.mark.parametrize(
    "data", [b"II*\0", b"II*\0\xff\xff\xff\xff", b"II+\0" + b"\xff" * 20, b"II*\0\x08\0\0\0\xff\xff"]
)
def test_a_tiff_without_a_page_is_damaged(data):
    assert "incomplete or damaged" in refusal_of(data)


def test_pages_in_a_circle_are_counted_once():
    file = io.BytesIO()
    Image.fromarray(NOISE).save(file, "TIFF")
    data = bytearray(file.getvalue())
    start = struct.unpack_from("<I", data, 4)[0]
    (entries,) = struct.unpack_from("<H", data, start)
    struct.pack_into("<I", data, start + 2 + 12 * entries, start)
    assert load(bytes(data)).notes == ()
