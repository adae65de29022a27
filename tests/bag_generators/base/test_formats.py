"""One place for formats and limits: what repeats them elsewhere agrees, and a new format needs one entry."""

import io
import tomllib
from pathlib import Path

import pytest
from PIL import Image

from bag_generators import InputError, load
from bag_generators.base import formats
from bag_generators.base.formats import FORMATS, PictureFormat, format_of
from elimipl.commands import main
from elimipl.datasets.tiles import find_tiles

ROOT = Path(__file__).resolve().parents[3]
SECURITY = "".join((ROOT / name).read_text(encoding="utf-8") for name in ("SECURITY.md", "docs/security.md"))
NUMBERS_IN_WORDS = {4: "four", 5: "five", 6: "six", 7: "seven"}
GIF = PictureFormat("GIF", (".gif",), "GifImagePlugin.GifImageFile", (((0, b"GIF8"),),))


def encoded(pillow_name: str) -> bytes:
    file = io.BytesIO()
    Image.effect_noise((64, 64), 80).convert("RGB").save(file, pillow_name)
    return file.getvalue()


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_told_by_its_first_bytes_and_read(name):
    data = encoded(name)
    assert format_of(data[:16]) == name
    assert load(data).width == 64
    assert FORMATS[name].reader().format == name.upper()
    assert set(FORMATS[name].extensions) <= {
        ext for ext, owner in Image.registered_extensions().items() if owner == name.upper()
    }


def test_extensions_belong_to_one_format_each():
    assert len(set(formats.extensions())) == len(formats.extensions())
    assert all(extension.startswith(".") and extension == extension.lower() for extension in formats.extensions())


def test_a_new_format_is_one_entry(monkeypatch, tmp_path, capsys):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    for place in ("a", "b"):
        (tmp_path / place / "tile.gif").write_bytes(encoded("GIF"))
    with pytest.raises(InputError, match=r"it looks like a GIF picture\. Give a PNG, JPEG, TIFF, BMP or WebP picture"):
        load(encoded("GIF"))
    monkeypatch.setitem(FORMATS, "GIF", GIF)
    assert load(encoded("GIF")).width == 64
    assert formats.formats_in_words().endswith("WebP or GIF")
    assert ".gif" in formats.extensions()  # what the upload widgets and the commands go by
    assert len(find_tiles(tmp_path)[0]) == 2
    assert main(["bags", "--unlabelled", str(tmp_path), "--generator", "sbn", "--json"]) == 0
    assert capsys.readouterr().out.count('"features"') == 2


def test_the_upload_widget_and_the_loader_have_the_same_limit():
    with (ROOT / ".streamlit" / "config.toml").open("rb") as file:
        assert tomllib.load(file)["server"]["maxUploadSize"] * 2**20 == formats.MAX_BYTES


def test_security_document_repeats_the_limits():
    megabytes, million = formats.MAX_BYTES // 2**20, formats.MAX_PIXELS // 10**6
    assert f"({million} million pixels, {formats.MAX_SIDE:,} per side, {megabytes} MB)" in SECURITY
    assert f"{formats.MOST_VISIT_BYTES // 2**20} MB of uploads per visit" in SECURITY
    assert f"a picture of {million} million pixels" in SECURITY
    limits = f"at most {formats.MOST_READER_BYTES // 2**30} GB more and {formats.MOST_PICTURE_SECONDS:.0f} s"
    assert f"every upload is read in a process of its own, {limits}" in SECURITY
    assert f"{NUMBERS_IN_WORDS[len(FORMATS)]} readers are allowed" in SECURITY


def test_the_limits_fit_together():
    assert formats.MOST_BATCH_BYTES + formats.MAX_BYTES <= formats.MOST_VISIT_BYTES
    assert formats.MAX_BYTES <= formats.MOST_ZIP_BYTES
    assert formats.MAX_PIXELS <= formats.MAX_SIDE**2
    assert formats.MOST_ZIP_PICTURES <= formats.MOST_ZIP_ENTRIES
