"""The files of a map in one zip: what `elimipl map` writes."""

import io
import tempfile
import zipfile
from pathlib import Path

from bag_generators.slide import Slide
from elimipl.slides import SlideMap
from elimipl.slides.exports import write_map


def map_zip(slide_map: SlideMap, slide: Slide) -> bytes:
    """map.json, map.geojson for QuPath, map.csv, map.png, the report, and the map itself."""
    packed = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder:
        write_map(slide_map, slide, Path(folder))
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(Path(folder).iterdir()):
                archive.write(path, path.name)
    return packed.getvalue()
