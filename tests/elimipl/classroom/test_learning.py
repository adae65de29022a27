"""From answers to models: what is learned from, what is measured on, and what ends early."""

import csv
import io
import json
import threading
from dataclasses import replace

import numpy as np
import pytest

from bag_generators import InputError
from elimipl.candidates.labels import TISSUE7, LabelSpace
from elimipl.classroom import learning
from elimipl.classroom.learning import (
    StoppedError,
    arm_candidates,
    arms_of,
    class_bags,
    held_out_bags,
    learn,
    make_task,
)
from elimipl.classroom.outcome import read_outcome
from elimipl.classroom.pictures import compose_field, from_upload
from elimipl.classroom.store.classes import ClassStore
from elimipl.classroom.store.records import Ballot, PictureFacts
from elimipl.classroom.tally import tally
from elimipl.datasets.dataset import BagDataset
from elimipl.jobs import Job, Queue
from elimipl_app.classroom import worker
from elimipl_app.classroom.exports import class_bag_file, class_json, votes_csv
from elimipl_app.classroom.worker import ClassTraining
from tests.elimipl_app.classroom.a_class import OUTCOME, small_pictures
from tests.support.waiting import PATIENCE

PICTURES = small_pictures(7)
FACTS = tuple(PictureFacts(at + 1, one.name, one.kind, one.truth, one.microns) for at, one in enumerate(PICTURES))


def answers(students: int = 5) -> list[Ballot]:
    """Everybody finds the true label most likely, and the next one possible, too."""
    return [
        Ballot(student, at + 1, tuple(sorted((at, (at + 1) % 7))), at)
        for student in range(1, students + 1)
        for at in range(7)
    ]


def task_of(facts=FACTS, labels=TISSUE7, students=5):
    counted = tally(answers(students), len(facts), len(labels))
    return make_task(labels, "row", facts, lambda number: PICTURES[number - 1].png, counted)


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(learning, "EPOCHS", 12)
    monkeypatch.setattr(learning, "SEEDS", (0,))
    monkeypatch.setattr(learning, "TRAINING_BAGS", 42)


def test_copies_share_the_set_of_their_picture(short):
    bags = class_bags(task_of())
    assert len(bags) == 42
    assert np.unique(bags.groups, return_counts=True)[1].tolist() == [6] * 7
    assert (bags.candidates.sum(axis=1) == 2).all()
    assert (bags.labels == bags.groups).all()
    assert len({bags.bag(at).tobytes() for at in range(6)}) == 6


def test_bags_are_made_as_those_they_are_measured_on(short):
    bags = class_bags(replace(task_of(), generator="deep"))
    assert bags.params == held_out_bags(replace(task_of(), generator="deep")).params
    assert set(bags.sizes.tolist()) == {16}  # cells of 56 px


def test_every_arm_differs_by_its_sets_alone():
    task = task_of()
    assert arms_of(task) == ("truth", "class", "three", "tops", "nothing")
    assert arm_candidates(task, "truth", 0).tolist() == np.eye(7, dtype=bool).tolist()
    assert arm_candidates(task, "tops", 0).tolist() == np.eye(7, dtype=bool).tolist()
    assert (arm_candidates(task, "class", 0).sum(axis=1) == 2).all()
    assert arm_candidates(task, "nothing", 0).all()
    assert "three" not in arms_of(task_of(students=3))


def test_truth_is_worth_more_than_no_answer_and_the_outcome_lasts(short):
    told = []
    outcome = learn(task_of(), lambda share: told.append(share) or True)
    assert outcome.held_out_bags == 210
    assert outcome.mean("elimipl", "truth") > outcome.mean("elimipl", "nothing") + 0.1
    assert {one.disambiguation for one in outcome.fits if (one.method, one.arm) == ("elimipl", "truth")} == {(1.0,)}
    assert len(outcome.fits) == 10
    assert [round(sum(one.weights), 6) for one in outcome.learned] == [1.0] * 7
    assert told == sorted(told)
    assert read_outcome(outcome.model_dump_json()) == outcome


def test_without_truths_there_is_less_to_say(short):
    unknown = tuple(replace(picture, truth=None) for picture in FACTS)
    task = task_of(unknown)
    assert "truth" not in arms_of(task)
    assert held_out_bags(task) is None
    own = LabelSpace.of([f"label {number}" for number in range(7)], "own")
    assert held_out_bags(task_of(labels=own)) is None
    some = (*FACTS[:5], *unknown[5:])
    assert [picture.number for picture in task_of(some).facts] == [1, 2, 3, 4, 5]


def test_few_answers_are_refused_and_a_stop_is_heard(short):
    few = tally(answers()[:3], 7, 7)
    with pytest.raises(InputError, match="Only 3 pictures have an answer"):
        make_task(TISSUE7, "row", FACTS, lambda number: b"", few)
    with pytest.raises(StoppedError):
        learn(task_of(), lambda share: share < 0.35)


def quick_learn(task, tell):
    """What `learn` does as far as a run is concerned."""
    for share in np.linspace(0, 1, 20):
        if not tell(float(share)):
            raise StoppedError
    return OUTCOME


def test_a_run_keeps_its_outcome_or_says_why_not(monkeypatch):
    monkeypatch.setattr(worker, "learn", quick_learn)
    kept, given_up = [], []
    queue = Queue()
    run = queue.start(ClassTraining(task_of(), "class", kept.append, lambda: given_up.append("kept")))
    run.join(PATIENCE)
    assert (len(kept), run.progress.error, run.progress.seconds_left) == (1, None, 0.0)
    assert kept[0].seconds > 0

    def refuse(outcome):
        raise InputError("This class is over.", "Ask for a new one.")

    refused = queue.start(ClassTraining(task_of(), "class", refuse, lambda: given_up.append("refused")))
    refused.join(PATIENCE)
    assert "This class is over" in str(refused.progress.error)
    broken = queue.start(ClassTraining(task_of(), "class", lambda outcome: 1 / 0, lambda: given_up.append("broken")))
    broken.join(PATIENCE)
    assert "a fault of the program" in str(broken.progress.error)
    assert given_up == ["refused", "broken"]


class Others(Job):
    """Works until it is stopped."""

    def work(self):
        while not self.should_stop(due=0.0):
            threading.Event().wait(0.01)


def test_a_run_stands_in_the_line_of_all_trainings_and_stops_there(monkeypatch):
    monkeypatch.setattr(worker, "learn", quick_learn)
    queue, others = Queue(at_once=1), Others("somebody else")
    queue.start(others)
    kept, given_up = [], []
    run = queue.start(ClassTraining(task_of(), "class", kept.append, lambda: given_up.append("stopped")))
    assert run.place == (1, 1)
    run.stop()
    run.join(PATIENCE)
    assert (kept, run.progress.error, run.alive) == ([], None, False)
    again = queue.start(ClassTraining(task_of(), "class", kept.append, lambda: given_up.append("again")))
    others.stop()
    again.join(PATIENCE)
    assert (len(kept), given_up) == (1, ["stopped"])


def test_composed_fields_hold_patches_of_the_class_among_others():
    pixels, truth = compose_field("TUM", 3)
    assert pixels.shape == (224, 224, 3)
    assert 3 <= truth.sum() <= 7
    other, same = compose_field("LYM", 3)
    assert (same == truth).all()
    patch = np.flatnonzero(~truth)[0]
    row, column = divmod(int(patch), 4)
    place = np.s_[row * 56 + 10 : row * 56 + 40, column * 56 + 10 : column * 56 + 40]
    assert np.abs(pixels[place].astype(int) - other[place].astype(int)).mean() < 10


def test_an_upload_is_fitted_to_a_phone_and_named_by_its_file():
    one = from_upload("slide7/TUM_0001.png", PICTURES[0].png, TISSUE7)
    assert one.truth == TISSUE7.index("TUM")
    assert from_upload("x.png", PICTURES[0].png, TISSUE7).truth is None
    with pytest.raises(InputError, match=r"“notes.txt”"):
        from_upload("notes.txt", b"no picture", TISSUE7)


def test_files_to_take_along(tmp_path, short):
    store = ClassStore(tmp_path / "x.sqlite3")
    labels = LabelSpace.of(["=1+1", *TISSUE7.names[1:]], "own")
    store.open_session("t", labels, PICTURES, "here")
    session = store.session_of("t")
    ballots, counted = answers(), tally(answers(), 7, 7)
    rows = list(csv.reader(io.StringIO(votes_csv(session, ballots))))
    assert len(rows) == 36
    assert not any(cell.startswith("=") for row in rows for cell in row)
    facts = json.loads(class_json(session, ballots, counted))
    assert facts["pictures"][1]["candidates"] == ["LYM", "MUC"]
    assert len(facts["answers"]) == 35
    assert session.code not in json.dumps(facts)
    assert session.link_key not in json.dumps(facts)
    path = tmp_path / "class.safetensors"
    path.write_bytes(class_bag_file(store, session, counted, "row"))
    bags = BagDataset.load(path)
    assert len(bags) == 42
    assert bags.label_space == labels
    assert (bags.candidates == counted.candidates[bags.groups]).all()


def test_every_kind_of_picture_is_measured_on_its_own_kind(monkeypatch):
    monkeypatch.setattr(learning, "COMPOSED_HELD_OUT", 1)
    monkeypatch.setattr(learning, "DRAWN_HELD_OUT", 1)
    mixed = tuple(
        replace(picture, kind=kind)
        for picture, kind in zip(FACTS, ("drawn", "composed", "tissue", *["drawn"] * 4), strict=True)
    )
    tissue = learning.load_bag_set("tissue7-row")
    held_out = held_out_bags(task_of(mixed))
    assert len(held_out) == 210 + len(np.unique(tissue.groups)) + 7
    assert held_out.dim == tissue.dim
    monkeypatch.setattr(learning, "bag_sets", dict)  # as for a generator of somebody else's
    assert len(held_out_bags(task_of(mixed))) == 7 + 7
