"""The six checks: limits from training tiles, verdicts with reasons, and pictures that must not pass."""

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import skimage.data

from bag_generators import Bag, InputError, TissueImage, generate, load
from bag_generators.tissue.phantom import PHANTOM_KINDS, draw
from bag_generators.tissue.quality import measure
from elimipl.answers.answer import Verdict, judge
from elimipl.answers.predictor import Predictor
from elimipl.candidates.crowd import Candidates
from elimipl.candidates.labels import LabelSpace
from elimipl.cards.card import Card
from elimipl.cards.files import write_model
from elimipl.cards.finish import Finished, finish
from elimipl.cards.limits import Limits, derive_limits, relative_entropy
from elimipl.config import Config
from elimipl.datasets.dataset import BagDataset
from elimipl.training.loop import fit

LIMITS = {
    "shorter_side": [112, 448],
    "aspect": [None, 1.5],
    "tissue": [0.5, None],
    "sharpness": [2.0, 12.0],
    "unevenness": [None, 2.8],
    "stain_colour": [0.9, None],
    "third_colour": [0.002, None],
    "distance": [None, 3.0],
    "entropy": [None, 0.9],
}
GOOD = {
    "shorter_side": 224.0, "aspect": 1.0, "tissue": 0.93, "sharpness": 4.5, "unevenness": 1.7,
    "stain_colour": 0.99, "third_colour": 0.01,
}  # fmt: skip
NAMES = ["size", "tissue", "blur", "colour", "distance", "entropy"]


def with_checks(predictor: Predictor, checks: Limits, **changes: object) -> Predictor:
    return Predictor(predictor.network, predictor.scaler, replace(predictor.card, checks=checks, **changes))


@pytest.fixture
def guarded(toy_predictor: Predictor, toy_bag: Bag) -> Predictor:
    """The toy model with round limits and the toy bag in the middle of its training bags."""
    features = toy_bag.features.astype(float)
    centre = (*features.mean(axis=0), *features.std(axis=0))
    return with_checks(toy_predictor, Limits(LIMITS, centre, (2.0,) * len(centre)))


def certain(probabilities: tuple[float, ...] = (1.0, 0.0, 0.0)) -> SimpleNamespace:
    return SimpleNamespace(probabilities=np.array(probabilities), label="a")


def moved(bag: Bag, by: float) -> Bag:
    return Bag(bag.features + np.float32(by), bag.regions, bag.generator, bag.params, bag.feature_names, "moved")


def test_a_good_picture_passes_six_checks_in_their_order(guarded, toy_bag):
    verdict = judge(GOOD, guarded, toy_bag, certain())
    checks = verdict.checks
    assert [one.name for one in checks] == NAMES
    assert verdict.in_scope is True
    assert checks[1].reason == "93 % of the picture is not bare glass, expected at least 50 %."


def test_bare_glass_need_be_neither_tissue_nor_sharp_nor_stained(guarded, toy_bag):
    bare = {**GOOD, "tissue": 0.0, "sharpness": 0.1, "stain_colour": 0.0}
    glass = SimpleNamespace(probabilities=np.array((1.0, 0.0, 0.0)), label="glass")
    assert [one.name for one in judge(bare, guarded, toy_bag, certain()).failed] == ["tissue", "blur", "colour"]
    assert judge(bare, guarded, toy_bag, glass).in_scope is True
    dark = {**GOOD, "sharpness": 0.1, "stain_colour": 0.0}  # a black picture is no glass
    assert [one.name for one in judge(dark, guarded, toy_bag, glass).failed] == ["blur", "colour"]


@pytest.mark.parametrize(
    ("name", "measure_name", "value", "limit", "reason"),
    [
        ("size", "shorter_side", 96, 112, "96 px, expected at least 112 px: enlarged"),
        ("size", "shorter_side", 768, 448, "768 px, expected at most 448 px: shrunk"),
        ("size", "aspect", 2.5, 1.5, "2.5 times the shorter one, expected at most 1.5: squeezed"),
        ("tissue", "tissue", 0.14, 0.5, "14 % of the picture is not bare glass, .* at least 50 %: there is too little"),
        ("tissue", "tissue", 0.4999, 0.5, "49.99 % of the picture is not bare glass, expected at least 50.00 %"),
        ("blur", "sharpness", 0.61, 2.0, "by 0.61 grey levels, expected at least 2.0: the picture is out of focus"),
        ("blur", "sharpness", 44.2, 12.0, "by 44 grey levels, expected at most 12: the picture is grainier"),
        ("blur", "unevenness", 4.13, 2.8, "are 4.1 times the typical detail, expected at most 2.8: flat areas"),
        ("colour", "stain_colour", 0.0, 0.9, "0 % of what .* is pink to violet, .* at least 90 %: it has another"),
        ("colour", "third_colour", 0.00081, 0.002, "by 0.00081 in optical density, expected at least 0.0020: colours"),
    ],
)
def test_one_bad_measure_fails_its_check_alone_and_says_why(guarded, toy_bag, name, measure_name, value, limit, reason):
    verdict = judge({**GOOD, measure_name: value}, guarded, toy_bag, certain())
    failed = verdict.failed
    assert [one.name for one in failed] == [name]
    assert (failed[0].value, failed[0].limit) == (value, limit)
    assert re.search(reason, failed[0].reason)
    assert failed[0].reason.endswith(".")
    assert verdict.in_scope is False


def test_a_value_on_its_limit_passes_and_one_that_is_no_number_never_does(guarded, toy_bag):
    for name in GOOD:
        for limit in filter(None, LIMITS[name]):
            assert judge({**GOOD, name: limit}, guarded, toy_bag, certain()).in_scope
        assert judge({**GOOD, name: float("nan")}, guarded, toy_bag, certain()).in_scope is False


def test_distance_is_the_root_mean_square_of_standard_scores(guarded, toy_bag):
    distance, near = (judge(GOOD, guarded, moved(toy_bag, by), certain()).checks[4] for by in (12, 8))
    # The means of all features move by 12, six standard deviations; their spreads stay.
    assert distance.value == pytest.approx(np.sqrt((6**2 + 0) / 2), rel=1e-4)
    assert (distance.name, distance.passed, near.passed) == ("distance", False, True)
    assert "4.2 times as unusual" in distance.reason


def test_a_prediction_close_to_a_guess_is_marked(guarded, toy_bag):
    unsure, sure = (
        judge(GOOD, guarded, toy_bag, certain(said)).checks[-1] for said in ((0.36, 0.33, 0.31), (0.8, 0.1, 0.1))
    )
    assert not unsure.passed
    assert "undecided" in unsure.reason
    assert sure.passed
    for k in (2, 5, 7):
        assert relative_entropy(np.eye(k)[0]) == 0
        assert relative_entropy(np.full(k, 1 / k)) == pytest.approx(1)


def test_a_card_without_limits_checks_nothing_and_one_of_drawings_says_so(guarded, toy_bag):
    verdict = judge(GOOD, with_checks(guarded, Limits()), toy_bag, certain())
    assert verdict == Verdict((), tuple(NAMES))
    assert verdict.in_scope is None
    drawn = with_checks(guarded, guarded.card.checks, pictures="drawn phantoms")
    said = judge({**GOOD, "third_colour": 0.00081}, drawn, toy_bag, certain()).failed[0].reason
    assert said.endswith("This model has learned from drawn phantoms only.")


@pytest.mark.parametrize(
    "damage",
    [
        {"limits": 3},
        {"limits": {"tissue": 0.5}},
        {"limits": {"tissue": [0.5]}},
        {"limits": {"tissue": ["much", None]}},
        {"limits": {"colour of the frame": [0, 1]}},
        {"limits": {"distance": [None, 3.0]}},
        {"limits": {"distance": [None, 3.0]}, "bag_centre": [0.0], "bag_spread": [1.0]},
        {"limits": {"distance": [None, 3.0]}, "bag_centre": [0.0] * 18, "bag_spread": [0.0] * 18},
    ],
)
def test_damaged_limits_are_refused_with_the_card(toy_card, damage):
    with pytest.raises(InputError, match=r"“x\.json”.*check|check.*“x\.json”"):
        Card.from_dict({**toy_card.to_dict(), "checks": damage}, "The model card “x.json”")


def limits_of(dataset: BagDataset, predictor: Predictor, qualities: list[dict[str, float]]) -> Limits:
    answers = [one.probabilities for one in predictor.predict_dataset(dataset)]
    return derive_limits(qualities, [dataset.bag(i) for i in range(len(dataset))], answers)


def test_derived_limits_live_in_the_card_and_pass_the_training_bags(
    toy_dataset, toy_finished: Finished, draw_toy_picture, tmp_path
):
    names = toy_dataset.label_space.names
    pictures = [draw_toy_picture(names[label], seed) for seed, label in enumerate(toy_dataset.labels)]
    qualities = [measure(picture).numbers() for picture in pictures]
    limits = limits_of(toy_dataset, toy_finished.predictor, qualities)
    card = replace(toy_finished.card, checks=limits)
    path = write_model(card, toy_finished.weights, tmp_path)
    assert Card.read(path).checks == limits
    assert len(json.dumps(card.to_dict()["checks"])) < 20_000

    predictor = Predictor.load(card.id, tmp_path)
    bags = [generate("row", picture) for picture in pictures]
    verdicts = [judge(q, predictor, bag, predictor.predict(bag)) for q, bag in zip(qualities, bags, strict=True)]
    assert all(len(verdict.checks) == 6 for verdict in verdicts)
    # The far ends of some pixel measures may fail; nearly all bags are near, and all answers sure enough.
    assert all(verdict.checks[5].passed for verdict in verdicts)
    assert np.mean([verdict.checks[4].passed for verdict in verdicts]) > 0.95
    assert np.mean([verdict.in_scope is True for verdict in verdicts]) >= 0.75


def test_pure_colours_are_no_fault_unless_the_detail_is_that_of_a_drawing(toy_dataset, toy_predictor, toy_bag):
    """Stain normalisation makes colours pure; drawings have flat areas besides."""
    qualities = [{**GOOD, "unevenness": 2.0 if i > 22 else 1.5, "third_colour": 0.004} for i in range(24)]
    guarded = with_checks(toy_predictor, limits_of(toy_dataset, toy_predictor, qualities))

    def failed(**changes: float) -> list[str]:
        return [one.reason for one in judge({**GOOD, **changes}, guarded, toy_bag, certain()).failed]

    assert failed(third_colour=0.0001, unevenness=1.6) == []
    assert failed(third_colour=0.004, unevenness=1.8) == []
    (reason,) = failed(third_colour=0.0001, unevenness=1.8)
    assert "pure colours in flat areas are usual in drawings" in reason


def test_where_scales_are_kept_a_field_may_have_any_size_and_shape_from_half_a_tile(
    toy_dataset, toy_predictor, toy_bag
):
    qualities = [{**GOOD, "unevenness": 1.5 + i / 50, "field": 112.0} for i in range(24)]
    limits = limits_of(toy_dataset, toy_predictor, qualities)
    assert limits.limits["field"] == (56, None)
    assert not {"shorter_side", "aspect"} & set(limits.limits)
    guarded = with_checks(toy_predictor, limits)
    large = {**GOOD, "shorter_side": 4000.0, "aspect": 6.0, "field": 2000.0}
    assert judge(large, guarded, toy_bag, certain()).in_scope is True
    (small,) = judge({**GOOD, "field": 40.0}, guarded, toy_bag, certain()).failed
    assert small.reason == (
        "The shorter side of the picture shows 40 µm, expected at least 56 µm: "
        "a field this small holds too little tissue to judge by."
    )
    assert judge(GOOD, guarded, toy_bag, certain()).not_checked == ("size",)


def test_without_pixel_measures_only_bag_and_answer_are_checked(toy_dataset, toy_predictor, toy_bag):
    guarded = with_checks(toy_predictor, limits_of(toy_dataset, toy_predictor, []))
    verdict = judge({}, guarded, toy_bag, guarded.predict(toy_bag))
    assert [one.name for one in verdict.checks] == ["distance", "entropy"]
    assert verdict.not_checked == ("size", "tissue", "blur", "colour")
    assert verdict.in_scope is None
    far = moved(toy_bag, 4000)
    assert judge({}, guarded, far, guarded.predict(far)).in_scope is False


PHOTOGRAPHS = ("astronaut", "chelsea", "coffee", "retina", "rocket", "immunohistochemistry", "hubble_deep_field")
GREY = ("camera", "text", "page", "brick", "grass", "gravel", "cell", "coins", "moon")


def guarded_by(paths: list[Path]) -> Predictor:
    """A Row model of these tiles, trained just enough to answer, with the limits of these tiles."""
    pictures = [load(path) for path in paths]
    bags = [generate("row", picture) for picture in pictures]
    classes = sorted({path.parent.name for path in paths})
    dataset = BagDataset.from_bags(
        [bag.features for bag in bags],
        LabelSpace.of(classes, id="tiles"),
        [classes.index(path.parent.name) for path in paths],
        generator="row",
        params=dict(bags[0].params),
    )
    fitted = fit(dataset, Config.preset("default", hidden=16, epochs=10, batch=16), device="cpu")
    qualities = [measure(picture).numbers() for picture in pictures]
    return finish(fitted, dataset, Candidates(), created_by="test", qualities=qualities).predictor


def accepts(predictor: Predictor, picture: TissueImage) -> bool:
    bag = generate("row", picture)
    return judge(measure(picture).numbers(), predictor, bag, predictor.predict(bag)).in_scope is True


@pytest.fixture(scope="module", params=["tissue7", "lesion5"])
def halves(request, shared_data) -> tuple[Predictor, list[Path]]:
    """A model with limits, and real tiles it has not seen: of lesion5 from other slides."""
    train = sorted((shared_data / request.param / "train").rglob("*.*g"))
    if request.param == "tissue7":
        return guarded_by(train[::2]), train[1::2]
    return guarded_by(train[::40]), sorted((shared_data / "lesion5" / "val").rglob("*.jpg"))[::10]


def test_real_tiles_pass(halves):
    predictor, unseen = halves
    assert np.mean([accepts(predictor, load(path)) for path in unseen]) >= 0.9


def test_fat_empty_slide_and_phantoms_do_not(halves, shared_data):
    outside = sorted((shared_data / "tissue7" / "outside").rglob("*.*g"))
    assert len(outside) == 30
    assert [path.name for path in outside if accepts(halves[0], load(path))] == []
    drawn = [TissueImage.from_array(draw(kind, seed).pixels) for kind in PHANTOM_KINDS for seed in range(5)]
    assert not any(accepts(halves[0], picture) for picture in drawn)


@pytest.mark.parametrize("name", PHOTOGRAPHS + GREY)
def test_photographs_do_not_even_at_the_size_of_a_tile(halves, name):
    pixels = getattr(skimage.data, name)()
    picture = TissueImage.from_array(np.repeat(pixels[..., None], 3, axis=2) if pixels.ndim == 2 else pixels)
    assert not accepts(halves[0], picture)
    assert not accepts(halves[0], picture.tile(0, 0, min(224, picture.width, picture.height)))
