"""What any file may cost to open, whatever it holds: measured by the kernel, one process each."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

from scripts.bad_inputs.budget import MOST_MEGABYTES, MOST_SECONDS
from scripts.bad_inputs.encodings import encoded, tiff, tissue, with_chunk
from scripts.bad_inputs.metadata import DISPLAY_P3, exif_bomb, exif_in_jpeg, exif_in_webp, tiff_with_bomb
from scripts.bad_inputs.table import INPUTS, Outcome
from scripts.make_bad_inputs import make_all

ROOT = Path(__file__).resolve().parents[3]
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="memory is counted by Linux"),
    pytest.mark.slow,
]


def costs(folder, most_seconds=MOST_SECONDS):
    command = [sys.executable, "-m", "scripts.bad_inputs.budget", str(folder), str(most_seconds)]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def over_budget(rows):
    """Files that were stopped, raised another exception, or took too much; the kernel counts."""
    return [row for row in rows if row["outcome"] not in ("opened", "refused") or row["megabytes"] > MOST_MEGABYTES]


def test_every_bad_input_stays_within_seconds_and_megabytes(tmp_path):
    make_all(tmp_path)
    rows = costs(tmp_path)
    assert len(rows) == len(INPUTS)
    assert over_budget(rows) == []
    refused = {row.name for row in INPUTS if row.outcome is Outcome.REFUSED}
    assert {row["name"] for row in rows if row["outcome"] == "refused"} == refused


def test_camera_data_as_large_as_a_file_may_be(tmp_path):
    bomb = exif_bomb(45)
    (tmp_path / "bomb.png").write_bytes(with_chunk(encoded("PNG"), b"eXIf", bomb))
    (tmp_path / "bomb.webp").write_bytes(exif_in_webp(bomb))
    (tmp_path / "bomb.jpg").write_bytes(exif_in_jpeg(bomb))
    (tmp_path / "bomb.tif").write_bytes(tiff_with_bomb(45))
    rows = costs(tmp_path)
    assert [row["outcome"] for row in rows] == ["opened"] * 4
    assert over_budget(rows) == []


def drawn(width, height, mode="RGB"):
    """A large picture that is written in a moment."""
    image = Image.new("RGB", (width, height), "pink")
    ImageDraw.Draw(image).ellipse((99, 99, width - 99, height - 99), "purple")
    if mode == "RGBA":
        image.putalpha(Image.linear_gradient("L").resize(image.size))
    return image if mode in ("RGB", "RGBA") else image.convert(mode)


def test_the_largest_pictures_of_every_kind_stay_within_the_memory(tmp_path):
    turned = Image.Exif()
    turned[274] = 6
    pictures = {
        "plain.png": encoded("PNG", drawn(8000, 5000), exif=turned, icc_profile=DISPLAY_P3, compress_level=1),
        "transparent.png": encoded("PNG", drawn(6000, 5000, "RGBA"), icc_profile=DISPLAY_P3, compress_level=1),
        "palette.png": encoded("PNG", drawn(8000, 5000, "P"), transparency=3, compress_level=1),
        "plain.jpg": encoded("JPEG", drawn(8000, 5000), exif=turned, subsampling=0),
        "ink.jpg": encoded("JPEG", drawn(8000, 5000, "CMYK")),
        "progressive.jpg": encoded("JPEG", drawn(8000, 5000), progressive=True),
        "all-colours-progressive.jpg": encoded("JPEG", drawn(8000, 4200), progressive=True, subsampling=0),
        "packed.tif": encoded("TIFF", drawn(8000, 5000), compression="tiff_adobe_deflate", exif=turned),
        "float.tif": tiff(np.asarray(drawn(8000, 5000, "L")) / np.float32(255), compression="zlib", rowsperstrip=64),
        "plain.webp": encoded("WEBP", drawn(5000, 4000), method=0, exif=turned),
        "transparent.webp": encoded("WEBP", drawn(5000, 4000, "RGBA"), method=0, icc_profile=DISPLAY_P3),
    }
    for name, content in pictures.items():
        (tmp_path / name).write_bytes(content)
    rows = costs(tmp_path, most_seconds=60)  # forty million pixels take as long as they take
    assert {row["name"] for row in rows if row["outcome"] == "opened"} == set(pictures)
    assert over_budget(rows) == []


def test_the_measure_stops_what_runs_away(tmp_path):
    (tmp_path / "large.png").write_bytes(encoded("PNG", drawn(8000, 5000), compress_level=1))
    (tmp_path / "noise.webp").write_bytes(encoded("WEBP", tissue().resize((3200, 2500)), method=0, lossless=True))
    rows = costs(tmp_path, most_seconds=0)
    assert all(row["outcome"].startswith("stopped by signal") for row in rows)
