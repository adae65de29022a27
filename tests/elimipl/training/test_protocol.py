from itertools import pairwise
from multiprocessing.reduction import ForkingPickler

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bag_generators.base import pool
from bag_generators.base.errors import InputError
from elimipl.config import Config, Settings
from elimipl.methods import METHODS
from elimipl.registries import ATTENTIONS, LOSSES, register_attention, register_loss
from elimipl.training import protocol
from elimipl.training.loop import fit
from elimipl.training.protocol import evaluate, stratified_splits
from tests.elimipl.toy_bags import toy_bags


def average_loss(energies, candidates, weights):
    return -(weights * energies.log_softmax(1)).sum(1).mean()


def sharper(scores, epoch, epochs):
    return scores * epoch / epochs


CONFIG = Config.preset("default", hidden=16, epochs=8, batch=16, lr=0.05)


def test_ten_splits_keep_seventy_percent_of_every_class_and_depend_on_the_seed_alone():
    labels = np.repeat(np.arange(7), 100)
    splits, again, other = (stratified_splits(labels, seed=seed) for seed in (0, 0, 1))
    assert len(splits) == 10
    for train, test in splits:
        assert np.bincount(labels[train]).tolist() == [70] * 7
        assert sorted([*train, *test]) == list(range(700))
    assert any((a[0] != b[0]).any() for a, b in pairwise(splits))
    np.testing.assert_array_equal([train for train, _ in splits], [train for train, _ in again])
    assert any((a[0] != b[0]).any() for a, b in zip(splits, other, strict=True))


@settings(max_examples=40, deadline=None)
@given(counts=st.lists(st.integers(2, 9), min_size=2, max_size=5), copies=st.integers(1, 4), seed=st.integers(0, 99))
def test_copies_of_one_source_never_cross_a_split(counts, copies, seed):
    labels = np.repeat(np.arange(len(counts)), counts).repeat(copies)
    groups = np.arange(sum(counts)).repeat(copies) * 3 + 5
    order = np.random.default_rng(seed).permutation(len(labels))
    labels, groups = labels[order], groups[order]
    for train, test in stratified_splits(labels, 3, seed=seed, groups=groups):
        assert not set(groups[train]) & set(groups[test])
        assert set(labels[train]) == set(labels[test]) == set(range(len(counts)))


def test_splits_refuse_what_they_can_t_do():
    with pytest.raises(InputError, match="true label"):
        stratified_splits(np.array([0, 1, -1]))
    with pytest.raises(InputError, match="training share"):
        stratified_splits(np.array([0, 1]), train=1.0)
    with pytest.raises(InputError, match="different labels"):
        stratified_splits(np.array([0, 1]), groups=np.array([4, 4]))


@pytest.mark.parametrize("config", [CONFIG, METHODS["PRODEN-Mean"].config(epochs=40)], ids=["network", "PRODEN"])
def test_processes_and_one_process_agree(config):
    data = toy_bags(m=80)
    splits = stratified_splits(data.labels, 2)
    heard = []
    here = evaluate(data, config, splits, workers=1, on_split=heard.append, device="cpu")
    there = evaluate(data, config, splits, workers=2, device="cpu")
    assert here.accuracies == there.accuracies
    assert [result.index for result in heard] == [0, 1]
    assert here.mean == pytest.approx(np.mean(here.accuracies))
    assert here.std == pytest.approx(np.std(here.accuracies, ddof=0))
    assert str(here) == f"{here.mean:.3f}±{here.std:.3f}"
    assert here.mean > 0.5


def test_workers_share_the_instances_instead_of_being_sent_them(monkeypatch):
    data = toy_bags(m=80, d=200)
    splits = stratified_splits(data.labels, 2)
    sent = []
    send = pool._Worker._send

    def weigh(worker, message):
        sent.append(len(ForkingPickler.dumps(message)))
        send(worker, message)

    monkeypatch.setattr(pool._Worker, "_send", weigh)
    evaluate(data, CONFIG.replace(epochs=1), splits, workers=2, device="cpu")
    assert len(sent) == 4  # the job and a split for each of two workers
    assert sum(sent) < data.instances.nbytes / 10


@pytest.fixture
def registered():
    """Settings with a loss and an attention of others, which are forgotten afterwards."""

    def register(loss, attention):
        register_loss("mine", loss)
        register_attention("mine", attention)
        return CONFIG.replace(loss="mine", attention="mine", epochs=3)

    yield register
    LOSSES.unregister("mine")
    ATTENTIONS.unregister("mine")


def test_a_registered_loss_and_attention_are_known_to_the_workers_and_a_refusal_comes_back(registered):
    data = toy_bags(m=40)
    splits = stratified_splits(data.labels, 2)
    config = registered(average_loss, sharper)
    here, there = (evaluate(data, config, splits, workers=workers, device="cpu") for workers in (1, 2))
    assert here.accuracies == there.accuracies
    with pytest.raises(InputError, match="abacus"):
        evaluate(data, config, splits, workers=2, device="abacus")


@pytest.mark.parametrize("name", ["PRODEN-Mean", "MIPLGP", "MA+IN"])
def test_every_method_is_evaluated_by_its_settings_alone_and_every_split_with_a_seed_of_its_own(name):
    data = toy_bags(m=40)
    splits = stratified_splits(data.labels, 2)
    config = METHODS[name].config(epochs=3)
    here = evaluate(data, config, splits, workers=1, device="cpu")
    for index, (train, test) in enumerate(splits):
        fitted = METHODS[name].fit(data.subset(train), config.replace(seed=config.seed + index), device="cpu")
        assert here.accuracies[index] == fitted.predict(data.subset(test)).accuracy(data.labels[test])


def test_an_extractor_of_ones_own_is_evaluated():
    data = toy_bags(m=40)
    splits = stratified_splits(data.labels, 2)
    extractor = torch.nn.Linear(data.dim, 3)
    before = extractor.weight.detach().clone()
    result = evaluate(data, CONFIG, splits, extractor=extractor, workers=2, device="cpu")
    for index, (train, test) in enumerate(splits):
        fitted = fit(data.subset(train), CONFIG.replace(seed=index), extractor=extractor, device="cpu")
        assert result.accuracies[index] == fitted.predict(data.subset(test)).accuracy(data.labels[test])
    assert torch.equal(extractor.weight, before)
    with pytest.raises(InputError, match="Only the network has an extractor"):
        evaluate(data, METHODS["RC-Mean"].config(), splits, extractor=extractor)
    with pytest.raises(InputError, match=r"the kind Settings don't say what trains.*fit=METHODS"):
        evaluate(data, Settings(), splits, workers=1)


def test_a_loss_that_no_other_process_can_import_is_trained_with_here(registered, monkeypatch):
    monkeypatch.setattr(protocol, "in_processes", lambda *_, **__: pytest.fail("a process was asked"))
    data = toy_bags(m=40)
    config = registered(lambda *given: average_loss(*given), sharper)
    assert len(evaluate(data, config, stratified_splits(data.labels, 2), workers=2, device="cpu").splits) == 2
