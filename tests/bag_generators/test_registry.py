"""What holds for every generator: sizes, regions that follow the picture, refusals, and the same bag every time."""

import pickle
import threading
from collections.abc import Iterator

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from bag_generators import GENERATORS, Bag, InputError, TissueImage, generate
from bag_generators.image import working_copy
from bag_generators.tissue.stain import STAINS
from tests.bag_generators.references.pictures import KINDS, flat, picture

NAMES = tuple(GENERATORS)
WIDTHS = {"row": 9, "sbn": 15, "kmeansseg": 6, "sift": 128, "deep": 256}
COUNTS = {"row": 8, "sbn": 9, "sift": 25}


@pytest.fixture
def _opencv_threads() -> Iterator[None]:
    before = cv2.getNumThreads()
    yield
    cv2.setNumThreads(before)


def same(one: Bag, other: Bag) -> bool:
    scores = np.arange(len(one))
    return np.array_equal(one.features, other.features) and np.array_equal(
        one.regions.paint(scores), other.regions.paint(scores), equal_nan=True
    )


def test_the_papers_four_generators_are_there_and_one_of_ours() -> None:
    assert NAMES == ("row", "sbn", "kmeansseg", "sift", "deep")


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=12, deadline=None)
@given(height=st.integers(64, 400), width=st.integers(64, 400), kind=st.sampled_from(KINDS))
def test_any_size_from_64_px_works(name: str, height: int, width: int, kind: str) -> None:
    bag = generate(name, picture(kind, height=height, width=width))
    assert bag.features.shape == (COUNTS.get(name, len(bag)), WIDTHS[name])
    assert bag.features.dtype == np.float32
    assert np.isfinite(bag.features).all()
    assert bag.regions.shape == (height, width)
    assert len(bag.regions) == len(bag)
    assert bag.regions.paint(np.zeros(len(bag))).shape == (height, width)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("_opencv_threads")
def test_any_number_of_threads_gives_the_same_bits(name: str) -> None:
    for kind in (*KINDS, "many segments"):
        image = picture_of_many_segments() if kind == "many segments" else picture(kind, height=300, width=260)
        bags = []
        for threads in (1, 2, 4):
            cv2.setNumThreads(threads)
            with threadpool_limits(threads):
                bags.append(generate(name, image))
        assert all(same(bags[0], bag) for bag in bags[1:]), kind


def picture_of_many_segments() -> TissueImage:
    """Blocks of saturated colours, on which k-means goes on to 16 clusters."""
    rng = np.random.default_rng(0)
    blocks = rng.choice([0, 128, 255], (56, 56, 3)).astype(np.uint8)
    return TissueImage.from_array(blocks.repeat(4, axis=0).repeat(4, axis=1))


@pytest.mark.parametrize("name", NAMES)
def test_many_callers_at_once_get_the_same_bag(name: str) -> None:
    image = picture("tissue")
    bags: list[Bag] = []
    callers = [threading.Thread(target=lambda: bags.append(generate(name, image))) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert len(bags) == 4
    assert all(same(bags[0], bag) for bag in bags)


@pytest.mark.parametrize("name", NAMES)
def test_a_bag_says_how_to_make_it_again_can_not_be_changed_and_travels_between_processes(name: str) -> None:
    image = picture("tissue", height=200, width=250)
    bag = generate(name, image, stain="macenko")
    assert same(bag, generate(bag.generator, image, **bag.params))
    assert bag.params == {"stain": "macenko", **({"cell": 14} if name == "deep" else {})}
    assert bag.image_sha256 == image.sha256
    assert bag.feature_names == GENERATORS[name].feature_names
    assert len(set(bag.feature_names)) == WIDTHS[name] == bag.features.shape[1]
    copy = pickle.loads(pickle.dumps(bag))  # noqa: S301 - our own object, as a worker process sends it
    assert same(bag, copy)
    for each in (bag, copy):
        assert each.generator == name
        with pytest.raises(ValueError, match="read-only"):
            each.features[0, 0] = 1
        with pytest.raises(TypeError, match="item assignment"):
            each.params["stain"] = "none"


def test_a_bag_whose_parts_do_not_fit_is_refused() -> None:
    bag = generate("row", picture("tissue"))
    with pytest.raises(ValueError, match="7×9 float32 does not fit 8 regions"):
        Bag(bag.features[:7].copy(), bag.regions, "row", {}, bag.feature_names, "")


@pytest.mark.parametrize(
    ("name", "params", "width", "said"),
    [
        ("surf", {}, 64, r"'surf'\. Choose one of 'row', 'sbn', 'kmeansseg', 'sift'"),
        ("sift", {"patch": 64}, 64, r"'sift' has no parameter 'patch'\. It takes 'stain'"),
        ("row", {"stain": "vahadane"}, 64, r"'vahadane'\. Choose one of 'none', 'reinhard', 'macenko'"),
        ("sbn", {}, 513, "513×64 px, more than 8 times as long"),
    ],
)
def test_what_can_not_be_made_is_refused_with_what_can(name: str, params: dict, width: int, said: str) -> None:
    with pytest.raises(InputError, match=said):
        generate(name, picture("noise", height=64, width=width), **params)


@pytest.mark.parametrize("stain", STAINS)
@pytest.mark.parametrize("name", NAMES)
def test_every_stain_works_with_every_generator(name: str, stain: str) -> None:
    for image in (picture("tissue"), flat((255, 255, 255)), flat((0, 0, 0))):
        assert np.isfinite(generate(name, image, stain=stain).features).all()


def test_a_224_px_picture_is_its_own_working_copy() -> None:
    pixels = picture("tissue").pixels
    assert working_copy(pixels) is pixels


def test_the_working_copy_is_an_area_average() -> None:
    pixels = picture("noise", height=448, width=672).pixels
    means = pixels.reshape(224, 2, 224, 3, 3).mean(axis=(1, 3))
    assert np.abs(working_copy(pixels) - means).max() <= 0.5 + 1e-6


def test_a_long_side_is_averaged_even_when_the_short_one_grows() -> None:
    stripes = np.zeros((112, 672, 3), np.uint8)
    stripes[:, ::3] = 240  # one column in three
    assert (working_copy(stripes) == 80).all()
