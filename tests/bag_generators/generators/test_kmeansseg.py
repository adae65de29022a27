"""KMeansSeg against its literal reference and scikit-learn, its stopping rule, and pictures that have no segments."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from bag_generators import TissueImage, generate, load
from bag_generators.generators.kmeans import grow
from bag_generators.generators.kmeansseg import block_features, choose_k, to_ycbcr
from bag_generators.regions import LabelRegions
from tests.bag_generators.references import kmeansseg as literal
from tests.bag_generators.references.pictures import KINDS, flat, picture


def best_of_ten_random_starts(points: np.ndarray, k: int) -> float:
    with threadpool_limits(1):  # on so few points threads only wait for each other
        return float(KMeans(k, n_init=10, random_state=0).fit(points).inertia_)


def blocks_of(colours: np.ndarray) -> TissueImage:
    """A 224×224 picture of 56×56 blocks of 4×4 px, each of one colour; `colours` is (56, 56, 3)."""
    return TissueImage.from_array(colours.astype(np.uint8).repeat(4, axis=0).repeat(4, axis=1))


def test_colours_are_converted_exactly_for_every_colour_there_is() -> None:
    green, blue = np.meshgrid(np.arange(256), np.arange(256), indexing="ij")
    coefficients, offsets = np.array(literal.COEFFICIENTS), np.array(literal.OFFSETS)
    for red in range(256):
        rgb = np.stack([np.full_like(green, red), green, blue], axis=-1)
        exact = (2 * (rgb @ coefficients.T) + 255000) // 510000 + offsets
        assert (to_ycbcr(rgb.astype(np.uint8)) == exact).all()


@pytest.mark.parametrize("kind", KINDS)
def test_bag_agrees_with_the_literal_reference(kind: str) -> None:
    image = picture(kind)
    bag = generate("kmeansseg", image)
    centres, labels = literal.kmeansseg(image.pixels)
    assert bag.features == pytest.approx(centres, abs=1e-4)
    assert isinstance(bag.regions, LabelRegions)
    assert (bag.regions.cells == labels).all()


def test_a_picture_of_two_tight_colours_has_two_segments() -> None:
    colours = np.full((56, 56, 3), (230, 120, 170))
    colours[:20] = (80, 50, 140)
    bag = generate("kmeansseg", blocks_of(colours))
    assert len(bag) == 2
    assert bag.regions.at(10, 200) == 0
    assert bag.regions.at(10, 10) == 1
    assert bag.features[:, 3:] == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize("seed", range(6))
def test_inertia_is_that_of_the_best_of_ten_random_starts(seed: int) -> None:
    points = block_features(picture("tissue", seed).pixels)
    ours = choose_k(points)
    assert ours.inertia <= 1.02 * best_of_ten_random_starts(points, len(ours.centres))


def test_real_tiles_have_the_papers_number_of_segments(shared_data: Path) -> None:
    tiles = sorted(shared_data.glob("lesion5/train/*/*"))[::25]
    counts = [len(generate("kmeansseg", load(tile))) for tile in tiles]
    assert set(counts) <= {3, 4, 5, 6}
    assert np.mean(counts) == pytest.approx(4.31, abs=0.25)


def test_one_colour_is_one_segment() -> None:
    bag = generate("kmeansseg", flat((200, 100, 150)))
    assert bag.features.shape == (1, 6)
    assert bag.regions.mask(0).all()


@settings(max_examples=30, deadline=None)
@given(n_colours=st.integers(1, 20), seed=st.integers(0, 10_000))
def test_fewer_distinct_blocks_than_clusters_never_fail(n_colours: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    palette = rng.integers(0, 256, (n_colours, 3))
    bag = generate("kmeansseg", blocks_of(palette[rng.integers(0, n_colours, (56, 56))]))
    assert 1 <= len(bag) <= min(16, n_colours)
    assert np.isfinite(bag.features).all()
    assert all(bag.regions.mask(i).any() for i in range(len(bag)))


def test_points_midway_between_centres_go_to_one_cluster_only() -> None:
    points = np.array([[0.0, 0], [0, 0], [1, 0], [2, 0], [2, 0]])
    for clusters in grow(points, 3):
        assert np.bincount(clusters.labels).sum() == 5
        for j, centre in enumerate(clusters.centres):
            assert centre == pytest.approx(points[clusters.labels == j].mean(axis=0))
    assert clusters.inertia == 0


def test_growing_ends_when_every_point_has_its_cluster() -> None:
    points = np.array([[0.0, 0], [5, 0], [0, 9]])
    assert [len(clusters.centres) for clusters in grow(points, 16)] == [1, 2, 3]
