"""Regions as files: there and back, QuPath's own, and what no file of regions is."""

import json

import numpy as np
import pytest
import shapely
from shapely.geometry import shape

from bag_generators import InputError
from elimipl.slides.regions.geojson import MOST_BYTES, read_regions, write_regions
from elimipl.slides.regions.numbers import measure_region
from elimipl.slides.regions.region import MOST_REGIONS, Region

RING = [[10, 10], [60, 10], [60, 40], [10, 40], [10, 10]]
HOLE = [[20, 20], [30, 20], [30, 30], [20, 30], [20, 20]]


def feature(geometry, **properties):
    return {"type": "Feature", "id": "b5a2", "geometry": geometry, "properties": properties}


def polygon(*rings):
    return {"type": "Polygon", "coordinates": list(rings)}


def read(content, **size):
    return read_regions(json.dumps(content).encode(), size.get("width", 100), size.get("height", 100))


def test_there_and_back_gives_the_same_regions_to_the_pixel():
    drawn = (
        Region(1, "Tumour", shapely.Polygon(RING, [HOLE]), "TUM"),
        Region(2, "Two „parts“", shapely.MultiPolygon([shapely.box(0, 0, 5, 5), shapely.box(80, 80, 90, 95)])),
    )
    text = write_regions(drawn, {1: measure_region(drawn[0].area, 0.5, None)})
    back = read_regions(text.encode(), 100, 100).regions
    assert [(region.name, region.classification) for region in back] == [("Tumour", "TUM"), ("Two „parts“", None)]
    assert all(one.area.equals(other.area) for one, other in zip(drawn, back, strict=True))
    collection = json.loads(text)
    assert all(shape(one["geometry"]).is_valid for one in collection["features"])
    assert collection["features"][0]["properties"]["objectType"] == "annotation"
    assert collection["features"][0]["properties"]["measurements"]["area mm²"] == pytest.approx(1400 * 0.25e-6)


@pytest.mark.parametrize(
    "wrapped",
    [lambda one: {"type": "FeatureCollection", "features": [one]}, lambda one: [one], lambda one: one],
)
def test_qupath_writes_a_collection_a_list_or_one(wrapped):
    annotation = feature(
        polygon(RING, HOLE), objectType="annotation", classification={"name": "Stroma", "color": [150, 200, 150]}
    )
    (region,) = read(wrapped(annotation)).regions
    assert (region.name, region.classification, region.area.area) == ("Stroma", "Stroma", 1400)


def test_points_lines_and_shapes_elsewhere_are_counted():
    found = read(
        [
            feature(polygon(RING), name="kept"),
            feature({"type": "Point", "coordinates": [1, 2]}),
            feature({"type": "LineString", "coordinates": [[1, 2], [3, 4]]}),
            feature(None),
            feature(polygon([[500, 500], [600, 500], [600, 600], [500, 500]])),
        ]
    )
    assert ([region.name for region in found.regions], found.outside, found.not_areas) == (["kept"], 1, 3)


def test_what_reaches_beyond_the_slide_is_cut_and_crossed_rings_are_repaired():
    (cut,) = read(feature(polygon(RING)), width=35).regions
    assert cut.area.bounds == (10, 10, 35, 40)
    (bow,) = read(feature(polygon([[0, 0], [10, 10], [10, 0], [0, 10], [0, 0]]))).regions
    assert bow.area.is_valid
    assert bow.area.area == pytest.approx(50)


def test_names_of_strangers_become_plain_short_text():
    (region,) = read(feature(polygon(RING), name="a\u202eb\n" + "x" * 200)).regions
    assert region.name.isprintable()
    assert len(region.name) == 80
    (numbered,) = read(feature(polygon(RING), name=7, classification=["x"])).regions
    assert numbered.name == "Region 1"


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"[1]", b'"x"', b"3", b"null", b'{"features": 3}', b'{"type": "Feature"', b"[[]]",
        json.dumps([feature(polygon(RING))] * (MOST_REGIONS + 1)).encode(),
        json.dumps(feature({"type": "Polygon"})).encode(),
        json.dumps(feature({"type": "Polygon", "coordinates": []})).encode(),
        json.dumps(feature({"type": "MultiPolygon", "coordinates": [[]]})).encode(),
        json.dumps(feature(polygon([[0, 0], [1, 1], [0, 0]]))).encode(),
        json.dumps(feature(polygon([[0], [1], [2], [0]]))).encode(),
        json.dumps(feature(polygon([["a", "b"]] * 4))).encode(),
        json.dumps(feature(polygon([[1e300, 0]] * 4))).encode(),
        json.dumps(feature(polygon(RING * 6000))).encode(),
        b'{"type":"Feature","geometry":{"type":"Polygon","coordinates":[[[NaN,0],[1,0],[1,1],[0,0]]]}}',
        b"[" * 100_000,
    ],
)  # fmt: skip
def test_anything_else_gets_a_sentence(content):
    with pytest.raises(InputError):
        read_regions(content, 100, 100)


def test_a_file_above_the_cap_is_not_looked_into():
    with pytest.raises(InputError, match="larger than 20 MB"):
        read_regions(bytes(MOST_BYTES + 1), 100, 100)


def test_tangled_shapes_are_refused_before_they_are_repaired():
    ring = np.random.default_rng(1).uniform(0, 100, (1000, 2)).tolist()
    feature = {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [[*ring, ring[0]]]}}
    with pytest.raises(InputError, match="cross each other more than 500 times"):
        read_regions(json.dumps([feature]).encode(), 100, 100)
