"""The worker behind the Train page: it stops, it ends alone, and two at once don't disturb each other."""

import io
import json
import os
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest

from bag_generators import InputError
from elimipl.cards.files import card_paths
from elimipl.cards.limits import MEASURES
from elimipl.config import Config
from elimipl.data.candidates import Candidates
from elimipl.data.shipped import load_bag_set
from elimipl.predictor import Predictor
from tests.support.waiting import PATIENCE, wait_until
from ui.train import give_way, returning, worker
from ui.train import plan as plans
from ui.train.give_way import GiveWay
from ui.train.plan import make_plan
from ui.train.returning import KeptRuns
from ui.train.trained import model_zip
from ui.train.turns import Turns
from ui.train.worker import DONE, FAILED, STOPPED, TrainingRun, model_id_for

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def phantoms():
    return load_bag_set("phantoms-sbn")


def plan_of(dataset, pace=None, **settings):
    config = Config.preset("default", **{"hidden": 16, "batch": 32, "epochs": 12, **settings})
    return make_plan("Phantoms", dataset, Candidates("random", r=2, seed=0), config, pace=pace)


def finished(run):
    run.join(PATIENCE)
    assert not run.alive
    return run.progress


def test_a_run_gives_curves_weights_and_a_model(phantoms):
    plan = plan_of(phantoms)
    run = TrainingRun(plan, model_id_for(plan, 1))
    progress = finished(run)
    assert progress.state == DONE
    assert progress.epoch == 12
    assert progress.probabilities.shape == (12, 6, 7)
    assert progress.weights.shape == (13, 6, 7)
    np.testing.assert_allclose(progress.weights.sum(axis=-1), 1, atol=1e-5)
    assert (progress.weights[:, ~plan.training.candidates[plan.watched]] == 0).all()
    assert progress.reports[-1].losses["total"] < progress.reports[0].losses["total"]
    card = progress.trained.predictor.card
    assert card.id == "mine-1-phantoms-sbn-elimipl"
    assert (card.pictures, card.label_space.id) == ("drawn phantoms", "phantoms")
    assert card.accuracy.value == pytest.approx(progress.reports[-1].held_out_accuracy)
    assert card.candidates.scheme == "true label and 2 random others"
    assert set(card.checks.limits) == MEASURES - {"field"}


def test_two_at_once_learn_what_each_learns_alone(phantoms):
    first, second = (TrainingRun(plan_of(phantoms, seed=seed), "mine") for seed in (1, 2))
    together = [finished(run).trained.predictor.card.sha256 for run in (first, second)]
    alone = [finished(TrainingRun(plan_of(phantoms, seed=seed), "mine")).trained for seed in (1, 2)]
    assert together == [trained.predictor.card.sha256 for trained in alone]
    assert together[0] != together[1]


def test_stop_ends_the_worker_after_the_epoch_it_is_in(phantoms):
    run = TrainingRun(plan_of(phantoms, pace=50, epochs=100_000), "mine")
    wait_until(lambda: run.progress.epoch >= 2)
    run.ask_to_end()
    asked_in = run.progress.epoch
    progress = finished(run)
    assert progress.state == STOPPED
    assert progress.stopped_within > 0
    assert 2 <= progress.epoch <= asked_in + 1
    assert progress.trained.fitted.stopped


def test_a_slow_pace_is_no_obstacle_to_stopping(phantoms):
    run = TrainingRun(plan_of(phantoms, pace=0.01), "mine")
    wait_until(lambda: run.progress.epoch >= 1)
    run.stop()
    assert finished(run).epoch == 1


def test_a_run_ends_when_nobody_is_there_any_more(phantoms, monkeypatch):
    monkeypatch.setattr(worker, "PATIENCE", 0.2)
    there = threading.Event()
    there.set()
    run = TrainingRun(plan_of(phantoms, pace=50, epochs=100_000), "mine", there.is_set)
    wait_until(lambda: run.progress.epoch >= 20)  # 0.4 s, longer than the patience
    assert run.alive
    there.clear()
    assert finished(run).state == STOPPED


@pytest.fixture
def one_at_a_time(monkeypatch):
    line = Turns(at_once=1, slice_seconds=1000.0, most=2)
    monkeypatch.setattr(worker, "_turns", line)
    return line


def test_runs_beyond_those_at_once_wait_in_line_and_take_turns(phantoms, one_at_a_time):
    runs = [TrainingRun(plan_of(phantoms, pace=50, epochs=100_000), "mine", visitor=str(i)) for i in range(3)]
    assert [run.place for run in runs] == [(0, 2), (1, 2), (2, 2)]
    with pytest.raises(InputError, match="1 trainings run on this server and 2 wait"):
        TrainingRun(plan_of(phantoms), "mine")
    one_at_a_time._slice = 0.2
    wait_until(lambda: all(run.progress.epoch >= 12 for run in runs))
    assert one_at_a_time.waiting() == 2
    for run in runs:
        run.stop()
        finished(run)
    # The time in line is neither counted nor caught up with.
    assert all(run.progress.epoch / 50 <= run.progress.seconds + 0.1 for run in runs)
    assert one_at_a_time.waiting() == 0


def test_who_stops_or_leaves_in_line_trains_nothing(phantoms, one_at_a_time, monkeypatch):
    monkeypatch.setattr(worker, "PATIENCE", 0.2)
    first = TrainingRun(plan_of(phantoms, pace=50, epochs=100_000), "mine")
    stopped, left = TrainingRun(plan_of(phantoms), "mine"), TrainingRun(plan_of(phantoms), "mine", lambda: False)
    stopped.stop()
    for run in (stopped, left):
        assert finished(run).state == STOPPED
        assert (run.progress.epoch, run.progress.trained) == (0, None)
    assert first.alive
    assert one_at_a_time.waiting() == 0
    first.stop()
    finished(first)


def test_a_visitor_who_comes_back_finds_the_run(phantoms, monkeypatch):
    there = threading.Event()
    there.set()
    run = TrainingRun(plan_of(phantoms, pace=50, epochs=100_000), "mine-3", there.is_set)
    kept = KeptRuns()
    kept.keep("ann", "train", run, 3)
    assert kept.come_back("ann", "train") is None  # another tab is watching it
    there.clear()
    assert kept.come_back("bob", "train") is None
    assert kept.come_back("ann", "compare") is None
    assert kept.come_back("ann", "train") == (run, 3)
    run.watched_by(lambda: True)
    monkeypatch.setattr(worker, "PATIENCE", 0.2)
    epoch = run.progress.epoch
    wait_until(lambda: run.progress.epoch > epoch + 20)  # 0.4 s, twice the patience
    assert run.alive
    run.stop()
    finished(run)


def test_kept_runs_go_after_a_while_and_are_few(phantoms, monkeypatch):
    run = TrainingRun(plan_of(phantoms, epochs=1), "mine", lambda: False)
    finished(run)
    kept = KeptRuns()
    for number in range(returning.MOST_KEPT + 3):
        kept.keep(str(number), "train", run, 1)
    assert kept.come_back("0", "train") is None
    assert kept.come_back("5", "train") is not None
    monkeypatch.setattr(returning, "KEPT_SECONDS", -1.0)
    assert kept.come_back("5", "train") is None


def test_a_training_that_breaks_down_says_so(phantoms):
    run = TrainingRun(plan_of(phantoms, lr=1000.0, scaling="none", head="softmax"), "mine")
    progress = finished(run)
    assert progress.state == FAILED
    assert "no longer a finite number" in progress.error.what
    assert progress.trained is None


def test_a_fault_of_the_program_is_no_traceback_for_the_visitor(phantoms, monkeypatch):
    def broken(*_args, **_settings):
        raise ZeroDivisionError

    monkeypatch.setattr(worker, "fit", broken)
    progress = finished(TrainingRun(plan_of(phantoms), "mine"))
    assert progress.state == FAILED
    assert "fault of the program" in progress.error.what


def test_the_download_is_a_model_that_loads_and_answers_alike(phantoms, tmp_path):
    plan = plan_of(phantoms)
    trained = finished(TrainingRun(plan, "mine-7")).trained
    shipped = {name: path.read_bytes() for name, path in card_paths().items()}
    with zipfile.ZipFile(io.BytesIO(model_zip(trained))) as archive:
        assert sorted(archive.namelist()) == ["mine-7.json", "mine-7.safetensors"]
        archive.extractall(tmp_path)
    assert json.loads((tmp_path / "mine-7.json").read_text())["created_by"] == "the Train page"
    loaded = Predictor.load("mine-7", tmp_path)
    for bag in range(3):
        before, after = (one.predict_features(plan.held_out.bag(bag)) for one in (trained.predictor, loaded))
        np.testing.assert_array_equal(before.probabilities, after.probabilities)
    assert {name: path.read_bytes() for name, path in card_paths().items()} == shipped


def test_copies_of_a_picture_stay_together_and_share_their_candidates():
    tissue = load_bag_set("tissue7-row")
    for kind in ("random", "crowd"):
        plan = make_plan("Tissue", tissue, Candidates(kind, r=2, seed=4), Config.preset("default"))
        assert not set(plan.training.groups) & set(plan.held_out.groups)
        for group in np.unique(plan.training.groups):
            members = plan.training.candidates[plan.training.groups == group]
            assert (members == members[0]).all()
        assert len(plan.watched) == 6
        assert (plan.training.candidates[plan.watched].sum(axis=1) > 1).all()


def test_bags_without_labels_keep_their_candidates_and_hold_nothing_out(phantoms):
    unlabelled = phantoms.subset(np.arange(0, 210, 10))
    unlabelled = type(unlabelled)(
        instances=unlabelled.instances, offsets=unlabelled.offsets, candidates=unlabelled.candidates,
        labels=np.full(len(unlabelled), -1), label_space=unlabelled.label_space,
    )  # fmt: skip
    plan = make_plan("Mine", unlabelled, Candidates("own"), Config.preset("default", hidden=8, epochs=2))
    assert plan.held_out is None
    progress = finished(TrainingRun(plan, "mine"))
    assert progress.state == DONE
    assert progress.trained.predictor.card.accuracy is None
    with pytest.raises(InputError, match="around known labels"):
        make_plan("Mine", unlabelled, Candidates("random"), Config.preset("default"))


def test_too_many_numbers_are_refused(phantoms, monkeypatch):
    monkeypatch.setattr(plans, "MOST_TRAINING_NUMBERS", 1000)
    with pytest.raises(InputError, match="this page trains on up to 1,000"):
        make_plan("Phantoms", phantoms, Candidates("random"), Config.preset("default"))


def test_a_training_rests_as_long_as_it_had_to_wait(monkeypatch):
    rests = []
    stop = threading.Event()
    monkeypatch.setattr(stop, "wait", rests.append)
    clocks = {
        "monotonic": iter([0.0, 3.0, 10.0, 12.0, 20.0, 20.5, 21.0]),
        "thread_time": iter([0.0, 0.2, 1, 3, 5, 5.4, 6]),
    }
    for name, times in clocks.items():
        monkeypatch.setattr(give_way.time, name, lambda times=times: next(times))
    manners = GiveWay()
    for _ in range(3):
        manners.rest(stop)
    assert rests == pytest.approx([give_way.LONGEST_REST, 0.0, 0.1])


@pytest.mark.skipif(sys.platform != "linux", reason="threads have no niceness of their own")
def test_only_the_thread_that_trains_stands_back(phantoms):
    here = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    heard = []
    run = TrainingRun(
        plan_of(phantoms),
        "mine",
        lambda: heard.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id())) or True,
    )
    finished(run)
    assert set(heard) == {max(here, give_way.NICENESS)}
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == here


def test_a_server_that_is_stopped_ends_its_trainings_first():
    program = (
        "from elimipl.config import Config\nfrom elimipl.data.shipped import load_bag_set\n"
        "from elimipl.data.candidates import Candidates\nfrom ui.train.plan import make_plan\n"
        "from ui.train import worker\n"
        "worker.STOP_PATIENCE = 0.0\n"  # a page goes on when it likes, the server waits for what it started
        "config = Config.preset('default', hidden=16, epochs=100_000)\n"
        "plan = make_plan('x', load_bag_set('phantoms-sbn'), Candidates('random'), config)\n"
        "run = worker.TrainingRun(plan, 'mine')\n"
        "while run.progress.epoch < 2:\n    run.join(0.01)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stderr.splitlines()[-1])["outcome"] == "stopped"
