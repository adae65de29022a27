"""Pixel measures: finite for every picture, true to their definition, and able to tell tissue from the rest."""

import math

import cv2
import numpy as np
import pytest
import skimage.data

from bag_generators import TissueImage, load
from bag_generators.tissue.phantom import HAEMATOXYLIN_EOSIN, PHANTOM_KINDS, draw
from bag_generators.tissue.quality import Looks, Quality, in_tissue_words, looks_of, measure


def quality_of(pixels: np.ndarray) -> Quality:
    return measure(TissueImage.from_array(np.asarray(pixels, np.uint8)))


def flat(colour: tuple[int, int, int], height: int = 224, width: int = 224) -> np.ndarray:
    return np.broadcast_to(np.uint8(colour), (height, width, 3))


def two_dyes(seed: int, third: float = 0.0) -> np.ndarray:
    """Haematoxylin and eosin varying smoothly, and optical density of spread `third` off their plane."""
    rng = np.random.default_rng(seed)
    fields = [cv2.resize(rng.normal(size=(7, 7)), (224, 224), interpolation=cv2.INTER_CUBIC) for _ in range(3)]
    haematoxylin, eosin, other = (field / field.std() for field in fields)
    normal = np.cross(*HAEMATOXYLIN_EOSIN)
    density = (0.5 + 0.1 * haematoxylin[..., None]) * HAEMATOXYLIN_EOSIN[0]
    density = density + (0.5 + 0.1 * eosin[..., None]) * HAEMATOXYLIN_EOSIN[1]
    density += third * other[..., None] * normal / np.linalg.norm(normal)
    return np.clip(np.rint(256 * np.exp(-density) - 1), 0, 255).astype(np.uint8)


@pytest.mark.parametrize("colour", [(255, 255, 255), (0, 0, 0), (128, 128, 128), (200, 100, 180)])
@pytest.mark.parametrize("shape", [(1, 1), (1, 5000), (31, 31), (224, 224), (3000, 100)])
def test_a_picture_of_any_size_has_finite_measures_at_any_scale(colour, shape):
    noise = np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8)
    for known in (None, 0.1, 4.0):
        image = TissueImage.from_array(noise).at_scale(known, "a test")
        assert all(math.isfinite(number) for number in measure(image, 0.5).numbers().values())
    numbers = quality_of(flat(colour, *shape)).numbers()
    assert all(type(number) is float and math.isfinite(number) for number in numbers.values())
    assert numbers["sharpness"] == numbers["unevenness"] == numbers["third_colour"] == 0
    assert numbers["tissue"] == (0 if min(colour) == 255 else 1)
    assert (numbers["shorter_side"], numbers["aspect"]) == (min(shape), max(shape) / min(shape))


def test_at_a_scale_a_large_field_has_the_measures_of_its_tiles():
    """Shrunk to the working copy the detail of a field of 672 px would be another one."""
    tile = draw("TUM", 3).pixels
    field = TissueImage.from_array(np.tile(tile, (3, 3, 1)))
    alone, large = measure(TissueImage.from_array(tile), 0.5), measure(field, 0.5)
    for name in ("tissue", "sharpness", "unevenness", "stain_colour", "third_colour"):
        assert getattr(large, name) == pytest.approx(getattr(alone, name))
    assert (alone.field, large.field) == (112, 336)
    assert measure(field).sharpness != pytest.approx(alone.sharpness, rel=0.05)
    plain = measure(TissueImage.from_array(tile))
    assert alone.numbers() == {**plain.numbers(), "field": 112}


def test_the_scale_of_the_picture_counts_where_it_is_known():
    tile = draw("TUM", 3).pixels
    fine = TissueImage.from_array(cv2.resize(tile, (448, 448), interpolation=cv2.INTER_NEAREST)).at_scale(
        0.25, "a test"
    )
    assert measure(fine, 0.5).sharpness == pytest.approx(measure(TissueImage.from_array(tile), 0.5).sharpness, rel=0.1)
    assert measure(fine, 0.5).field == 112


def test_glass_between_tissue_does_not_hide_its_detail():
    tile = draw("TUM", 3).pixels
    field = np.full((672, 672, 3), 245, np.uint8)
    field[:448, :448] = np.tile(tile, (2, 2, 1))
    assert measure(TissueImage.from_array(field), 0.5).sharpness > 0.5 * quality_of(tile).sharpness


def test_tissue_is_the_share_that_is_not_glass():
    picture = np.array(flat((240, 235, 242)))
    picture[:, :56] = (150, 70, 140)
    assert quality_of(picture).tissue == 0.25


def test_sharpness_and_unevenness_follow_their_definition():
    pixels = draw("TUM", 3).pixels
    grey = pixels.astype(np.float64) @ (0.299, 0.587, 0.114)
    padded = np.pad(grey, 1, mode="reflect")
    neighbours = (padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]) / 4
    difference = np.abs(grey - neighbours)
    quality = quality_of(pixels)
    assert quality.sharpness == pytest.approx(np.median(difference), rel=1e-3)
    strength = np.sqrt((difference**2).mean())
    assert quality.unevenness == pytest.approx(strength / (np.median(difference) + 0.125), rel=1e-3)


@pytest.mark.parametrize(
    ("colour", "share"),
    [
        ((110, 70, 150), 1),  # haematoxylin
        ((225, 140, 185), 1),  # eosin
        ((190, 50, 60), 1),  # blood
        ((130, 90, 50), 0),  # DAB, the brown of immunohistochemistry
        ((120, 120, 120), 0),
        ((60, 140, 70), 0),
        ((70, 110, 190), 0),
        ((250, 250, 250), 0),  # no tissue at all
    ],
)
def test_stain_colour_knows_the_colours_of_the_two_stains(colour, share):
    assert quality_of(flat(colour)).stain_colour == share


def test_glass_has_no_say_in_the_colour():
    picture = np.array(flat((250, 250, 250)))
    picture[:100] = (225, 140, 185)
    picture[100:150] = (60, 140, 70)
    assert quality_of(picture).stain_colour == pytest.approx(2 / 3)


@pytest.mark.parametrize("third", [0.0, 0.005, 0.015])
def test_third_colour_is_the_spread_off_the_plane_of_two_dyes(third):
    assert quality_of(two_dyes(4, third)).third_colour == pytest.approx(third, rel=0.1, abs=0.001)


def test_a_very_large_picture_is_measured_like_its_working_copy():
    tile = draw("LYM", 5).pixels
    large = cv2.resize(tile, (3000, 3000), interpolation=cv2.INTER_NEAREST)
    expected, found = quality_of(tile).numbers(), quality_of(large).numbers()
    for name in ("tissue", "stain_colour", "third_colour"):
        assert found[name] == pytest.approx(expected[name], rel=0.1), name


@pytest.mark.parametrize("kind", PHANTOM_KINDS)
def test_drawn_tissue_has_the_colours_but_neither_the_texture_nor_the_impurity_of_scanned_tissue(kind):
    for seed in range(3):
        quality = quality_of(draw(kind, seed).pixels)
        assert quality.stain_colour > 0.95
        assert quality.third_colour < 0.002
        assert quality.unevenness > 2.9


@pytest.mark.parametrize("name", ["astronaut", "chelsea", "coffee", "retina", "rocket", "immunohistochemistry"])
def test_photographs_and_other_stains_lack_the_colour(name):
    assert quality_of(getattr(skimage.data, name)()).stain_colour < 0.3


def test_scanned_tissue_has_colour_texture_and_impurity(shared_data):
    tiles = [measure(load(path)) for path in sorted((shared_data / "tissue7" / "train").rglob("*_00[1-5].png"))]
    assert len(tiles) > 10
    assert np.mean([tile.stain_colour > 0.95 for tile in tiles]) > 0.9
    assert np.mean([tile.third_colour > 0.002 for tile in tiles]) > 0.9
    assert np.mean([tile.unevenness < 2.6 for tile in tiles]) > 0.9


def test_glass_is_pale_and_a_field_of_dark_violet_is_crowded():
    glass = looks_of(np.full((20, 20, 3), 245, dtype=np.uint8))
    assert glass.pale == 1
    assert "Mostly pale" in in_tissue_words(glass)
    violet = looks_of(np.full((20, 20, 3), (70, 40, 120), dtype=np.uint8))
    assert violet.nuclei == 1
    assert "crowded nuclei (100 %" in in_tissue_words(violet)


def test_lymphocytes_have_more_nuclei_than_mucus():
    crowded, empty = (looks_of(draw(tissue, seed=1).pixels) for tissue in ("LYM", "MUC"))
    assert crowded.nuclei > 2 * empty.nuclei


@pytest.mark.parametrize(
    ("looks", "said"),
    [
        (Looks(0.2, 0.3, 0.1), "Scattered nuclei (20 % of the patch); pale gaps such as lumen or mucus (30 %)."),
        (Looks(0.05, 0.0, 0.5), "Few nuclei (5 % of the patch); pink tissue between them."),
        (Looks(0.0, 0.0, 0.1), "Hardly any nuclei (0 % of the patch)."),
    ],
)
def test_every_part_of_the_sentence_has_its_number(looks, said):
    assert in_tissue_words(looks) == said
