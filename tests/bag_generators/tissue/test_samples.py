"""The shipped pictures: complete, what their list says, and what the script makes."""

import hashlib
import importlib.util

import numpy as np
import pytest

from bag_generators import GENERATORS, generate, load
from bag_generators.tissue.phantom import PHANTOM_KINDS, draw
from bag_generators.tissue.samples import SAMPLES_FOLDER, list_samples

SAMPLES = list_samples()
PHANTOMS = [sample for sample in SAMPLES if sample.kind == "phantom"]
RESTAINED = [sample for sample in SAMPLES if sample.kind == "restained"]


def test_the_folder_holds_the_listed_files_and_no_others_and_is_small():
    assert [sample.label for sample in PHANTOMS] == list(PHANTOM_KINDS)
    assert max(sample.load().width for sample in RESTAINED) == 512  # a picture to walk over
    assert len(RESTAINED) >= 5
    listed = {name for sample in SAMPLES for name in (sample.file, sample.truth_file) if name}
    assert {path.name for path in SAMPLES_FOLDER.iterdir()} == listed | {"samples.json"}
    assert len({sample.id for sample in SAMPLES}) == len(SAMPLES)
    assert sum(path.stat().st_size for path in SAMPLES_FOLDER.iterdir()) < 3_000_000


def test_every_sample_is_the_one_of_the_list_and_says_what_it_is():
    assert list(dict.fromkeys(sample.kind for sample in SAMPLES)) == ["real", "restained", "phantom"]
    for sample in SAMPLES:
        image = load(sample.folder / sample.file)
        assert min(image.height, image.width) >= 224
        assert image.sha256 == sample.sha256
        assert image.notes == ()  # nothing had to be converted
        assert image.microns_per_pixel == sample.microns_per_pixel
        assert {"restained": "(re-stained)", "phantom": "(phantom)", "real": ""}[sample.kind] in sample.title
        assert sample.credit
        assert sample.licence
        if sample.truth_file is not None:
            truth = (sample.folder / sample.truth_file).read_bytes()
            assert hashlib.sha256(truth).hexdigest() == sample.truth_sha256


@pytest.mark.parametrize("generator", list(GENERATORS))
def test_every_generator_makes_a_finite_bag_of_every_sample(generator):
    for sample in SAMPLES:
        bag = generate(generator, sample.load())
        assert np.isfinite(bag.features).all()
        assert bag.regions.shape == sample.load().pixels.shape[:2]


def assert_same_but_for_rounding(one: np.ndarray, other: np.ndarray) -> None:
    """Processors may round a sum differently in the last bit, which moves a few pixels by a level or two."""
    difference = np.abs(one.astype(int) - other)
    assert difference.max() <= 2
    assert (difference > 0).mean() < 1e-3


def test_a_shipped_phantom_is_the_one_that_is_drawn_with_its_label_among_its_candidates():
    for sample in PHANTOMS:
        phantom = draw(sample.label, sample.seed)
        assert_same_but_for_rounding(sample.load().pixels, phantom.pixels)
        assert (sample.truth() != phantom.truth).mean() < 1e-3
        assert sample.truth().dtype == bool
        assert sample.label in sample.candidates
        assert set(sample.candidates) < set(PHANTOM_KINDS)


def test_restained_tissue_is_unlabelled_and_looks_like_haematoxylin_and_eosin():
    for sample in RESTAINED:
        assert sample.label is None
        assert sample.truth() is None
        red, green, blue = (sample.load().pixels[..., channel].astype(int) for channel in range(3))
        tissue = green < 200
        brown = (blue < green) & tissue  # what DAB looked like
        assert brown.mean() < 0.001
        assert (red > green)[tissue].mean() > 0.99  # pink to purple


def test_the_script_makes_the_shipped_samples(tmp_path):
    specification = importlib.util.spec_from_file_location(
        "make_samples", SAMPLES_FOLDER.parents[1] / "scripts" / "make_samples.py"
    )
    script = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(script)
    script.make(tmp_path)
    made, shipped = list_samples(tmp_path), SAMPLES
    for new, old in zip(made, shipped, strict=True):
        assert_same_but_for_rounding(new.load().pixels, old.load().pixels)
        assert (new.id, new.title, new.credit, new.seed) == (old.id, old.title, old.credit, old.seed)
    again = tmp_path / "again"
    script.make(again)
    for path in again.iterdir():
        assert path.read_bytes() == (tmp_path / path.name).read_bytes()
