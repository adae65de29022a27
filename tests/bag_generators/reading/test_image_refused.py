"""Every bad file a person may give, and the sentence they get. Nothing is printed, nothing else escapes."""

import io
import struct
import zipfile
import zlib

import numpy as np
import pytest
import tifffile
from PIL import Image, PngImagePlugin

from bag_generators.errors import InputError
from bag_generators.image import load

NOISE = np.random.default_rng(1).integers(0, 256, (64, 64, 3), dtype=np.uint8)


def encoded(format_, image=None, **options):
    file = io.BytesIO()
    (image or Image.fromarray(NOISE)).save(file, format_, **options)
    return file.getvalue()


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png_claiming(width, height, pixel_data=b""):
    """A grey PNG whose header claims a size its data need not have."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(pixel_data, 9)) + chunk(b"IEND", b"")


def with_chunk(png, name, data):
    """Put a chunk right after the header of a PNG."""
    return png[:33] + chunk(name, data) + png[33:]


def zipped():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("inside.txt", "text")
    return file.getvalue()


def array_file():
    file = io.BytesIO()
    np.save(file, NOISE)
    return file.getvalue()


def refusal_of(data):
    with pytest.raises(InputError) as refusal:
        load(data)
    assert refusal.value.what.endswith(".")
    assert refusal.value.fix.endswith(".")
    return str(refusal.value)


def test_an_empty_file():
    assert refusal_of(b"") == "The file is empty. Choose another file."


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"Patient came in with a cough.\n", "a text file"),
        ("Überweisung für die Pathologie".encode(), "a text file"),
        (b"BMW drivers have colons too", "a text file"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3", "a PDF document"),
        (zipped(), "a ZIP archive"),
        (b"<!DOCTYPE html><html><body>404</body></html>", "a web page"),
        (b"\n<!-- saved --><html></html>", "a web page"),
        (b'<svg xmlns="http://www.w3.org/2000/svg"/>', "an SVG drawing"),
        (b'<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>', "an SVG drawing"),
        (b'<?xml version="1.0"?><note/>', "an XML file"),
        (array_file(), "a NumPy array file"),
        (b"\0" * 128 + b"DICM" + b"\0" * 40, "a DICOM file"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "a PostScript (EPS) drawing"),
        (b"\xc5\xd0\xd3\xc6" + b"\0" * 30, "a PostScript (EPS) drawing"),
        (encoded("GIF"), "a GIF picture"),
        (encoded("JPEG2000"), "a JPEG 2000 picture"),
        (encoded("AVIF"), "a HEIC, AVIF or video file"),
    ],
)
def test_other_kinds_of_file_are_named(data, kind):
    said = refusal_of(data)
    assert said.startswith(f"This is not an image we can read: it looks like {kind}")
    assert said.endswith("Give a PNG, JPEG, TIFF, BMP or WebP picture.")


@pytest.mark.parametrize("data", [b"\0", bytes(range(256)), b"\xff" * 50, b"RIFF\0\0\0\0AVI "])
def test_unknown_bytes(data):
    assert "not an image we can read: its kind is unknown" in refusal_of(data)


def test_an_eps_named_png_never_starts_ghostscript(tmp_path, monkeypatch):
    started = []
    monkeypatch.setattr("subprocess.Popen.__init__", lambda *arguments, **_: started.append(arguments))
    path = tmp_path / "tissue.png"
    path.write_bytes(encoded("EPS"))
    with pytest.raises(InputError, match="PostScript"):
        load(path)
    assert started == []


@pytest.mark.parametrize("format_", ["PNG", "JPEG", "TIFF", "BMP", "WEBP"])
@pytest.mark.parametrize("kept", [0.03, 0.3, 0.6, 0.95])
def test_cut_files_are_incomplete(format_, kept):
    data = encoded(format_)
    said = refusal_of(data[: int(len(data) * kept)])
    assert "picture is incomplete or damaged. Export it again" in said


@pytest.mark.parametrize("length", [8, 9, 12, 16, 20, 30, 33, 40])
def test_a_png_cut_in_its_header_is_incomplete(length):
    assert "incomplete or damaged" in refusal_of(encoded("PNG")[:length])


def test_a_png_without_its_last_bytes_is_incomplete():
    assert "incomplete or damaged" in refusal_of(encoded("PNG")[:-12])


def test_any_flipped_byte_of_a_png_is_noticed():
    data = encoded("PNG", Image.fromarray(NOISE[:8, :8]))
    for position in range(8, len(data)):
        flipped = bytearray(data)
        flipped[position] ^= 0x10
        assert "incomplete or damaged" in refusal_of(bytes(flipped)) or position < 24  # a size may become too large


@pytest.mark.parametrize("side", [9000, 10_000, 15_000])
def test_png_bombs_are_refused_from_the_header(side, monkeypatch):
    monkeypatch.delattr(PngImagePlugin.PngImageFile, "load_prepare")  # decoding would fail
    said = refusal_of(png_claiming(side, side, b"\0" * (side + 1) * 100))
    assert f"{side:,} × {side:,} pixels; at most 40 million in all and 20,000 per side" in said


def bomb_jpeg():
    data = bytearray(encoded("JPEG"))
    start = data.index(b"\xff\xc0") + 5
    data[start : start + 4] = struct.pack(">HH", 65_000, 65_000)
    return bytes(data)


def bomb_bmp():
    data = bytearray(encoded("BMP"))
    data[18:26] = struct.pack("<ii", 2**31 - 1, 2**31 - 1)
    return bytes(data)


def bomb_webp():
    canvas = struct.pack("<I", 2**24 - 1)[:3]
    return b"RIFF" + struct.pack("<I", 22) + b"WEBPVP8X" + struct.pack("<I", 10) + b"\0\0\0\0" + canvas + canvas


def bomb_lossless_webp():
    data = bytearray(encoded("WEBP", lossless=True))
    data[21:25] = struct.pack("<I", 0x3FFF | 0x3FFF << 14)
    return bytes(data)


def bomb_lossy_webp():
    data = bytearray(encoded("WEBP"))
    data[26:30] = struct.pack("<HH", 16_383, 16_383)
    return bytes(data)


def bomb_tiff():
    return tiff_with({256: 60_000, 257: 60_000})


def tiff_with(tags):
    """A TIFF of 64 × 64 in which the values of whole-number tags are replaced."""
    data = bytearray(encoded("TIFF"))
    start = struct.unpack_from("<I", data, 4)[0]
    for i in range(struct.unpack_from("<H", data, start)[0]):
        tag, kind = struct.unpack_from("<HH", data, start + 2 + 12 * i)
        if tag in tags:
            struct.pack_into("<H" if kind == 3 else "<I", data, start + 10 + 12 * i, tags[tag])
    return bytes(data)


@pytest.mark.parametrize(
    ("bomb", "size"),
    [
        (png_claiming(2**31 - 1, 2**31 - 1), "2,147,483,647 × 2,147,483,647"),
        (bomb_jpeg(), "65,000 × 65,000"),
        (bomb_bmp(), "2,147,483,647 × 2,147,483,647"),
        (bomb_webp(), "16,777,216 × 16,777,216"),
        (bomb_lossless_webp(), "16,384 × 16,384"),
        (bomb_lossy_webp(), "16,383 × 16,383"),
        (bomb_tiff(), "60,000 × 60,000"),
        (png_claiming(1, 20_001), "1 × 20,001"),
    ],
)
def test_claimed_sizes_over_the_limit_are_quoted(bomb, size):
    assert f"has {size} pixels; at most 40 million" in refusal_of(bomb)


def test_a_tiff_whose_tiles_unpack_to_gigabytes_is_refused():
    file = io.BytesIO()
    tifffile.imwrite(file, NOISE, tile=(64, 64), photometric="rgb")
    data = bytearray(file.getvalue())
    start = struct.unpack_from("<I", data, 4)[0]
    for i in range(struct.unpack_from("<H", data, start)[0]):
        tag, kind = struct.unpack_from("<HH", data, start + 2 + 12 * i)
        if tag in (322, 323):
            struct.pack_into("<H" if kind == 3 else "<I", data, start + 10 + 12 * i, 16_000)
    assert "16,000 × 16,000 pixels; at most" in refusal_of(bytes(data))


@pytest.mark.parametrize("size", [(0, 0), (0, 5), (5, 0)])
def test_a_picture_without_pixels(size):
    assert f"has no pixels ({size[0]} × {size[1]})" in refusal_of(png_claiming(*size))


@pytest.mark.parametrize("size", [(1, 1), (1, 5000), (31, 31)])
def test_small_and_thin_pictures_open_so_that_the_generator_can_name_its_minimum(size):
    image = load(encoded("PNG", Image.new("RGB", size, "pink")))
    assert (image.width, image.height) == size


@pytest.mark.parametrize("colour", ["white", "black"])
def test_one_colour_opens_so_that_the_tissue_check_can_say_it_is_empty(colour):
    assert np.ptp(load(encoded("PNG", Image.new("RGB", (64, 64), colour))).pixels) == 0


def test_a_fully_transparent_picture():
    assert "fully transparent" in refusal_of(encoded("PNG", Image.new("RGBA", (64, 64), (200, 30, 90, 0))))


@pytest.mark.parametrize("compressed", ["zTXt", "iTXt"])
def test_a_text_of_20_megabytes_in_a_png(compressed):
    info = PngImagePlugin.PngInfo()
    if compressed == "zTXt":
        info.add_text("Comment", "a" * 20_000_000, zip=True)
    else:
        info.add_itxt("Comment", "a" * 20_000_000, zip=True)
    assert "damaged or unsafe metadata. Export it again" in refusal_of(encoded("PNG", pnginfo=info))


def test_an_uncompressed_text_of_20_megabytes_is_harmless():
    info = PngImagePlugin.PngInfo()
    info.add_text("Comment", "a" * 20_000_000)
    assert load(encoded("PNG", pnginfo=info)).width == 64


@pytest.mark.parametrize("profile", [b"name\0\0" + zlib.compress(b"\0" * 20_000_000), b"name\0\7garbage"])
def test_an_unsafe_or_unknown_colour_profile_in_a_png(profile):
    assert "damaged or unsafe metadata" in refusal_of(with_chunk(encoded("PNG"), b"iCCP", profile))


@pytest.mark.parametrize("format_", ["PNG", "JPEG", "TIFF", "WEBP"])
def test_a_colour_profile_of_garbage_is_not_applied(format_):
    data = encoded(format_, icc_profile=b"not a profile" * 20)
    assert np.array_equal(load(data).pixels, load(encoded(format_)).pixels)


def test_garbage_instead_of_camera_data_is_ignored():
    assert load(encoded("JPEG", exif=b"Exif\0\0II*\0\xff\xff\xff\xffgarbage")).notes == ()


@pytest.mark.parametrize(
    "values",
    [
        np.full((64, 64, 3), 0.5, np.float32),
        np.full((64, 64), 0.5, np.float64),
        np.full((64, 64), 0.5, np.float16),
        np.full((64, 64, 3), 7, np.uint32),
    ],
)
def test_pixel_types_that_can_not_be_read_say_so(values):
    file = io.BytesIO()
    tifffile.imwrite(file, values, photometric="rgb" if values.ndim == 3 else "minisblack")
    assert "stores its pixels in a way we can't read. Save it as 8-bit RGB." in refusal_of(file.getvalue())


def test_a_tiff_of_unknown_compression_says_so():
    assert "in a way we can't read" in refusal_of(tiff_with({259: 33_003}))  # Aperio's JPEG 2000


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_float_values_that_are_no_numbers(bad):
    values = np.full((64, 64), 0.5, np.float32)
    values[3, 4] = bad
    assert "values that are not numbers" in refusal_of(encoded("TIFF", Image.fromarray(values)))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.array([[-0.5, 0.5]], np.float32), "from -0.5 to 0.5"),
        (np.array([[0.0, 1e6]], np.float32), "from 0 to 1e+06"),
        (np.array([[0, 70_000]], np.int32), "from 0 to 70000"),
    ],
)
def test_values_of_no_known_scale_are_quoted(values, words):
    said = refusal_of(encoded("TIFF", Image.fromarray(values)))
    assert words in said
    assert "fits no known brightness scale" in said


def test_a_whole_slide_image_within_the_byte_cap_says_how_to_export():
    file = io.BytesIO()
    header = "Aperio Image Library v11.2.1\n46000x32914 [0,100 46000x32893] (256x256) JPEG/RGB Q=70"
    blank = np.full((6600, 6600, 3), 240, np.uint8)
    tifffile.imwrite(
        file, blank, tile=(256, 256), photometric="rgb", compression="zlib", description=header, metadata=None
    )
    said = refusal_of(file.getvalue())
    assert "whole-slide image has 6,600 × 6,600 pixels" in said
    assert "QuPath: File → Export images" in said
