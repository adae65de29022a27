"""What each of two processes of torchrun does in the tests of `elimipl.training.team`: train every way.

Starting processes takes longer than all of their work, so they do it in one go.
"""

import os
import sys
from pathlib import Path

import numpy as np
import torch

from elimipl import Config, fit
from elimipl.commands import main as main_of_elimipl
from elimipl.model.losses import mapping_loss
from elimipl.training.team import joined
from tests.elimipl.toy_bags import toy_bags

QUICK = {"hidden": 16, "epochs": 4, "batch": 5}
WAYS = {
    "default": (Config.preset("default", **QUICK), {}),
    "published, one bag a step": (Config.preset("published", hidden=16, epochs=2), {}),
    "paper, float64, clipped": (Config.preset("paper", dtype="float64", clip=1.0, **QUICK), {}),
    "demipl": (Config.preset("default", method="demipl", **QUICK), {}),
    "autograd": (Config.preset("default", **QUICK), {"plain": True}),
    "demipl by autograd": (Config.preset("default", method="demipl", **QUICK), {"plain": True}),
    "a loss over the whole step": (Config.preset("default", **QUICK), {"loss": None}),
    "context": (Config.preset("default", extractor="context", **QUICK), {}),
}
"""Settings by name, and what else is given to `fit`."""


def of_the_whole_step(energies, candidates, weights):
    """No mean over bags: a process that saw only its own bags would go elsewhere."""
    log_p = energies.log_softmax(1)
    return mapping_loss(log_p, weights) + log_p.exp().mean(0).square().sum() + energies.std()


def train(way, **more):
    config, given = WAYS[way]
    if "loss" in given:
        given = {"loss": of_the_whole_step}
    data = toy_bags(m=23)
    return fit(data, config, held_out=toy_bags(m=7, seed=1), device="cpu", **given, **more)


def results(fitted):
    """Parameters, disambiguation weights, loss curve and held-out accuracy as arrays by name."""
    parameters = torch.cat([value.detach().flatten() for value in fitted.network.parameters()])
    return {
        "parameters": parameters.double().numpy(),
        "weights": fitted.weights,
        "losses": np.array([list(report.losses.values()) for report in fitted.history]),
        "held out": np.array([report.held_out_accuracy for report in fitted.history]),
    }


def main(folder):
    with joined("auto") as (part, device):
        assert (part.size, device) == (2, "cpu")
        for way in WAYS:
            np.savez(folder / f"{way} {part.rank}.npz", **results(train(way)))
        stops_after_two = train("default", checkpoint=folder / "two.ckpt", should_stop=lambda: _epochs(2))
        assert len(stops_after_two.history) == 2
        resumed = train("default", checkpoint=folder / "one.ckpt", resume=True)
        np.savez(folder / f"resumed {part.rank}.npz", **results(resumed))
        command_line(folder)


def command_line(folder):
    """What a person would start torchrun with, and what it can't help with."""
    bags, models = str(folder / "bags.safetensors"), str(folder / "models")
    options = ["--hidden", "16", "--epochs", "4", "--batch", "5", "--device", "cpu", "--quiet"]
    assert main_of_elimipl(["train", bags, "--out", models, *options]) == 0
    assert main_of_elimipl(["train", str(folder / "none.safetensors"), "--out", models]) == 2
    assert main_of_elimipl(["evaluate", bags]) == 2


_asked = []


def _epochs(last):
    """Only one process asks to stop; both must."""
    _asked.append(1)
    return len(_asked) >= last and os.environ["RANK"] == "1"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
