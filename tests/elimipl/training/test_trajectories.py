"""The recorded trainings: what is in them adds up, and they can be made again."""

import numpy as np
import pytest

from bag_generators.base.errors import InputError
from elimipl.config import Config
from elimipl.methods.networks import SUMMARIES as METHODS
from elimipl.methods.networks import method_config, uses
from elimipl.training.loop import fit
from elimipl.training.stages import stages
from elimipl.training.trajectories import TRAJECTORIES_FOLDER, read_trajectories, recordings
from scripts.record_trajectories import PER_CLASS, RECORDED, plan_of
from tests.elimipl.toy_bags import toy_bags


@pytest.fixture(scope="module", params=sorted(RECORDED))
def recorded(request):
    return read_trajectories(recordings()[request.param])


def test_probabilities_weights_and_attention_are_distributions(recorded):
    for values in (recorded.probabilities, recorded.weights):
        assert values.shape == (len(recorded.about.methods), recorded.epochs + 1, *recorded.candidates.shape)
        assert np.isfinite(values).all()
        np.testing.assert_allclose(values.astype(float).sum(axis=-1), 1, atol=4e-3)
    assert (recorded.weights[:, :, ~recorded.candidates] == 0).all()
    for bag in range(len(recorded.labels)):
        sums = recorded.attention[:, :, recorded.instances(bag)].astype(float).sum(axis=-1)
        np.testing.assert_allclose(sums, 1, atol=4e-3)
    assert recorded.candidates[np.arange(len(recorded.labels)), recorded.labels].all()


def test_weights_start_level_and_stay_so_only_without_momentum_and_every_loss_falls(recorded):
    level = recorded.candidates / recorded.candidates.sum(axis=1, keepdims=True)
    for number, method in enumerate(recorded.about.methods):
        np.testing.assert_allclose(recorded.weights[number, 0].astype(float), level, atol=1e-3)
        moved = np.abs(recorded.weights[number, -1].astype(float) - level).max() > 0.1
        assert moved != method.startswith("CE")
    assert np.isfinite(recorded.losses).all()
    assert (recorded.losses[:, -1, -1] < recorded.losses[:, 0, -1]).all()
    assert ((recorded.accuracies >= 0) & (recorded.accuracies <= 1)).all()


def test_inhibition_presses_the_non_candidates_down_where_the_head_has_room_for_it(recorded):
    if recorded.about.configs["ELIMIPL"]["head"] == "softmax_of_sigmoid":
        assert recorded.all_probabilities.min() > 0.058  # seven classes
        assert recorded.all_probabilities.max() < 0.3125
        return
    outside = np.where(recorded.candidates, 0, recorded.probabilities[:, -1]).sum(axis=-1).mean(axis=-1)
    of = dict(zip(recorded.about.methods, outside, strict=True))
    for with_it, without in (("ELIMIPL", "DEMIPL"), ("MA+IN", "MA"), ("CE-SP-IN", "CE")):
        assert with_it not in of or of[with_it] < of[without]


def test_a_recording_is_of_the_bags_it_names(recorded):
    about = recorded.about
    plan = plan_of(about.id, "ELIMIPL")
    watched = plan.training.subset(plan.watched)
    assert watched.names == about.bag_names
    assert (len(plan.training), len(plan.held_out)) == (about.training_bags, about.held_out_bags)
    np.testing.assert_array_equal(watched.candidates, recorded.candidates)
    np.testing.assert_array_equal(watched.sizes, np.diff(recorded.offsets))
    for method in about.methods:
        assert Config.from_dict(about.configs[method]) == plan_of(about.id, method).config
    np.testing.assert_array_equal(plan.training.labels, recorded.all_labels)
    np.testing.assert_array_equal(plan.training.candidates, recorded.all_candidates)
    assert len(set(watched.groups)) == len(watched)
    assert np.bincount(watched.labels).tolist() == [PER_CLASS] * watched.n_classes
    known = recorded.truth_of(0)
    assert (known is None) == (watched.instance_truth is None)
    np.testing.assert_array_equal(recorded.all_probabilities[:, plan.watched], recorded.probabilities[:, -1])


def test_a_recording_can_be_made_again():
    recorded = read_trajectories(recordings()["digits"])
    plan = plan_of("digits", "ELIMIPL")
    *_, (_, fitted) = stages(plan.training, plan.config, range(1, 4))
    outputs = fitted.predict(plan.training.subset(plan.watched))
    number = recorded.method("ELIMIPL")
    np.testing.assert_allclose(outputs.probabilities, recorded.probabilities[number, 3], atol=2e-3)
    np.testing.assert_allclose(outputs.attention, recorded.attention[number, 3], atol=2e-3)


def test_all_recordings_together_are_small():
    assert set(recordings()) == set(RECORDED)
    assert sum(path.stat().st_size for path in TRAJECTORIES_FOLDER.iterdir()) < 3 * 2**19


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
    path.write_bytes(recordings()["digits"].read_bytes()[:1000])
    with pytest.raises(InputError, match=r"“x\.safetensors” is missing or damaged"):
        read_trajectories(path)
    with pytest.raises(InputError, match="missing or damaged"):
        read_trajectories(tmp_path / "none.safetensors")


def test_methods_take_only_the_weights_they_have():
    for name in METHODS:
        config = method_config(name, mu=3.0, gamma=2.0, epochs=7)
        assert config.epochs == 7
        assert config.mu == (3.0 if uses(name, "mu") else 0.0)
        assert config.gamma == (2.0 if uses(name, "gamma") else 0.0)
        assert config.mapping == ("average" if name.startswith("CE") else "momentum")
    with pytest.raises(InputError, match="no method"):
        method_config("XYZ")
