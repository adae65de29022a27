"""What is painted on a picture that is taken away: what the page shows, panel by panel."""

import dataclasses
import io
from xml.etree.ElementTree import fromstring

import numpy as np
import pytest
from PIL import Image, ImageColor

from bag_generators import GENERATORS
from elimipl_app.charts.map_layer import blended
from elimipl_app.explore import exports
from elimipl_app.explore.analysis import BESIDE_ORIGINAL, FILLED, MAPS, TWO_CLASSES, Analysis, ViewState
from elimipl_app.explore.exports import provenance
from elimipl_app.explore.maps import layers_of, region_mask, region_numbers, vote_codes
from elimipl_app.explore.picture_export import GAP, figure_png, figure_svg, magnification, painted_panels
from elimipl_app.explore.report import html_report
from elimipl_app.explore.sheet import LINE
from elimipl_app.shell.palette import LIGHT
from tests.elimipl_app.explore.large_sample import analysis_of


@pytest.fixture(scope="module", params=list(GENERATORS))
def analysis(request) -> Analysis:
    return analysis_of(request.param)


def shown_part(png: bytes, analysis: Analysis) -> np.ndarray:
    """The picture in a painted PNG, one pixel for each of the original."""
    factor = magnification(analysis.image.pixels)
    pixels = np.asarray(Image.open(io.BytesIO(png)))[: factor * analysis.image.height, : factor * analysis.image.width]
    np.testing.assert_array_equal(pixels, pixels[::factor, ::factor].repeat(factor, 0).repeat(factor, 1))
    return pixels[::factor, ::factor]


@pytest.mark.parametrize("kind", MAPS)
def test_the_png_is_painted_as_the_page_is_set(kind):
    analysis = analysis_of("row")
    for view in (
        ViewState(kind=kind, painted=FILLED, class_index=6, opacity=0.4),
        ViewState(kind=kind, painted=FILLED, class_index=2, opacity=0.9, threshold=0.3, colours="Yellow"),
    ):
        expected = blended(analysis.image.pixels, layers_of(analysis, view), view.opacity)
        painted = shown_part(figure_png(analysis, view), analysis)
        if kind == "vote":
            codes = vote_codes(analysis.votes.beyond(view.threshold), analysis.labels)
            changed = (painted != expected).any(axis=2)
            assert all(changed[int(y) - 4 : int(y) + 5, int(x) - 4 : int(x) + 5].any() for x, y, _ in codes)
            assert {code for _, _, code in codes} <= set(analysis.labels.codes)
        else:
            np.testing.assert_array_equal(painted, expected)
    hidden = shown_part(figure_png(analysis, ViewState(kind=kind, hidden=True)), analysis)
    np.testing.assert_array_equal(hidden, analysis.image.pixels)


def panel(png: bytes, analysis: Analysis, number: int) -> np.ndarray:
    """One of the pictures that stand side by side in a painted PNG, without the strip its title lies on."""
    factor, title = magnification(analysis.image.pixels), LINE + 8
    left = number * (factor * analysis.image.width + GAP)
    whole = np.asarray(Image.open(io.BytesIO(png)))[: factor * analysis.image.height, left:]
    return whole[title // factor * factor + factor : factor * analysis.image.height : factor][
        :, : factor * analysis.image.width : factor
    ]


def test_the_second_panel_is_in_the_png_and_in_the_report():
    analysis = analysis_of("row")
    kept = analysis.image.height - panel(figure_png(analysis, ViewState()), analysis, 0).shape[0]
    original = figure_png(analysis, ViewState(kind="single", painted=FILLED, class_index=6, panels=BESIDE_ORIGINAL))
    np.testing.assert_array_equal(panel(original, analysis, 1), analysis.image.pixels[kept:])
    assert (panel(original, analysis, 0) != analysis.image.pixels[kept:]).any()

    view = ViewState(kind="contribution", painted=FILLED, class_index=0, panels=TWO_CLASSES)
    first, second = np.argsort(-analysis.prediction.raw, kind="stable")[:2].tolist()
    png, report = figure_png(analysis, view), html_report(analysis, view)
    for number, index in enumerate((first, second)):
        layers = layers_of(analysis, dataclasses.replace(view, class_index=index))
        expected = blended(analysis.image.pixels, layers, view.opacity)[kept:]
        np.testing.assert_array_equal(panel(png, analysis, number), expected)
        assert f"<b>{analysis.labels.names[index]}.</b>" in report
    names = f"{analysis.labels.names[first]} (left) and {analysis.labels.names[second]} (right)"
    assert names in exports.map_caption(analysis, view)
    assert names in exports.colour_bar(analysis, view).title
    assert report.count("data:image/png") == 3
    assert provenance(analysis, view).map["panels"] == TWO_CLASSES


def test_only_what_instances_cover_and_the_region_change_in_the_png_and_its_numbers_are_said(analysis):
    x, y = analysis.view.x, analysis.view.y
    region = (((x + 20.0, y + 30.0), (x + 120.0, y + 30.0), (x + 120.0, y + 90.0), (x + 20.0, y + 90.0)),)
    bare, view = ViewState(kind="single"), ViewState(kind="single", region=region)
    changed = (painted_panels(analysis, bare)[0][1] != painted_panels(analysis, view)[0][1]).any(axis=-1)
    assert changed[30, 25:115].all()
    assert changed[35:85, 120].all()
    changed[28:93, 18:123] = False
    assert not changed.any()
    pixels = shown_part(
        figure_png(analysis, ViewState(kind="integrated_gradients", painted=FILLED, opacity=0.5)), analysis
    )
    covered = np.isfinite(analysis.bag.regions.paint(np.ones(len(analysis.bag.features))))
    np.testing.assert_array_equal(pixels[~covered], analysis.image.pixels[~covered])
    assert (pixels[covered] != analysis.image.pixels[covered]).any(axis=-1).mean() > 0.8
    numbers = region_numbers(
        analysis.bag, analysis.prediction.attention, analysis.scores("single", 0), region_mask(analysis, view)
    )
    said = f"{numbers.attention:.0%} of the attention lies in the region, which is {numbers.area:.0%} of the area"
    assert said in " ".join(exports.all_sentences(analysis, view))
    assert said in html_report(analysis, view)
    assert provenance(analysis, view).map["region"] == [[list(corner) for corner in region[0]]]


def test_removed_patches_are_crossed_out_in_the_png_and_named():
    analysis = analysis_of("sift")
    views = [ViewState(kind="single", removed=removed) for removed in ((), (3,))]
    whole, without = (painted_panels(analysis, view)[0][1] for view in views)
    changed = (whole != without).any(axis=-1)
    x0, y0, x1, y1 = analysis.bag.regions.box(3)
    assert changed[y0:y1, x0:x1].any()
    outside = changed.copy()
    outside[max(0, y0 - 2) : y1 + 2, max(0, x0 - 2) : x1 + 2] = False
    assert not outside.any()
    said = " ".join(exports.all_sentences(analysis, ViewState(removed=(3,))))
    assert "1 of 25 patches were removed (crossed out): 3." in said
    assert "Candidate labels ticked by hand: DEB, MUS, NORM, TUM." in said


def test_the_figure_holds_map_original_bars_legend_scale_bar_and_caption_as_pixels_and_as_shapes():
    analysis = analysis_of("row")
    kept = analysis.image.height - panel(figure_png(analysis, ViewState()), analysis, 0).shape[0]
    view = ViewState(kind="single", painted=FILLED, class_index=6)
    png = figure_png(analysis, view)
    np.testing.assert_array_equal(panel(png, analysis, 1), analysis.image.pixels[kept:])
    sheet = np.asarray(Image.open(io.BytesIO(png)))
    for colour in (LIGHT.candidate, LIGHT.non_candidate):
        assert (sheet == ImageColor.getrgb(colour)).all(axis=-1).sum() > 200, colour
    root = fromstring(figure_svg(analysis, view).decode())
    assert {one.tag.rpartition("}")[2] for one in root.iter()} == {"svg", "rect", "image", "text", "polyline"}
    said = " ".join(one.text or "" for one in root.iter() if one.tag.endswith("text"))
    for part in ("original", "candidate", "non-candidate", "µm", "Map: Single", "Model ", "Not a medical device", "%"):
        assert part in said, part
    assert len([one for one in root if one.tag.endswith("image")]) == 2
