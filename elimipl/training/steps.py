"""One gradient step, in two ways that agree: written out by hand, and left to torch.

`FastSteps` is the only user of the hand-written derivatives (`model.embedding`, `model.attention`, `loss_gradient`)
and of `FlatSGD`. `PlainSteps` is autograd and `torch.optim.SGD` on the equations as printed: it trains any extractor
and any loss, and tests hold the fast way against it. How many times faster the fast way is: `fast_against_plain` in
benchmarks/results/training.json, measured by benchmarks/bench_training.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from bag_generators.errors import InputError
from elimipl.asked_by_name import asked_by
from elimipl.config import Config
from elimipl.loss_registry import ASKED, OF_INSTANCES, Loss
from elimipl.model.batching import Batch
from elimipl.model.embedding import Among
from elimipl.model.losses import attention_entropy, attention_entropy_gradient, cli_loss, loss_gradient, loss_values
from elimipl.model.network import BagOutputs, Network
from elimipl.training.optimizer import FlatSGD
from elimipl.training.team import Team


class Moment(NamedTuple):
    """Where training stands: the epoch from 1 on, and the place in the data set of each of the B bags of a step."""

    epoch: int
    bag_ids: Tensor  # (B,) int64


class Steps(Protocol):
    """How a network is moved."""

    def epoch(self, seed: int) -> AbstractContextManager[None]:
        """Surrounds the steps of one epoch."""

    def outputs(self, batch: Batch, generator: torch.Generator) -> BagOutputs:
        """What the network says about the bags of a batch that are read here, while training."""

    def descend(
        self, out: BagOutputs, energies: Tensor, batch: Batch, candidates: Tensor, weights: Tensor, moment: Moment
    ) -> None:
        """Move every parameter downhill; energies, candidates and weights (B, k) of the whole step."""

    def losses(self, energies: Tensor, scores: Tensor, candidates: Tensor, weights: Tensor) -> dict[str, float]:
        """The parts of the loss over all bags of the epoch that ends, and their total."""

    def tensors(self) -> dict[str, Tensor]:
        """Everything that steps have moved so far; the tensors themselves, not copies."""


class FastSteps:
    """Eq. 9 on the program's own extractors, with derivatives written out by hand.

    With a `loss` of the energies and the settings, its derivative by the energies comes from autograd and the rest as
    before.
    """

    def __init__(self, network: Network, config: Config, team: Team, loss: Loss | None = None) -> None:
        self._network, self._config, self._team, self._loss = network, config, team, loss
        self._mean = _Mean()
        self._optimizer = FlatSGD(network, config.momentum, config.nesterov, config.weight_decay, config.clip)

    def epoch(self, seed: int) -> AbstractContextManager[None]:
        """Nothing here depends on more than the generator of the epoch."""
        self._mean = _Mean()
        return nullcontext()

    def outputs(self, batch: Batch, generator: torch.Generator) -> BagOutputs:
        """The fused forward pass."""
        out: BagOutputs = self._network(batch.x, batch.bag_of, batch.bags_here, generator, _place(batch))
        return out

    def descend(
        self, out: BagOutputs, energies: Tensor, batch: Batch, candidates: Tensor, weights: Tensor, moment: Moment
    ) -> None:
        """One step from the derivatives by energies and scores."""
        outputs = [out.energies]
        gradients = [self._slope(energies, candidates, weights)[batch.here]]
        if self._config.attention_entropy > 0:
            outputs.append(out.scores)
            slope = attention_entropy_gradient(out.scores.detach(), len(candidates))
            gradients.append(slope * self._config.attention_entropy)
        lr = self._config.learning_rate(moment.epoch)
        self._optimizer.step(outputs, gradients, lr, None if self._team.alone else self._team.sum_)

    def _slope(self, energies: Tensor, candidates: Tensor, weights: Tensor) -> Tensor:
        """Derivative of the loss by the energies, (B, k)."""
        if self._loss is None:
            return loss_gradient(energies, candidates, weights, self._config)
        leaf = energies.detach().requires_grad_()
        value = self._loss(leaf, candidates, weights, config=self._config)
        self._mean.add(value, len(candidates))
        return torch.autograd.grad(value, leaf)[0]

    def losses(self, energies: Tensor, scores: Tensor, candidates: Tensor, weights: Tensor) -> dict[str, float]:
        """The parts of eq. 9; of another loss the mean over the epoch's bags."""
        if self._loss is None:
            return loss_values(energies, scores, candidates, weights, self._config)
        return self._mean.with_attention(scores, len(energies), self._config)

    def tensors(self) -> dict[str, Tensor]:
        """Two flat vectors."""
        return {"parameters": self._optimizer.parameters, "velocity": self._optimizer.velocity}


class PlainSteps:
    """Any loss on any extractor: autograd and `torch.optim.SGD`; eq. 9 where no `loss` is given.

    DEMIPL's attention entropy is added to any loss if the settings give it a weight. A loss sees all bags of a step,
    also those that other processes read. Layers of others see those read here: what they draw, or average over a
    step, depends on the number of processes.
    """

    def __init__(self, network: Network, config: Config, team: Team, loss: Loss | None = None) -> None:
        self._network, self._config, self._team, self._loss = network, config, team, loss
        self._asked = () if loss is None else asked_by(loss, 3, ASKED)
        if not team.alone and (unknown := [name for name in self._asked if name in OF_INSTANCES]):
            raise InputError(
                f"The loss asks for {unknown[0]}, which processes that share a step know in parts only.",
                "Train with one process.",
            )
        self._moved = {name: value for name, value in network.named_parameters() if value.requires_grad}
        self._optimizer = torch.optim.SGD(
            self._moved.values(), config.lr, config.momentum, weight_decay=config.weight_decay, nesterov=config.nesterov
        )
        if config.momentum > 0:  # made now, so that a checkpoint can be read into them before the first step
            for parameter in self._moved.values():
                self._optimizer.state[parameter]["momentum_buffer"] = torch.zeros_like(parameter)
        self._mean = _Mean()

    @contextmanager
    def epoch(self, seed: int) -> Iterator[None]:
        """Layers of others may draw from torch's common generator: it is seeded here, and as before afterwards."""
        device = self._network.embed.weight.device
        self._network.train()
        self._mean = _Mean()
        with torch.random.fork_rng([device] if device.type == "cuda" else []):
            torch.manual_seed(seed)
            yield

    def outputs(self, batch: Batch, generator: torch.Generator) -> BagOutputs:
        """The equations as printed."""
        with torch.autocast(batch.x.device.type, torch.bfloat16, enabled=self._config.amp):
            return self._network.as_printed(batch.x, batch.bag_of, batch.bags_here, generator, _place(batch))

    def descend(
        self, out: BagOutputs, energies: Tensor, batch: Batch, candidates: Tensor, weights: Tensor, moment: Moment
    ) -> None:
        """One step of `torch.optim.SGD`."""
        constant = weights.clone()  # the loop goes on moving its own
        if self._team.alone:
            energies = out.energies
        else:
            energies = energies.clone()
            energies[batch.here] = out.energies  # the others' are constants: each process brings the slope of its own
        if self._loss is None:
            value = cli_loss(energies, candidates, constant, self._config)
        else:
            value = _scalar(self._loss(energies, candidates, constant, **self._given(out, batch, moment)))
            self._mean.add(value, len(candidates))
        if self._config.attention_entropy > 0:
            value = value + self._config.attention_entropy * attention_entropy(out.scores, len(candidates))
        self._optimizer.param_groups[0]["lr"] = self._config.learning_rate(moment.epoch)
        self._optimizer.zero_grad()
        value.backward()
        self._sum_gradients()
        if self._config.clip > 0:
            torch.nn.utils.clip_grad_norm_(self._moved.values(), self._config.clip)
        self._optimizer.step()

    def _given(self, out: BagOutputs, batch: Batch, moment: Moment) -> dict[str, Any]:
        """What the loss asks for."""
        offered: dict[str, Any] = {
            "epoch": moment.epoch,
            "epochs": self._config.epochs,
            "bag_ids": moment.bag_ids,
            "attention": out.attention,
            "bag_of": batch.bag_of,
            "z": out.embeddings,
            "config": self._config,
        }
        return {name: offered[name] for name in self._asked}

    def _sum_gradients(self) -> None:
        """Add up what the processes found, in one message."""
        if self._team.alone:
            return
        found = [parameter.grad for parameter in self._moved.values() if parameter.grad is not None]
        summed = self._team.sum_(torch.cat([gradient.flatten() for gradient in found]))
        for gradient, part in zip(found, summed.split([gradient.numel() for gradient in found]), strict=True):
            gradient.copy_(part.view_as(gradient))

    def losses(self, energies: Tensor, scores: Tensor, candidates: Tensor, weights: Tensor) -> dict[str, float]:
        """The parts of eq. 9; of another loss the mean over the epoch's bags, with the attention entropy if in use."""
        if self._loss is None:
            return loss_values(energies, scores, candidates, weights, self._config)
        return self._mean.with_attention(scores, len(energies), self._config)

    def tensors(self) -> dict[str, Tensor]:
        """The network's parameters and buffers and, with momentum, the velocity of each parameter."""
        state = {f"network.{name}": value for name, value in self._network.state_dict().items()}
        if self._config.momentum == 0:
            return state
        velocity = {
            f"velocity.{name}": self._optimizer.state[parameter]["momentum_buffer"]
            for name, parameter in self._moved.items()
        }
        return state | velocity


class _Mean:
    """The mean of a loss over the bags of an epoch."""

    def __init__(self) -> None:
        self._bags, self._sum = 0, 0.0

    def add(self, value: Tensor, bags: int) -> None:
        """The loss of one step, a mean over its bags."""
        self._bags, self._sum = self._bags + bags, self._sum + float(value.detach()) * bags

    def with_attention(self, scores: Tensor, bags: int, config: Config) -> dict[str, float]:
        """The total, with DEMIPL's attention entropy if it is in use."""
        total, share = self._sum / self._bags, config.attention_entropy
        if share == 0:
            return {"total": total}
        attention = float(attention_entropy(scores, bags))
        return {"attention": attention, "total": total + share * attention}


def _place(batch: Batch) -> Among | None:
    """Where the instances read here stand in the step; None where they are all of it."""
    total = batch.rows.stop - batch.rows.start
    return None if len(batch.x) == total else Among(batch.rows_here.start, total)


def _scalar(value: object) -> Tensor:
    """What a loss of others gave, if one can go downhill on it."""
    if not isinstance(value, Tensor) or value.numel() != 1:
        found = f"the shape {tuple(value.shape)}" if isinstance(value, Tensor) else f"a {type(value).__name__}"
        raise InputError(f"The loss gave {found}, not one number.", "Return the mean over the bags as a tensor.")
    if not value.requires_grad:
        raise InputError("The loss doesn't depend on the energies.", "Compute it with torch, from its first argument.")
    return value.reshape(())
