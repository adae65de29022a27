"""A region from a file: read to the pixel, compared with the map as scikit-learn does, refused in a sentence."""

import io
import json

import numpy as np
import pytest
from PIL import Image
from sklearn.metrics import roc_auc_score

from bag_generators import InputError
from bag_generators.tissue.samples import list_samples
from elimipl.answers.predictor import Predictor
from elimipl_app.explore.analysis import ViewState, analyse
from elimipl_app.explore.maps import drawn_numbers, mask_of, members_of, region_mask
from elimipl_app.explore.own_truth import read_region
from elimipl_app.explore.texts import found_sentence
from elimipl_app.inputs.picture import View


def png_of(mask: np.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray((255 * mask).astype(np.uint8)).save(file, "PNG")
    return file.getvalue()


def ring_mask() -> np.ndarray:
    y, x = np.mgrid[:150, :200]
    distance = np.hypot(x - 90, y - 70)
    return ((distance < 60) & (distance > 25)) | ((x > 170) & (y > 100))


def test_a_mask_is_read_to_the_pixel_with_its_holes():
    mask = ring_mask()
    parts = read_region("mine.png", png_of(mask), 200, 150)
    assert len(parts) == 2
    np.testing.assert_array_equal(mask_of(parts, mask.shape, 0, 0), mask)


def test_geojson_of_an_area_with_a_hole_leaves_the_hole_out():
    square = [[10, 10], [110, 10], [110, 110], [10, 110], [10, 10]]
    hole = [[40, 40], [80, 40], [80, 80], [40, 80], [40, 40]]
    feature = {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [square, hole]}, "properties": {}}
    mask = mask_of(read_region("a.geojson", json.dumps(feature).encode(), 200, 150), (150, 200), 0, 0)
    assert mask[20, 20]
    assert mask[100, 60]
    assert not mask[60, 60]
    assert not mask[5, 5]


def test_whether_the_map_finds_it_is_scikit_learns_number():
    sample = next(sample for sample in list_samples() if sample.id == "phantom-tum")
    analysis = analyse(View(sample.load()), None, Predictor.load("drawn7-deep-elimipl"))
    truth = sample.truth()
    region = read_region("truth.png", png_of(truth), truth.shape[1], truth.shape[0])
    view = ViewState(region=tuple(tuple(map(tuple, part.tolist())) for part in region))
    members = np.isin(np.arange(len(analysis.bag)), list(members_of(analysis.bag, region_mask(analysis, view))))
    expected = roc_auc_score(members, analysis.prediction.attention)
    assert drawn_numbers(analysis, view).auroc == pytest.approx(expected)
    assert f"AUROC {expected:.2f}" in found_sentence(expected, "Attention")


@pytest.mark.parametrize(
    ("auroc", "said"),
    [(0.84, "finds your region (AUROC 0.84)"), (0.55, "no better than chance"), (0.2, "points away"), (None, "")],
)
def test_it_is_said_in_words(auroc, said):
    assert said in found_sentence(auroc, "Attention")


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("small.png", png_of(np.ones((80, 90), bool)), "90 × 80 px, the picture 200 × 150 px"),
        ("dark.png", png_of(np.zeros((150, 200), bool)), "no region"),
        ("text.png", b"not a picture", "."),
        ("a.geojson", b"{", "."),
        ("a.json", b'{"type": "FeatureCollection", "features": []}', "no region"),
    ],
)
def test_what_is_no_region_of_this_picture_is_refused(name, data, said):
    with pytest.raises(InputError) as refusal:
        read_region(name, data, 200, 150)
    assert said in refusal.value.what
