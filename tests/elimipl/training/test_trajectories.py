"""The recorded trainings: what is in them adds up, and they can be made again."""

import numpy as np
import pytest

from bag_generators.base.errors import InputError
from elimipl.config import Config
from elimipl.datasets.shipped import load_bag_set
from elimipl.methods import METHODS, training_config
from elimipl.methods.networks import SINCE, SUMMARIES, method_config, uses
from elimipl.training.figure_two import three_probabilities
from elimipl.training.loop import fit
from elimipl.training.stages import stages
from elimipl.training.trajectories import TRAJECTORIES_FOLDER, read_trajectories, recordings
from scripts.record_trajectories import RECORDED, SHOWN_PER_CLASS, WATCHED_PER_CLASS, plan_of, train
from tests.elimipl.toy_bags import toy_bags


@pytest.fixture(scope="module", params=sorted(RECORDED))
def recorded(request):
    return read_trajectories(recordings()[request.param])


def test_probabilities_and_attention_are_distributions_and_shares_are_shares(recorded):
    about = recorded.about
    methods, kinds, epochs = len(about.methods), len(about.measured), recorded.epochs + 1
    assert recorded.probabilities.shape == (methods, epochs, *recorded.candidates.shape)
    np.testing.assert_allclose(recorded.probabilities.astype(float).sum(axis=-1), 1, atol=4e-3)
    for bag in range(len(recorded.labels)):
        sums = recorded.attention[:, :, recorded.instances(bag)].astype(float).sum(axis=-1)
        np.testing.assert_allclose(sums, 1, atol=4e-3)
    assert recorded.candidates[np.arange(len(recorded.labels)), recorded.labels].all()
    assert recorded.shares.shape == (methods, methods, about.trainings, kinds, epochs, 5)
    assert recorded.accuracies.shape == (methods, about.trainings, epochs, kinds + 1)
    assert recorded.medians.shape == (methods, kinds, epochs, 3)
    assert ((recorded.accuracies >= 0) & (recorded.accuracies <= 1)).all()
    found = recorded.figure_two("DEMIPL", "ELIMIPL").shares
    assert (found[..., 4] <= found[..., :4].min(axis=-1)).all()  # all of it is true of no more bags than each part
    same = recorded.figure_two("ELIMIPL", "ELIMIPL").shares
    assert not same[..., [0, 1, 2, 4]].any()


def test_a_shorter_training_stays_as_it_was(recorded):
    for number, method in enumerate(recorded.about.methods):
        last = recorded.about.configs[method]["epochs"]
        assert (recorded.probabilities[number, last:] == recorded.probabilities[number, last]).all()
        assert (recorded.accuracies[number, :, last:] == recorded.accuracies[number, :, last, None]).all()


def test_a_recording_is_of_the_bags_it_names(recorded):
    about = recorded.about
    assert len(about.watched) == len(recorded.labels)
    assert np.bincount(recorded.labels).tolist() == [SHOWN_PER_CLASS] * len(about.label_space)
    if about.bags == "crc-row":  # does not ship
        assert about.measured["training"] + about.measured["held_out"] == 7000
        return
    for method in about.methods:
        plan = plan_of(RECORDED[about.id], load_bag_set(about.bags), method, 0)
        assert Config.from_dict(about.configs[method]) == plan.config
    assert (len(plan.training), len(plan.held_out)) == tuple(about.measured.values())
    watched = plan.training.subset(plan.watched[list(about.watched)])
    assert watched.names == about.bag_names
    assert max(about.watched) < WATCHED_PER_CLASS * len(about.label_space)
    np.testing.assert_array_equal(watched.candidates, recorded.candidates)
    np.testing.assert_array_equal(watched.sizes, np.diff(recorded.offsets))
    assert len(set(watched.groups)) == len(watched)
    assert (recorded.truth_of(0) is None) == (watched.instance_truth is None)


def test_the_typical_bag_is_near_the_median_in_level_and_gain(recorded):
    both = [recorded.method(name) for name in ("DEMIPL", "ELIMIPL")]
    three = np.array(
        [
            [
                three_probabilities(p.astype(float), recorded.candidates, recorded.labels)
                for p in recorded.probabilities[i]
            ]
            for i in both
        ]
    )
    usual = recorded.medians[both, 0].astype(float)[:, :, None]
    gain = np.abs((three[1] - three[0]) - (usual[1] - usual[0])).mean(axis=(0, 2))
    away = np.abs(three - usual).mean(axis=(0, 1, 3)) + gain
    assert away[recorded.about.typical] == pytest.approx(away.min(), abs=1e-3)


def test_a_recording_can_be_made_again():
    recorded = read_trajectories(recordings()["phantoms-kmeansseg"])
    made = RECORDED["phantoms-kmeansseg"]
    run = train(made, load_bag_set(made.bags), None, "ELIMIPL", 0)
    number, watched = recorded.method("ELIMIPL"), list(recorded.about.watched)
    np.testing.assert_allclose(run["probabilities"][:, watched], recorded.probabilities[number], atol=2e-3)
    np.testing.assert_allclose(run["held_out_accuracy"], recorded.accuracies[number, 0, :, 1], atol=2e-3)


def test_measuring_changes_nothing_of_the_training():
    made = RECORDED["phantoms-kmeansseg"]
    bags = load_bag_set(made.bags)
    plan = plan_of(made, bags, "MA", 3)
    fitted = fit(plan.training, plan.config, device="cpu")
    said = fitted.predict(plan.training)
    three = three_probabilities(said.probabilities, plan.training.candidates, plan.training.labels)
    np.testing.assert_allclose(train(made, bags, None, "MA", 3)["training_three"][-1], three, atol=2e-3)


def test_all_recordings_together_are_small():
    assert set(recordings()) == set(RECORDED)
    assert sum(path.stat().st_size for path in TRAJECTORIES_FOLDER.iterdir()) < 2 * 2**20


def test_stages_are_those_of_an_uninterrupted_run():
    bags, config = toy_bags(), Config.preset("default", hidden=6, epochs=4, batch=16)
    met = list(stages(bags, config, (1, 3, 4)))
    assert [epoch for epoch, _ in met] == [0, 1, 3, 4]
    whole = fit(bags, config, device="cpu")
    np.testing.assert_array_equal(met[-1][1].predict(bags).probabilities, whole.predict(bags).probabilities)
    np.testing.assert_array_equal(met[-1][1].weights, whole.weights)
    np.testing.assert_allclose(met[0][1].weights[bags.candidates.sum(1) == 2].max(), 0.5)


def test_a_damaged_recording_gets_a_sentence(tmp_path):
    path = tmp_path / "x.safetensors"
    path.write_bytes(recordings()["phantoms-row"].read_bytes()[:1000])
    with pytest.raises(InputError, match=r"“x\.safetensors” is missing or damaged"):
        read_trajectories(path)
    with pytest.raises(InputError, match="missing or damaged"):
        read_trajectories(tmp_path / "none.safetensors")


def test_methods_take_only_the_weights_they_have():
    for name in SUMMARIES:
        config = method_config(name, mu=3.0, gamma=2.0, epochs=7)
        assert config.epochs == 7
        assert config.mu == (3.0 if uses(name, "mu") else 0.0)
        assert config.gamma == (2.0 if uses(name, "gamma") else 0.0)
        assert config.mapping == ("average" if name.startswith("CE") else "momentum")
    for name in SINCE:
        config = training_config(name, mu=3.0, gamma=2.0, sparsity="entropy", epochs=7)
        assert (config.mu, config.gamma) == ((3.0, 2.0) if uses(name, "mu") else (0.0, 0.0))
    with pytest.raises(InputError, match="no method"):
        training_config("XYZ")
    for name in ("ProMIPL", "FastMIPL", "AGOPMIPL", "MIPLGP"):
        assert name in METHODS
        with pytest.raises(InputError, match=f"{name} doesn't train the network"):
            training_config(name)
