import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from bag_generators import InputError, TissueImage, generate
from bag_generators.assets import assets
from bag_generators.generators import deep as generator
from bag_generators.generators.encoder import ENCODER, PATCH, WIDTH, read_encoder, shipped_encoder
from bag_generators.tissue.phantom import draw


def picture(height: int = 224, width: int = 224, seed: int = 0) -> TissueImage:
    tile = draw("TUM", seed).pixels
    repeated = np.tile(tile, (-(-height // 224), -(-width // 224), 1))
    return TissueImage.from_array(repeated[:height, :width])


@pytest.mark.parametrize(
    ("height", "width", "patches"), [(224, 224, 16), (672, 672, 144), (64, 64, 4), (70, 300, 12), (224, 230, 20)]
)
def test_patches_cover_the_picture_without_shrinking_it(height: int, width: int, patches: int) -> None:
    bag = generate("deep", picture(height, width))
    assert bag.features.shape == (patches, WIDTH)
    covered = sum((x1 - x0) * (y1 - y0) for x0, y0, x1, y1 in bag.regions.boxes)
    assert covered == height * width


def test_a_patch_gets_the_same_numbers_whatever_stands_beside_it() -> None:
    field = picture(448, 448)
    alone = shipped_encoder().encode(field.pixels[None, :PATCH, :PATCH])[0]
    assert np.allclose(generate("deep", field).features[0], alone, atol=1e-4)


def test_batch_and_threads_change_nothing() -> None:
    patches = np.random.default_rng(0).integers(0, 256, (130, PATCH, PATCH, 3), dtype=np.uint8)
    together = shipped_encoder().encode(patches)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1 if threads > 1 else 2)
        one_by_one = np.concatenate([shipped_encoder().encode(patch[None]) for patch in patches[::13]])
    finally:
        torch.set_num_threads(threads)
    assert np.allclose(together[::13], one_by_one, atol=1e-4)


def test_a_known_scale_is_brought_to_half_a_micrometre() -> None:
    at_double = picture(448, 448).at_scale(0.25, "test")
    assert len(generate("deep", at_double)) == 16
    assert len(generate("deep", picture(448, 448))) == 64
    assert len(generate("deep", picture(448, 448).at_scale(0.505, "test"))) == 64


def test_regions_of_a_rescaled_picture_are_in_its_own_pixels() -> None:
    bag = generate("deep", picture(448, 448).at_scale(0.25, "test"))
    assert tuple(bag.regions.boxes[0]) == (0, 0, 112, 112)


def test_very_large_pictures_get_a_coarser_grid() -> None:
    for height, width in ((20000, 20000), (60, 2_000_000), (7000, 9000)):
        rows, columns = generator.grid_of(height, width)
        assert 0.9 * generator.MOST_PATCHES < rows * columns <= generator.MOST_PATCHES


def test_too_little_picture_is_refused_with_a_sentence() -> None:
    with pytest.raises(InputError, match="a patch needs 56×56 px"):
        generate("deep", picture(100, 300).at_scale(0.25, "test"))
    with pytest.raises(InputError, match="at least 64×64 px"):
        generate("deep", picture(63, 300))
    with pytest.raises(InputError, match="would measure"):
        generate("deep", picture(2240, 2240).at_scale(5.0, "test"))


def test_every_instance_has_words_and_steps() -> None:
    image = picture()
    bag = generate("deep", image)
    assert "looks most like" in generator.in_words(bag, 3)
    framed, patch = generator.steps(image.pixels, bag, 5)
    assert patch.drawing.pixels.shape == (PATCH, PATCH, 3)
    assert np.array_equal(patch.drawing.pixels, image.pixels[56:112, 56:112])
    assert framed.drawing.frames == [(56, 56, 112, 112)]


def test_different_tissue_gives_different_numbers() -> None:
    tumour, mucus = (
        generate("deep", TissueImage.from_array(draw(kind, 1).pixels)).features.mean(0) for kind in ("TUM", "MUC")
    )
    assert np.abs((tumour - mucus) / shipped_encoder().spread).mean() > 0.05


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    for suffix in (".safetensors", ".json"):
        shutil.copy(assets("encoder", ENCODER + suffix), tmp_path)
    return tmp_path / f"{ENCODER}.safetensors"


def test_a_swapped_encoder_is_refused(copied: Path) -> None:
    read_encoder(copied)
    content = bytearray(copied.read_bytes())
    content[-1] ^= 1
    copied.write_bytes(content)
    with pytest.raises(InputError, match="not the one its card describes"):
        read_encoder(copied)


def test_a_damaged_encoder_and_a_damaged_card_are_refused(copied: Path) -> None:
    copied.write_bytes(b"no tensors")
    with pytest.raises(InputError, match="is not an encoder"):
        read_encoder(copied)
    card = copied.with_suffix(".json")
    card.write_text(json.dumps({"name": "x"}))
    with pytest.raises(InputError, match="encoder's card"):
        read_encoder(copied)


def test_the_card_says_where_the_encoder_comes_from() -> None:
    card = shipped_encoder().card
    assert card.licence == "Apache-2.0"
    assert "ImageNet" in card.learned_from
    assert len(card.likeness_names) == len(shipped_encoder().likenesses)
