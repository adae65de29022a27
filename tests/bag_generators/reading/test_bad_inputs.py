"""Every row of the table of bad inputs through the loader: the promised sentence, and no other exception."""

import numpy as np
import pytest

from bag_generators import GENERATORS, InputError, generate, load
from bag_generators.tissue.quality import measure
from bag_generators.uploads import read_upload
from tests.support.bad_files import tissue
from tests.support.bad_inputs import INPUTS, BadInput, Outcome, write_all


def of(*outcomes: Outcome) -> list[BadInput]:
    return [row for row in INPUTS if row.outcome in outcomes]


@pytest.mark.parametrize("row", of(Outcome.REFUSED), ids=lambda row: row.name)
def test_refused_with_a_sentence(row, recwarn, capsys):
    """By the loader and, with the same sentence, by the process that reads uploads."""
    data = row.make()
    for read in (load, read_upload):
        with pytest.raises(InputError) as refusal:
            read(data)
        assert row.says in str(refusal.value)
        assert str(refusal.value).isprintable()
        assert refusal.value.what.endswith(".")
        assert refusal.value.fix.endswith(".")
    assert not recwarn.list
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("row", of(Outcome.NOTED, Outcome.TAKEN), ids=lambda row: row.name)
def test_opened_and_told_what_was_converted(row):
    data = row.make()
    image, uploaded = load(data), read_upload(data)
    assert row.says in " ".join(image.notes)
    assert bool(image.notes) == bool(row.says)
    assert (image.height, image.width) == (224, 224)
    assert np.array_equal(image.pixels, uploaded.pixels)
    assert image.notes == uploaded.notes
    if "without a colour profile" in row.says:
        assert np.array_equal(image.pixels, np.asarray(tissue()))


@pytest.mark.parametrize("row", of(Outcome.UNFIT), ids=lambda row: row.name)
def test_every_generator_names_its_minimum(row):
    image = load(row.make())
    for name in GENERATORS:
        with pytest.raises(InputError) as refusal:
            generate(name, image)
        assert row.says in str(refusal.value)


@pytest.mark.parametrize("row", of(Outcome.DOUBTED), ids=lambda row: row.name)
def test_every_generator_gives_finite_numbers_for_any_content(row):
    image = load(row.make())
    assert np.isfinite(list(measure(image).numbers().values())).all()
    for name in GENERATORS:
        assert np.isfinite(generate(name, image).features).all()


def test_names_are_told_apart():
    assert len({row.name for row in INPUTS}) == len(INPUTS) > 100


def test_the_corpus_can_be_written_to_a_folder(tmp_path):
    few = INPUTS[:3]
    write_all(tmp_path / "new", few)
    lines = (tmp_path / "new" / "expected.tsv").read_text(encoding="utf-8").splitlines()
    assert [line.split("\t")[0] for line in lines[1:]] == [row.name for row in few]
    assert all((tmp_path / "new" / row.name).read_bytes() == row.make() for row in few)
