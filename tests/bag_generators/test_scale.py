"""One function decides at which scale a picture is read."""

import cv2
import numpy as np
import pytest

from bag_generators import InputError, TissueImage, generate
from bag_generators.scale import decide_scale, field_size, first_field, is_large
from bag_generators.slide import at_decided_scale, open_slide
from bag_generators.tissue.nuclei import ScaleEstimate
from bag_generators.tissue.quality import measure
from bag_generators.tissue.samples import list_samples

REAL = next(sample for sample in list_samples() if sample.id == "real-stroma").load().pixels


def picture(factor: float = 1.0) -> TissueImage:
    size = round(224 * factor)
    return TissueImage.from_array(cv2.resize(REAL, (size, size), interpolation=cv2.INTER_CUBIC))


def estimated(monkeypatch, centre, low, high):
    monkeypatch.setattr("bag_generators.scale.estimate_scale", lambda _pixels: ScaleEstimate(centre, low, high, 40))


def test_a_person_knows_better_than_the_file_and_the_file_better_than_nuclei():
    image = picture(2).at_scale(0.3, "TIFF resolution")
    by_file, by_hand = decide_scale(image), decide_scale(image, 0.4)
    assert (by_file.microns_per_pixel, by_file.origin, by_file.source) == (0.3, "file", "TIFF resolution")
    assert (by_hand.microns_per_pixel, by_hand.origin) == (0.4, "by hand")
    assert not by_file.doubted
    assert not by_hand.doubted


@pytest.mark.parametrize("microns", [0, -1, float("nan"), 1000])
def test_a_scale_that_no_pixel_has_is_refused(microns):
    with pytest.raises(InputError, match="can't be"):
        decide_scale(picture(), microns)


@pytest.mark.parametrize(
    ("estimate", "origin", "doubted"),
    [
        ((0.5, 0.4, 0.7), "assumed", False),
        ((0.3, 0.2, 0.45), "assumed", False),  # near enough to 0.5
        ((0.2, 0.14, 0.3), "estimated", False),
        ((1.2, 0.8, 1.7), "estimated", False),
        ((0.15, 0.05, 0.35), "assumed", True),  # clearly another, but nobody knows which
        ((0.12, 0.1, 0.15), "assumed", True),  # 224 px would become 54
    ],
)
def test_nuclei_decide_only_where_they_clearly_tell_another_scale(monkeypatch, estimate, origin, doubted):
    estimated(monkeypatch, *estimate)
    scale = decide_scale(picture())
    assert (scale.origin, scale.doubted) == (origin, doubted)
    assert scale.microns_per_pixel == (estimate[0] if origin == "estimated" else 0.5)
    assert scale.to_dict()["interval"] == list(estimate[1:])
    assert f"{estimate[0]:.2g}" in scale.sentence


def test_without_nuclei_the_models_scale_is_assumed_and_said():
    scale = decide_scale(TissueImage.from_array(np.full((224, 224, 3), 240, np.uint8)))
    assert (scale.microns_per_pixel, scale.origin, scale.doubted) == (0.5, "assumed", False)
    assert "too few nuclei" in scale.sentence


def test_what_was_decided_stays_decided(monkeypatch):
    estimated(monkeypatch, 0.2, 0.14, 0.3)
    scale = decide_scale(picture())
    again = decide_scale(scale.apply_to(picture()))
    assert (again.microns_per_pixel, again.origin) == (0.2, "estimated")


def test_a_picture_at_four_times_the_magnification_gives_nearly_the_same_bag_and_focus():
    once, large = picture(), picture(4)
    scale = decide_scale(large)
    assert scale.origin == "estimated"
    read = scale.apply_to(large)
    assert 0.6 < len(generate("deep", read).features) / len(generate("deep", once).features) < 1.8
    right, wrong = measure(read, 0.5).sharpness, measure(large, 0.5).sharpness
    assert right > 0.5 * measure(once, 0.5).sharpness > 1.5 * wrong


def test_a_slide_without_a_scale_is_read_by_its_nuclei(tmp_path):
    pixels = np.tile(picture(4).pixels, (3, 3, 1))
    cv2.imwrite(str(tmp_path / "slide.png"), pixels[..., ::-1])
    slide = open_slide(tmp_path / "slide.png")
    found, scale = at_decided_scale(slide)
    assert (scale.origin, found.scale_origin) == ("estimated", "estimated")
    assert found.microns_per_pixel == pytest.approx(0.125, rel=0.35)
    assert at_decided_scale(slide, 0.25)[0].scale_origin == "by hand"
    assert at_decided_scale(found)[1].origin == "estimated"


def test_a_small_picture_is_read_whole():
    for width, height in ((224, 224), (335, 900), (100, 64)):
        image = TissueImage.from_array(np.zeros((height, width, 3), np.uint8))
        assert not is_large(image)
        assert first_field(image) is image


@pytest.mark.parametrize(("microns", "size"), [(None, 224), (0.5, 224), (0.25, 448), (1.0, 112), (4.0, 64), (0.1, 500)])
def test_the_field_holds_as_much_tissue_as_a_tile(microns, size):
    image = TissueImage.from_array(np.random.default_rng(0).integers(0, 256, (500, 900, 3), np.uint8))
    image = image.at_scale(microns, "test")
    field = first_field(image)
    assert field_size(image) == field.width == field.height == size
    assert field.sha256 == image.tile((900 - size) // 2, (500 - size) // 2, size).sha256
    assert field.microns_per_pixel == microns
