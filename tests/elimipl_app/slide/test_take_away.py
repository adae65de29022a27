"""The files of a map in one zip."""

import io
import json
import zipfile

import numpy as np

from bag_generators.slide import open_slide
from bag_generators.slide.demo import pyramid
from elimipl_app.slide.seen import map_zip
from tests.elimipl_app.slide.small_map import small_map


def test_the_zip_holds_what_the_command_writes(tmp_path):
    path = tmp_path / "slide.tif"
    path.write_bytes(pyramid([np.full((200, 300, 3), 200, np.uint8)], 0.5))
    made = small_map(np.array([[-1, 0, 6], [2, 6, 6]]), 100, 300, 200, np.ones((2, 3)))
    with zipfile.ZipFile(io.BytesIO(map_zip(made, open_slide(path)))) as archive:
        names = set(archive.namelist())
        summary = json.loads(archive.read("map.json"))
        polygons = json.loads(archive.read("map.geojson"))
    assert names >= {"map.json", "map.geojson", "map.csv", "map.png", "report.html"}
    assert summary["slide"]["name"] == "slide.tif"
    assert polygons["features"]
