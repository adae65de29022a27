"""The training benchmark compares what it says: bags of the paper's size, and the same network one bag at a time."""

import numpy as np
import torch

from benchmarks import bench_training
from benchmarks.bench_training import OneBagNetwork, fast_against_plain, made_bags, train
from elimipl.config import Config
from elimipl.model.network import build_network
from tests.elimipl.toy_bags import toy_bags


def test_made_bags_have_the_size_of_crc_mipl():
    bags = made_bags()
    assert (len(bags), bags.dim, bags.n_classes) == (7000, 6, 7)
    assert (bags.sizes.min(), bags.sizes.max()) == (3, 6)
    assert abs(bags.sizes.mean() - 4.311) < 0.05
    assert abs(bags.candidates.sum(1).mean() - 2.08) < 0.03
    np.testing.assert_array_equal(bags.instances, made_bags().instances)


def test_the_loop_trains_the_published_network():
    network = build_network(Config.preset("published", hidden=24), 5, 4)
    plain = OneBagNetwork(5, 24, 4).eval()
    layers = {
        network.embed: plain.embed[0],
        network.gate_t: plain.gate,
        network.score[0]: plain.score[0],
        network.score[2]: plain.score[2],
        network.classifier: plain.classifier,
    }
    for ours, theirs in layers.items():
        theirs.load_state_dict(ours.state_dict())
    bag = torch.randn(6, 5)
    expected = network(bag, torch.zeros(6, dtype=torch.long), 1).energies.softmax(1)
    torch.testing.assert_close(plain(bag), expected)


def test_the_loop_learns_and_stops_where_it_is_told():
    data = toy_bags(m=60)
    assert train(data, epochs=10, hidden=16, steps=7).steps == 7
    run = train(data, epochs=10, hidden=32, lr=0.05, mu=0.0, gamma=1.0)
    assert run.steps == 600
    assert run.accuracy(data) > 0.6


def test_both_ways_to_step_are_timed(monkeypatch):
    monkeypatch.setattr(bench_training, "HIDDEN", 8)
    ways = fast_against_plain(2)
    assert list(ways["sizes"]) == ["paper", "large_bags", "large_wide_bags"]
    for size in ways["sizes"].values():
        assert size["fast_ms_a_step"] > 0
        assert size["plain_ms_a_step"] > 0
