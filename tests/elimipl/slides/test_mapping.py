"""From a slide to its map: the truth comes out, whatever happens on the way."""

from copy import copy
from dataclasses import replace
from itertools import pairwise
from operator import attrgetter

import numpy as np
import pytest

from bag_generators import InputError, TissueImage, generate
from elimipl.slides import MapStoppedError, SlideMap, fields, map_slide
from elimipl.slides.exports import map_summary
from elimipl.slides.fields import FieldLayout, TileReading, read_fields, read_tile
from tests.elimipl.slides.kinds import KINDS, LAYOUT
from tests.support.phantom_slide import CELL


def truth() -> np.ndarray:
    return np.array([[KINDS.index(cell) if cell else -1 for cell in row] for row in LAYOUT])


def same(one: SlideMap, other: SlideMap) -> bool:
    parts = attrgetter("grid.state", "probabilities", "votes", "attention")
    return all(map(np.array_equal, parts(one), parts(other)))


def test_every_tile_has_its_class_and_areas_are_those_of_the_truth(kinds_map):
    assert np.array_equal(kinds_map.classes, truth())
    assert kinds_map.left_out == {"background": int((truth() < 0).sum()), "pen": 0, "fold": 0, "blur": 0}
    widths, heights = [CELL] * 7 + [100], [CELL] * 5 + [60]
    pixels = np.outer(heights, widths)
    for index, name in enumerate(KINDS):
        expected = pixels[truth() == index].sum() * 0.0005**2
        assert kinds_map.mm2()[name] == pytest.approx(expected, rel=0.03)
    assert sum(kinds_map.shares().values()) == pytest.approx(1)


def test_answers_are_probabilities_attention_and_votes(kinds_map, kinds_slide, kinds_predictor):
    tissue = kinds_map.grid.is_tissue
    assert kinds_map.probabilities[tissue].sum(axis=1) == pytest.approx(1, abs=1e-5)
    assert kinds_map.votes[tissue].sum(axis=1) == pytest.approx(1, abs=1e-5)
    assert (kinds_map.probabilities[~tissue] == 0).all()
    bag = generate("row", TissueImage.from_array(kinds_slide.region(CELL, CELL, CELL, 0.5)))
    alone = kinds_predictor.predict(bag)
    assert kinds_map.probabilities[1, 1] == pytest.approx(alone.probabilities, abs=1e-6)
    # Row has 8 bands, so that two lie in each quarter of the tile's height.
    expected = (8 * alone.attention).reshape(4, 2).mean(axis=1)
    assert kinds_map.attention[4:8, 4:8] == pytest.approx(np.repeat(expected[:, None], 4, axis=1), rel=1e-5)


def test_a_point_of_the_slide_leads_to_its_tile(kinds_map):
    found = kinds_map.at(2 * CELL + 3.5, 2 * CELL)
    assert (found.row, found.column, found.label, found.left_out) == (2, 2, "MUS", None)
    assert found.box == (448, 448, 672, 672)
    assert kinds_map.at(0, 0).left_out == "background"
    assert kinds_map.at(kinds_map.about.width, 0) is None
    assert kinds_map.at(-1, 5) is None
    assert kinds_map.at(kinds_map.about.width - 1, kinds_map.about.height - 1).label == "LYM"


def test_two_processes_make_the_same_map(kinds_map, kinds_slide, kinds_predictor, tmp_path):
    seen = []
    other = map_slide(
        kinds_slide, kinds_predictor, tmp_path, workers=2, progress=lambda done, total: seen.append((done, total))
    )
    assert same(other, kinds_map)
    assert seen[-1] == (int((truth() >= 0).sum()),) * 2
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_a_stopped_map_goes_on_where_it_was(kinds_map, kinds_slide, kinds_predictor, tmp_path):
    asked = []

    def stop() -> bool:
        asked.append(True)
        return len(asked) == 3

    with pytest.raises(MapStoppedError):
        map_slide(kinds_slide, kinds_predictor, tmp_path, workers=1, stop=stop)
    rows = sorted((tmp_path / "unfinished").glob("row-*"))
    assert rows
    rows[-1].write_bytes(rows[-1].read_bytes()[:-7])  # as after a full disk: it is made again
    first = []
    resumed = map_slide(
        kinds_slide,
        kinds_predictor,
        tmp_path,
        workers=1,
        resume=True,
        progress=lambda done, total: first.append(done),
    )
    assert same(resumed, kinds_map)
    assert len(first) < len(LAYOUT)


def test_rows_of_another_model_are_not_taken(kinds_slide, kinds_predictor, toy_predictor, tmp_path):
    with pytest.raises(MapStoppedError):
        map_slide(kinds_slide, kinds_predictor, tmp_path, workers=1, stop=lambda: True)
    with pytest.raises(InputError, match="another slide, model"):
        map_slide(kinds_slide, toy_predictor, tmp_path, workers=1, resume=True)


def test_a_map_is_read_again_as_it_was_saved(kinds_map, tmp_path):
    kinds_map.save(tmp_path)
    again = SlideMap.read(tmp_path)
    assert same(again, kinds_map)
    assert again.about == kinds_map.about
    flat = replace(kinds_map.grid, state=kinds_map.grid.state.ravel())
    object.__setattr__(kinds_copy := copy(kinds_map), "grid", flat)
    kinds_copy.save(tmp_path)
    with pytest.raises(InputError, match="is damaged"):
        SlideMap.read(tmp_path)
    (tmp_path / "map.safetensors").write_bytes(b"nonsense")
    with pytest.raises(InputError, match="is damaged"):
        SlideMap.read(tmp_path)


def test_fields_of_a_model_that_reads_cells_are_nine_tiles(kinds_slide, deep_predictor, tmp_path):
    made = map_slide(kinds_slide, deep_predictor, tmp_path, workers=1)
    assert made.about.field_side == 3
    assert map_summary(made)["grid"]["tiles_per_field"] == 9
    assert np.array_equal(made.classes, truth())
    # The upper left field of tissue: the tiles of row 0 and column 0 are glass, so that four tiles are its bag.
    images = [TissueImage.from_array(kinds_slide.region(c * CELL, r * CELL, CELL, 0.5)) for r in (1, 2) for c in (1, 2)]
    bag = np.concatenate([generate("deep", image).features for image in images])
    attention = deep_predictor.predict_features(bag).attention * len(bag)
    of_blocks = attention[:256].reshape(4, 4, 4, 4).mean(axis=(1, 3))  # tile (1, 1), which is in no other field
    assert made.attention[4:8, 4:8] == pytest.approx(of_blocks, rel=1e-4)


class TestFields:
    """Fields of 3×3 tiles, for generators that work on the picture's own pixels."""

    layout = FieldLayout(3, 2)

    def test_every_tile_lies_in_a_field_and_fields_overlap(self):
        for tiles in range(1, 12):
            spans = [self.layout.tiles(number, tiles) for number in range(self.layout.count(tiles))]
            assert set().union(*spans) == set(range(tiles))
            assert all(one[-1] == other[0] for one, other in pairwise(spans))

    def test_attention_is_that_of_the_whole_field_and_results_are_averaged(self, kinds_predictor, toy_bag):
        rng = np.random.default_rng(0)
        features = rng.normal(toy_bag.features.mean(0), toy_bag.features.std(0), (3, 5, *toy_bag.features.shape))
        features = features.astype(np.float32)
        rows = {
            row: {
                column: read_tile(kinds_predictor, features[row, column], toy_bag.regions, self.layout)
                for column in range(5)
                if (row, column) != (1, 1)
            }
            for row in range(3)
        }
        made = read_fields(kinds_predictor, rows, 5, self.layout)
        assert made.fields.tolist() == [[1, 1, 2, 1, 1], [1, 0, 2, 1, 1], [1, 1, 2, 1, 1]]
        right = [features[row, column] for row in range(3) for column in (2, 3, 4)]
        whole = kinds_predictor.predict_features(np.concatenate(right))
        attention = whole.attention.reshape(9, 8)[8] * 72  # the last tile, beside an average instance
        assert made.attention[2, 4, :, 0] == pytest.approx(attention.reshape(4, 2).mean(axis=1))
        alone = kinds_predictor.predict_features(features[2, 4]).probabilities
        assert made.probabilities[2, 4] == pytest.approx(alone)
        assert made.probabilities[2, 2] / 2 == pytest.approx(
            kinds_predictor.predict_features(features[2, 2]).probabilities
        )

    def test_many_fields_are_put_together_a_few_at_a_time(self, kinds_predictor, toy_bag, monkeypatch):
        rng = np.random.default_rng(1)
        readings = {
            column: read_tile(kinds_predictor, toy_bag.features[rng.permutation(8)], toy_bag.regions, self.layout)
            for column in range(11)
        }
        at_once = read_fields(kinds_predictor, {0: readings}, 11, self.layout)
        monkeypatch.setattr(fields, "_FIELDS_AT_ONCE", 2)
        in_pieces = read_fields(kinds_predictor, {0: readings}, 11, self.layout)
        for name in ("fields", "probabilities", "votes", "attention"):
            np.testing.assert_allclose(getattr(in_pieces, name), getattr(at_once, name), atol=1e-12)

    def test_a_network_that_reads_the_bag_reads_the_field(self, kinds_predictor, toy_bag, monkeypatch):
        monkeypatch.setattr(type(kinds_predictor.network), "is_local", property(lambda self: False))
        reading = read_tile(kinds_predictor, toy_bag.features, toy_bag.regions, self.layout)
        assert isinstance(reading, TileReading)
        assert reading.scores is None
        late = read_fields(kinds_predictor, {0: {0: reading, 1: reading}}, 2, self.layout)
        monkeypatch.undo()
        early = read_tile(kinds_predictor, toy_bag.features, toy_bag.regions, self.layout)
        expected = read_fields(kinds_predictor, {0: {0: early, 1: early}}, 2, self.layout)
        assert late.probabilities == pytest.approx(expected.probabilities)
        assert late.attention == pytest.approx(expected.attention)
