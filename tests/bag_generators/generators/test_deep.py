"""Deep: cells of the whole picture against a literal reading, in windows as in one piece, and words for them."""

import numpy as np
import pytest
import torch

from bag_generators import InputError, TissueImage, generate
from bag_generators.base.assets import assets
from bag_generators.base.storage import read_tensors
from bag_generators.generators import deep as generator
from bag_generators.generators import encoder
from bag_generators.generators.encoder import CORE, ENCODER, MARGIN, STAGES, VIEWS, WIDTH, shipped_encoder
from bag_generators.tissue.phantom import draw
from tests.bag_generators.references import lite0 as literal


def picture(height: int = 224, width: int = 224, seed: int = 0) -> TissueImage:
    tile = draw("TUM", seed).pixels
    repeated = np.tile(tile, (-(-height // 224), -(-width // 224), 1))
    return TissueImage.from_array(repeated[:height, :width])


@pytest.fixture(scope="module")
def layers() -> dict[str, np.ndarray]:
    return read_tensors(assets("encoder", f"{ENCODER}.safetensors"), encoder.KEY, ENCODER)[0]


def test_the_network_is_its_equations(layers: dict[str, np.ndarray]) -> None:
    pixels = draw("NORM", 3).pixels[:70, :45]
    expected = literal.maps(layers, pixels)
    with torch.inference_mode():
        found = shipped_encoder().network.maps(torch.from_numpy(pixels.copy()).permute(2, 0, 1)[None].float())
    for stage, map_ in expected.items():
        np.testing.assert_allclose(found[stage][0], map_, atol=2e-3)


@pytest.mark.parametrize(("height", "width"), [(64, 300), (150, 150), (101, 169)])
def test_cells_are_what_the_maps_hold_at_their_places(height: int, width: int, layers: dict[str, np.ndarray]) -> None:
    image = picture(height, width)
    rows, columns = generator.grid_of(height, width)
    found = generate("deep", image).features
    assert found.shape == (rows * columns, len(VIEWS) * WIDTH)
    expected = literal.cells(layers, image.pixels, rows, columns)
    np.testing.assert_allclose(found / shipped_encoder().spread, expected / shipped_encoder().spread, atol=5e-3)


@pytest.mark.parametrize(
    ("height", "width", "cells"), [(224, 224, 256), (64, 64, 25), (64, 300, 105), (150, 150, 121), (1000, 700, 3550)]
)
def test_regions_cover_the_picture_once(height: int, width: int, cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder.Encoder, "cells", lambda _self, _pixels, grid: np.zeros((grid[0] * grid[1], 256)))
    regions = generate("deep", picture(height, width)).regions
    assert len(regions) == cells
    if (height, width) == (224, 224):  # its blocks are four by four cells
        inside = {tuple(regions.boxes[regions.blocks == b][[0, -1]][[0, 1], [0, 2]]) for b in range(4)}
        assert inside == {(0, 56), (56, 112), (112, 168), (168, 224)}
    covered = np.zeros((height, width), int)
    for x0, y0, x1, y1 in regions.boxes:
        covered[y0:y1, x0:x1] += 1
        assert 10 <= x1 - x0 <= 16
        assert 10 <= y1 - y0 <= 16
    assert (covered == 1).all()
    assert np.array_equal(regions.paint(np.arange(cells))[5, [5, width - 5]], [0, generator.grid_of(64, width)[1] - 1])


@pytest.mark.parametrize("cell", [14, 28, 112])
def test_blocks_are_about_56_px_and_whole(cell: int) -> None:
    for height, width in ((224, 224), (1000, 700), (64, 300), (56, 56), (3584, 3584), (20_000, 20_000)):
        grid = generator.grid_of(height, width, cell)
        blocks = generator.blocks_of(grid, height, width).reshape(grid)
        numbers, first, sizes = np.unique(blocks, return_index=True, return_counts=True)
        assert numbers.tolist() == list(range(len(numbers)))
        assert len(numbers) <= 4096
        wide, high = (np.bincount(side).max() for side in (blocks[0], blocks[:, 0] // (blocks[0, -1] + 1)))
        assert wide * high >= sizes.max()
        if max(height, width) < 3000:
            assert 42 <= wide * width / grid[1] <= 84 or cell == 112
            assert 42 <= high * height / grid[0] <= 84 or cell == 112
        for number in numbers[:: 1 + len(numbers) // 20]:
            y, x = np.nonzero(blocks == number)
            assert sizes[number] == (np.ptp(y) + 1) * (np.ptp(x) + 1)
            assert first[number] == y[0] * grid[1] + x[0]


def test_the_same_picture_gets_the_same_numbers() -> None:
    image = picture(150, 300)
    first = generate("deep", image).features
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1 if threads > 1 else 2)
        again = generate("deep", TissueImage.from_array(image.pixels.copy())).features
    finally:
        torch.set_num_threads(threads)
    np.testing.assert_array_equal(first, again)


def test_windows_change_a_cell_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """In standard deviations of a number over cells: nothing far from the seam, a little beside it."""
    image = picture(112, 728)
    in_windows = generate("deep", image).features
    monkeypatch.setattr(encoder, "CORE", 32 * 1000)
    in_one = generate("deep", image).features
    change = (np.abs(in_windows - in_one) / shipped_encoder().spread).reshape(8, 52, -1)
    assert change.mean() < 0.06
    assert change.mean(axis=(0, 2)).max() < 0.3  # the columns beside the seam, in the middle
    np.testing.assert_allclose(change[:, [0, -1]], 0, atol=0.05)
    assert change[:, 25:27].max() > 0.01  # it was read in windows


class Blank:
    """A network that finds the same everywhere and remembers how much it was shown at once."""

    def __init__(self) -> None:
        self.shown: list[tuple[int, int]] = []

    def maps(self, pixels: torch.Tensor) -> dict[int, torch.Tensor]:
        height, width = pixels.shape[2:]
        self.shown.append((height, width))
        channels = {4: 80, 5: 112, 6: 192, 8: 1280}
        return {
            stage: torch.ones(1, channels[stage], -(-height // step), -(-width // step))
            for stage, step in STAGES.items()
        }


def test_a_large_picture_has_larger_cells_and_is_seen_in_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    blank = Blank()
    monkeypatch.setattr(shipped_encoder(), "network", blank)
    bag = generate("deep", TissueImage.from_array(np.zeros((3000, 5000, 3), np.uint8)))
    assert 0.98 * generator.MOST_CELLS < len(bag) <= generator.MOST_CELLS
    assert max(max(shown) for shown in blank.shown) <= CORE + 2 * MARGIN
    for shape in ((20000, 20000), (60, 2_000_000), (7000, 9000)):
        rows, columns = generator.grid_of(*shape)
        assert 0.9 * generator.MOST_CELLS < rows * columns <= generator.MOST_CELLS


def test_the_places_of_a_map_count_as_one_in_every_cell_whatever_the_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the size at the scale of a view was rounded, and across windows."""
    monkeypatch.setattr(shipped_encoder(), "network", Blank())
    expected = generate("deep", picture(224, 224)).features[0]
    for side in (*range(64, 260), 559, 560, 561, 700, 1121, 1681, 3000):
        found = shipped_encoder().cells(np.zeros((64, side, 3), np.uint8), generator.grid_of(64, side))
        np.testing.assert_allclose(found, np.tile(expected, (len(found), 1)), atol=1e-3, err_msg=f"{side} px")


def test_larger_cells_are_means_of_what_they_cover(monkeypatch: pytest.MonkeyPatch) -> None:
    image = picture(448, 336)
    small = generate("deep", image).features.reshape(16, 2, 12, 2, -1).mean((1, 3))
    monkeypatch.setattr(generator, "MOST_CELLS", 192)
    large = generate("deep", image)
    assert large.regions.boxes[0].tolist() == [0, 0, 28, 28]
    np.testing.assert_allclose(large.features.reshape(small.shape), small, atol=1e-3)


def test_a_cell_sees_its_surroundings() -> None:
    image = picture(448, 448)
    changed = image.pixels.copy()
    changed[:, 224:] = 255
    before, after = (
        generate("deep", TissueImage.from_array(pixels)).features.reshape(32, 32, -1) / shipped_encoder().spread
        for pixels in (image.pixels, changed)
    )
    beside, far = np.abs(after - before)[:, 15].mean(), np.abs(after - before)[:, 0].mean()
    assert beside > 0.2
    assert far < beside / 1.5  # the wide view reaches across the picture, thinly


def test_a_known_scale_is_brought_to_half_a_micrometre() -> None:
    at_double = picture(448, 448).at_scale(0.25, "test")
    bag = generate("deep", at_double)
    assert len(bag) == 256
    assert tuple(bag.regions.boxes[0]) == (0, 0, 28, 28)  # in the picture's own pixels
    assert len(generate("deep", picture(448, 448))) == 1024
    assert len(generate("deep", picture(448, 448).at_scale(0.505, "test"))) == 1024


def test_too_little_picture_is_refused_with_a_sentence() -> None:
    with pytest.raises(InputError, match="Deep needs 56×56 px"):
        generate("deep", picture(100, 300).at_scale(0.25, "test"))
    with pytest.raises(InputError, match="at least 64×64 px"):
        generate("deep", picture(63, 300))
    with pytest.raises(InputError, match="would measure"):
        generate("deep", picture(2240, 2240).at_scale(5.0, "test"))


@pytest.mark.parametrize(("height", "width", "instance"), [(224, 224, 5), (100, 500, 251), (64, 300, 104)])
def test_every_instance_has_words_and_steps(height: int, width: int, instance: int) -> None:
    image = picture(height, width)
    bag = generate("deep", image)
    assert "looks most like" in generator.in_words(bag, instance)
    framed, *seen = generator.steps(image.pixels, bag, instance)
    assert framed.drawing.frames == [tuple(bag.regions.boxes[instance])]
    x0, y0, x1, y1 = bag.regions.boxes[instance]
    for step, view in zip(seen, VIEWS, strict=True):
        assert step.drawing.pixels.shape == (min(view, height), min(view, width), 3)
        left, top, right, bottom = step.drawing.frames[0]
        assert np.array_equal(step.drawing.pixels[top:bottom, left:right], image.pixels[y0:y1, x0:x1])
