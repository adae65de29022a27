"""The shipped pictures: complete, what their list says, and what the script makes."""

import importlib.util
import json
import shutil

import numpy as np
import pytest
from PIL import Image

from bag_generators import GENERATORS, InputError, generate, load
from bag_generators.tissue.phantom import PHANTOM_KINDS, draw
from bag_generators.tissue.samples import SAMPLES_FOLDER, Sample, list_samples

SAMPLES = list_samples()
PHANTOMS = [sample for sample in SAMPLES if sample.kind == "phantom"]
RESTAINED = [sample for sample in SAMPLES if sample.kind == "restained"]


def by_id(samples):
    return pytest.mark.parametrize("sample", samples, ids=lambda sample: sample.id)


def test_there_is_a_phantom_of_every_kind_and_a_picture_to_walk_over():
    assert [sample.label for sample in PHANTOMS] == list(PHANTOM_KINDS)
    assert max(sample.load().width for sample in RESTAINED) == 512
    assert len(RESTAINED) >= 5


def test_the_folder_holds_the_listed_files_and_no_others_and_is_small():
    listed = {name for sample in SAMPLES for name in (sample.file, sample.truth_file) if name}
    assert {path.name for path in SAMPLES_FOLDER.iterdir()} == listed | {"samples.json"}
    assert len({sample.id for sample in SAMPLES}) == len(SAMPLES)
    assert sum(path.stat().st_size for path in SAMPLES_FOLDER.iterdir()) < 3_000_000


@by_id(SAMPLES)
def test_every_sample_loads_and_says_what_it_is(sample):
    image = sample.load()
    assert min(image.height, image.width) >= 224
    assert image.sha256 == sample.sha256
    assert image.notes == ()  # nothing had to be converted
    assert {"restained": "(re-stained)", "phantom": "(phantom)", "real": ""}[sample.kind] in sample.title
    assert sample.credit
    assert sample.licence


@by_id(SAMPLES)
@pytest.mark.parametrize("generator", list(GENERATORS))
def test_every_generator_makes_a_finite_bag_of_every_sample(sample, generator):
    bag = generate(generator, sample.load())
    assert np.isfinite(bag.features).all()
    assert bag.regions.shape == sample.load().pixels.shape[:2]


def assert_same_but_for_rounding(one: np.ndarray, other: np.ndarray) -> None:
    """Processors may round a sum differently in the last bit, which moves a few pixels by a level or two."""
    difference = np.abs(one.astype(int) - other)
    assert difference.max() <= 2
    assert (difference > 0).mean() < 1e-3


@by_id(PHANTOMS)
def test_a_shipped_phantom_is_the_one_that_is_drawn(sample):
    phantom = draw(sample.label, sample.seed)
    image = sample.load()
    assert_same_but_for_rounding(image.pixels, phantom.pixels)
    assert (sample.truth() != phantom.truth).mean() < 1e-3
    assert sample.truth().shape == image.pixels.shape[:2]
    assert sample.truth().dtype == bool


@by_id(PHANTOMS)
def test_the_candidates_of_a_phantom_hold_its_label_and_leave_something_out(sample):
    assert sample.label in sample.candidates
    assert set(sample.candidates) < set(PHANTOM_KINDS)


def test_real_tissue_comes_first_and_drawings_last_and_files_say_the_scale_that_is_known():
    assert list(dict.fromkeys(sample.kind for sample in SAMPLES)) == ["real", "restained", "phantom"]
    for sample in SAMPLES:
        assert load(sample.folder / sample.file).microns_per_pixel == sample.microns_per_pixel


@by_id(RESTAINED)
def test_restained_tissue_is_unlabelled_and_looks_like_haematoxylin_and_eosin(sample):
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


@pytest.fixture
def copied(tmp_path):
    shutil.copytree(SAMPLES_FOLDER, tmp_path / "samples")
    return tmp_path / "samples"


def _phantom_in(folder) -> Sample:
    return next(sample for sample in list_samples(folder) if sample.kind == "phantom")


def test_a_missing_file_is_an_input_error(copied):
    sample = _phantom_in(copied)
    (copied / sample.file).unlink()
    (copied / sample.truth_file).unlink()
    with pytest.raises(InputError, match=f"“{sample.file}” is missing.*make_samples"):
        sample.load()
    with pytest.raises(InputError, match=f"“{sample.truth_file}” is missing"):
        sample.truth()


def test_a_changed_file_is_an_input_error(copied):
    sample = _phantom_in(copied)
    Image.new("RGB", (224, 224)).save(copied / sample.file)
    Image.new("1", (224, 224)).save(copied / sample.truth_file)
    with pytest.raises(InputError, match=f"“{sample.file}” is not the picture that was shipped"):
        sample.load()
    with pytest.raises(InputError, match=f"“{sample.truth_file}” is not the picture that was shipped"):
        sample.truth()


@pytest.mark.parametrize("text", [None, "[", '[{"id": "only"}]', '"text"', "7"])
def test_a_missing_or_damaged_list_is_an_input_error(tmp_path, text):
    if text is not None:
        (tmp_path / "samples.json").write_text(text)
    with pytest.raises(InputError, match=r"[Tt]he list of samples “samples\.json” .*make_samples"):
        list_samples(tmp_path)


def test_the_list_is_readable_json_with_a_digest_for_every_picture():
    entries = json.loads((SAMPLES_FOLDER / "samples.json").read_text(encoding="utf-8"))
    assert all(len(entry["sha256"]) == 64 for entry in entries)
    assert all((entry["truth_file"] is None) == (entry["truth_sha256"] is None) for entry in entries)
