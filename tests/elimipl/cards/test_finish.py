"""The one way to finish a model: what it measures, which limits it derives, and that weights are packed only once."""

import io
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from bag_generators import TissueImage, generate
from bag_generators.tissue.phantom import PHANTOM_KINDS, draw
from bag_generators.tissue.quality import measure
from bag_generators.tissue.samples import list_samples
from elimipl.answers.answer import Verdict, judge
from elimipl.answers.predictor import Predictor
from elimipl.candidates.crowd import Candidates
from elimipl.cards import files, finish
from elimipl.cards.card import Card
from elimipl.cards.finish import Finished, Measured
from elimipl.cards.limits import MEASURES, Limits
from elimipl.config import Config
from elimipl.datasets.benchmark_sets import build_digits
from elimipl.datasets.dataset import BagDataset
from elimipl.datasets.shipped import load_bag_set
from elimipl.datasets.tiles import bags_from_zip
from elimipl.training.loop import fit

QUICK = Config.preset("default", hidden=8, epochs=5, batch=16)
SAMPLES = list_samples()
RANDOM = Candidates("random", r=2, seed=4)


def finished(dataset: BagDataset, **more: object) -> Finished:
    return finish.finish(fit(dataset, QUICK, device="cpu"), dataset, RANDOM, created_by="a test", **more)


@pytest.fixture(scope="module", params=["row", "sbn", "kmeansseg", "sift"])
def drawn(request) -> Finished:
    """A model of drawn phantoms."""
    return finished(load_bag_set(f"phantoms-{request.param}").subset(np.arange(0, 210, 3)))


def verdict(predictor: Predictor, image: TissueImage) -> Verdict:
    bag = generate(predictor.card.generator, image, **predictor.card.generator_params)
    return judge(measure(image).numbers(), predictor, bag, predictor.predict(bag))


def test_measured_on_held_out_bags_with_labels_only_and_nothing_without_them(toy_fitted, toy_dataset):
    card = finish.finish(toy_fitted, toy_dataset, RANDOM, created_by="", held_out=toy_dataset).card
    right = toy_fitted.predict(toy_dataset).probabilities.argmax(axis=1) == toy_dataset.labels
    assert (card.accuracy.value, card.accuracy.n, card.calibration.n) == (right.mean(), 24, 24)
    assert card.accuracy.split == card.calibration.fitted_on == finish.HELD_OUT
    assert (card.candidates.scheme, card.candidates.seed) == ("true label and 2 random others", 4)
    card = finish.finish(toy_fitted, toy_dataset, Candidates(), created_by="").card
    assert (card.accuracy, card.calibration, card.candidates.seed) == (None, None, None)
    assert set(card.checks.limits) == {"distance", "entropy"}
    nobody_knows = replace(toy_dataset, labels=np.full(24, -1))
    assert finish.measure_on(toy_fitted, nobody_knows).accuracy is None
    some = replace(toy_dataset, labels=np.where(np.arange(24) < 20, toy_dataset.labels, -1))
    assert finish.measure_on(toy_fitted, some).accuracy.n == 20


def test_augmented_copies_count_once_and_don_t_move_the_limits(toy_fitted, toy_dataset):
    strange = replace(toy_dataset, instances=toy_dataset.instances + 40)
    copies = BagDataset.concatenate([toy_dataset, strange], keep_groups=True)
    plain, copied = (
        finish.finish(toy_fitted, bags, Candidates(), created_by="", measured=Measured()).card
        for bags in (toy_dataset, copies)
    )
    assert copied.training_data.counts == {"blue": 8, "pink": 8, "white": 8}
    assert copied.training_data.bags == 48
    assert copied.checks == plain.checks


def test_bags_of_no_pictures_get_no_limits():
    card = finished(build_digits()).card
    assert (card.pictures, card.checks) == ("no pictures", Limits())


def test_a_model_of_phantoms_says_so_everywhere_and_knows_other_phantoms(drawn):
    card = drawn.card
    assert card.pictures == "drawn phantoms"
    assert card.id == f"phantoms-{card.generator}-elimipl"
    assert card.label_space.id == "phantoms"
    assert card.label_space.source.startswith("Phantoms drawn by this project")
    assert set(card.checks.limits) == MEASURES - {"field"}
    others = [TissueImage.from_array(draw(kind, 9_000_001).pixels) for kind in PHANTOM_KINDS]
    assert np.mean([not {"size", "tissue", "colour"} & {one.name for one in verdict(drawn.predictor, other).failed}
                    for other in others]) >= 0.8  # fmt: skip


@pytest.mark.parametrize("sample", [one for one in SAMPLES if one.kind == "restained"], ids=lambda one: one.id)
def test_a_model_of_phantoms_never_calls_tissue_in_scope(drawn, sample):
    """Neither re-stained as it ships, nor with the colours of a scan: each fails another check."""
    image = sample.load()
    noise = np.random.default_rng(1).normal(0, 6, (image.height, image.width, 1)) * [1.0, -1.5, 0.5]
    scanned = TissueImage.from_array(np.clip(image.pixels + noise, 0, 255).astype(np.uint8))
    for picture in (image, scanned):
        judged = verdict(drawn.predictor, picture)
        assert judged.in_scope is False
        assert judged.failed[-1].reason.endswith("This model has learned from drawn phantoms only.")


def test_phantoms_under_other_names_are_never_called_in_scope():
    bags = load_bag_set("phantoms-row").subset(np.arange(0, 210, 10))
    renamed = finished(replace(bags, names=tuple(f"picture {i}" for i in range(len(bags)))))
    assert renamed.card.pictures == "drawn phantoms"
    for sample in SAMPLES:
        assert verdict(renamed.predictor, sample.load()).in_scope is not True


def test_drawings_somebody_sent_as_pictures_don_t_vouch_for_tissue():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for kind in ("TUM", "STR", "MUC"):
            for seed in range(4):
                picture = io.BytesIO()
                Image.fromarray(draw(kind, seed).pixels).save(picture, "PNG")
                archive.writestr(f"{kind}/{seed}.png", picture.getvalue())
    sent = bags_from_zip(file.getvalue(), "row")
    model = finished(sent.dataset, qualities=sent.qualities).predictor
    assert set(model.card.checks.limits) == MEASURES - {"field"}
    for sample in SAMPLES:
        if sample.kind == "restained":
            assert verdict(model, sample.load()).in_scope is False


def test_weights_are_packed_and_hashed_once_from_training_to_file(toy_dataset, tmp_path, monkeypatch):
    counted = {"pack_tensors": 0, "sha256_of": 0}

    def counting(name, function):
        def call(*given):
            counted[name] += 1
            return function(*given)

        return call

    for module, name in ((finish, "pack_tensors"), (finish, "sha256_of"), (files, "sha256_of")):
        monkeypatch.setattr(module, name, counting(name, getattr(module, name)))
    made = finished(toy_dataset)
    made.save(tmp_path)
    made.files()
    assert counted == {"pack_tensors": 1, "sha256_of": 1}


def test_a_model_is_loaded_by_one_reading_of_its_card_and_one_sum(toy_folder, toy_card, monkeypatch):
    counted = []
    read, summed = Card.read, files.sha256_of
    monkeypatch.setattr(Card, "read", lambda path: counted.append("card") or read(path))
    monkeypatch.setattr(files, "sha256_of", lambda weights: counted.append("sum") or summed(weights))
    Predictor.load(toy_card.id, toy_folder)
    assert counted == ["card", "sum"]
    Predictor.of_card(toy_card, toy_folder)  # as the pages do, which have read all cards before
    assert counted == ["card", "sum", "sum"]
