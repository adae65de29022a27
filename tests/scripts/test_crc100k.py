"""`make crc100k` on a miniature of the same layout: announced, killed in the middle, resumed, measured."""

import shutil
import subprocess
import sys
from collections import namedtuple

import pytest

from elimipl.cards.card import Card
from scripts import crc100k
from scripts.crc100k_miniature import ROOT, archive, environment, tiles_from
from scripts.crc100k_recipe.steps import TEST, TRAINING
from tests.elimipl.data.range_server import Behaviour, serve


@pytest.fixture(scope="module")
def behaviour():
    return Behaviour({f"{name}.zip": archive(name, tiles_from(None, n, n)) for name, n in ((TRAINING, 4), (TEST, 2))})


def options(folder, url):
    return ["--folder", str(folder), "--url", url, "--epochs", "2", "--workers", "1", "--generators", "row", "sbn"]


def test_it_goes_on_where_it_was_killed_and_measures_on_the_test_set(behaviour, tmp_path, capfd):
    folder = tmp_path / "crc"
    with serve(behaviour) as url:
        command = [sys.executable, "scripts/crc100k.py", *options(folder, url)]
        with subprocess.Popen(command, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, text=True) as running:
            for line in running.stdout:
                if line.startswith("bags row CRC-VAL"):
                    running.kill()  # -9
                    break
        fetched = behaviour.sent
        assert crc100k.main(options(folder, url)) == 0
        assert behaviour.sent == fetched
    said = capfd.readouterr().out
    assert "fetch NCT-CRC-HE-100K: done before." in said
    assert "bags row NCT-CRC-HE-100K: done before." in said
    assert "bags row CRC-VAL-HE-7K …" in said
    for generator in ("row", "sbn"):
        card = Card.read(folder / "models" / f"crc100k-{generator}-elimipl.json")
        assert card.accuracy.n == 14
        assert TEST in card.accuracy.split
        assert card.training_data.source == TRAINING
        assert card.candidates.average_size > 1
    assert (folder / "summary.md").read_text().count("14 bags of CRC-VAL-HE-7K") == 2
    assert crc100k.main(options(folder, "http://127.0.0.1:1")) == 0  # all there: nobody is asked


def test_time_and_space_are_announced_before_anything_is_fetched(behaviour, tmp_path, capsys, monkeypatch):
    with serve(behaviour) as url:
        assert crc100k.main([*options(tmp_path / "crc", url), "--only-announce"]) == 0
        said = capsys.readouterr().out
        assert "28 tiles of NCT-CRC-HE-100K, 14 tiles of CRC-VAL-HE-7K" in said
        assert all(word in said for word in ("fetch and check", "unpack", "bags", "train", " h", " GB"))
        monkeypatch.setattr(shutil, "disk_usage", lambda _: namedtuple("Usage", "total used free")(10, 10, 0))
        assert crc100k.main(options(tmp_path / "crc", url)) == 2
    refused = capsys.readouterr().err
    assert "but only 0.0 GB are free" in refused
    assert "Make room" in refused
    assert not (tmp_path / "crc" / "tiles").exists()
