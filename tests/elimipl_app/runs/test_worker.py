"""The worker behind the Train page: it stops, it ends alone, and two at once don't disturb each other."""

import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from bag_generators import InputError
from elimipl.answers.predictor import Predictor
from elimipl.candidates.crowd import Candidates
from elimipl.cards.files import card_paths
from elimipl.cards.limits import MEASURES
from elimipl.config import Config
from elimipl.datasets.shipped import load_bag_set
from elimipl.jobs import DONE, FAILED, STOPPED, Queue
from elimipl_app.runs import worker
from elimipl_app.runs.trained import model_zip
from elimipl_app.runs.worker import TrainingRun, make_plan
from tests.support.waiting import PATIENCE, wait_until

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def phantoms():
    return load_bag_set("phantoms-sbn")


def plan_of(dataset, pace=None, **settings):
    config = Config.preset("default", **{"hidden": 16, "batch": 32, "epochs": 12, **settings})
    return make_plan("Phantoms", dataset, Candidates("random", r=2, seed=0), config, pace=pace)


@pytest.fixture(scope="module")
def queue():
    made = Queue()
    yield made
    made.end()


def finished(run):
    run.join(PATIENCE)
    assert not run.alive
    return run.progress


def test_a_run_gives_curves_weights_and_a_model(phantoms, queue):
    plan = plan_of(phantoms)
    progress = finished(queue.start(TrainingRun(plan)))
    assert progress.state == DONE
    assert progress.done == 12
    assert progress.news.probabilities.shape == (12, 6, 7)
    assert progress.news.weights.shape == (13, 6, 7)
    np.testing.assert_allclose(progress.news.weights.sum(axis=-1), 1, atol=1e-5)
    assert (progress.news.weights[:, ~plan.training.candidates[plan.watched]] == 0).all()
    assert progress.news.reports[-1].losses["total"] < progress.news.reports[0].losses["total"]
    card = progress.result.predictor.card
    assert card.id == "mine-1-phantoms-sbn-elimipl"
    assert (card.pictures, card.label_space.id) == ("drawn phantoms", "phantoms")
    assert card.accuracy.value == pytest.approx(progress.news.reports[-1].held_out_accuracy)
    assert card.candidates.scheme == "true label and 2 random others"
    assert set(card.checks.limits) == MEASURES - {"field"}


def test_two_at_once_learn_what_each_learns_alone(phantoms, queue):
    first, second = (queue.start(TrainingRun(plan_of(phantoms, seed=seed))) for seed in (1, 2))
    together = [finished(run).result.predictor.card.sha256 for run in (first, second)]
    alone = [finished(queue.start(TrainingRun(plan_of(phantoms, seed=seed)))).result for seed in (1, 2)]
    assert together == [trained.predictor.card.sha256 for trained in alone]
    assert together[0] != together[1]


def test_stop_ends_the_worker_after_the_epoch_it_is_in(phantoms, queue):
    run = queue.start(TrainingRun(plan_of(phantoms, pace=50, epochs=100_000)))
    wait_until(lambda: run.progress.done >= 2)
    run.ask_to_end()
    asked_in = run.progress.done
    progress = finished(run)
    assert progress.state == STOPPED
    assert progress.stopped_within > 0
    assert 2 <= progress.done <= asked_in + 1
    assert progress.result.fitted.stopped


def test_a_slow_pace_is_no_obstacle_to_stopping(phantoms, queue):
    run = queue.start(TrainingRun(plan_of(phantoms, pace=0.01)))
    wait_until(lambda: run.progress.done >= 1)
    run.stop()
    assert finished(run).done == 1


def test_a_training_that_breaks_down_says_so(phantoms, queue):
    run = queue.start(TrainingRun(plan_of(phantoms, lr=1000.0, scaling="none", head="softmax")))
    progress = finished(run)
    assert progress.state == FAILED
    assert "no longer a finite number" in progress.error.what
    assert progress.result is None


def test_a_fault_of_the_program_is_no_traceback_for_the_visitor(phantoms, monkeypatch, queue):
    def broken(*_args, **_settings):
        raise ZeroDivisionError

    monkeypatch.setattr(worker, "fit", broken)
    progress = finished(queue.start(TrainingRun(plan_of(phantoms))))
    assert progress.state == FAILED
    assert "fault of the program" in progress.error.what


def test_the_download_is_a_model_that_loads_and_answers_alike(phantoms, tmp_path, queue):
    plan = plan_of(phantoms)
    trained = finished(queue.start(TrainingRun(plan, 7))).result
    name = "mine-7-phantoms-sbn-elimipl"
    shipped = {card: path.read_bytes() for card, path in card_paths().items()}
    with zipfile.ZipFile(io.BytesIO(model_zip(trained))) as archive:
        assert sorted(archive.namelist()) == [f"{name}.json", f"{name}.safetensors"]
        archive.extractall(tmp_path)
    assert json.loads((tmp_path / f"{name}.json").read_text())["created_by"] == "the Train page"
    loaded = Predictor.load(name, tmp_path)
    for bag in range(3):
        before, after = (one.predict_features(plan.held_out.bag(bag)) for one in (trained.predictor, loaded))
        np.testing.assert_array_equal(before.probabilities, after.probabilities)
    assert {card: path.read_bytes() for card, path in card_paths().items()} == shipped


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


def test_bags_without_labels_keep_their_candidates_and_hold_nothing_out(phantoms, queue):
    unlabelled = phantoms.subset(np.arange(0, 210, 10))
    unlabelled = type(unlabelled)(
        instances=unlabelled.instances, offsets=unlabelled.offsets, candidates=unlabelled.candidates,
        labels=np.full(len(unlabelled), -1), label_space=unlabelled.label_space,
    )  # fmt: skip
    plan = make_plan("Mine", unlabelled, Candidates("own"), Config.preset("default", hidden=8, epochs=2))
    assert plan.held_out is None
    progress = finished(queue.start(TrainingRun(plan)))
    assert progress.state == DONE
    assert progress.result.predictor.card.accuracy is None
    with pytest.raises(InputError, match="around known labels"):
        make_plan("Mine", unlabelled, Candidates("random"), Config.preset("default"))


def test_too_many_numbers_are_refused(phantoms, monkeypatch):
    monkeypatch.setattr(worker, "MOST_TRAINING_NUMBERS", 1000)
    with pytest.raises(InputError, match="this page trains on up to 1,000"):
        make_plan("Phantoms", phantoms, Candidates("random"), Config.preset("default"))


def test_a_server_that_is_stopped_ends_its_trainings_first():
    program = (
        "from elimipl.config import Config\nfrom elimipl.datasets.shipped import load_bag_set\n"
        "from elimipl.candidates.crowd import Candidates\nfrom elimipl_app.runs.worker import make_plan\n"
        "from elimipl import jobs\nfrom elimipl_app.runs.worker import TrainingRun\n"
        "jobs.STOP_PATIENCE = 0.0\n"  # a page goes on when it likes, the server waits for what it started
        "config = Config.preset('default', hidden=16, epochs=100_000)\n"
        "plan = make_plan('x', load_bag_set('phantoms-sbn'), Candidates('random'), config)\n"
        "run = jobs.SERVER.start(TrainingRun(plan))\n"
        "while run.progress.done < 2:\n    run.join(0.01)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stderr.splitlines()[-1])["outcome"] == "stopped"
