"""One gradient step, in two ways that agree: written out by hand, and left to torch.

`FastSteps` is the only user of the hand-written derivatives (`model.embedding`, `model.attention`, `loss_gradient`)
and of `FlatSGD`. `PlainSteps` is autograd and `torch.optim.SGD` on the equations as printed: it trains any extractor
and any loss, and tests hold the fast way against it. How many times faster the fast way is: `fast_against_plain` in
benchmarks/results/training.json, measured by benchmarks/bench_training.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor

from bag_generators.base.errors import InputError
from elimipl.config import Config
from elimipl.model.batching import Batch
from elimipl.model.embedding import Draws
from elimipl.model.losses import attention_entropy, attention_entropy_gradient, cli_loss, loss_gradient, loss_values
from elimipl.model.network import BagOutputs, Network
from elimipl.registries import ASKED_BY_LOSS, Loss, asked_by


class Moment(NamedTuple):
    """Where training stands: the epoch from 1 on, and the place in the data set of each of the B bags of a step."""

    epoch: int
    bag_ids: Tensor  # (B,) int64


AddUp = Callable[[Sequence[Tensor]], None]
"""Adds to gradients, in place, what other processes have found."""


class Steps(ABC):
    """How a network is moved, by eq. 9 or another `loss`."""

    def __init__(self, network: Network, config: Config, loss: Loss | None = None, add_up: AddUp | None = None) -> None:
        self._network, self._config, self._loss, self._add_up = network, config, loss, add_up
        self._bags, self._sum = 0, 0.0  # of another loss, over the bags of the epoch

    @contextmanager
    def epoch(self, seed: int, features: bool = False) -> Iterator[None]:
        """Surrounds the steps of one epoch; those on `features` of ψ1 leave it as it is."""
        self._bags, self._sum = 0, 0.0
        self._network.extracts = not features
        try:
            yield
        finally:
            self._network.extracts = True

    @abstractmethod
    def outputs(self, batch: Batch, generator: Draws) -> BagOutputs:
        """What the network says about the bags of a batch, while training."""

    @abstractmethod
    def descend(self, out: BagOutputs, batch: Batch, candidates: Tensor, weights: Tensor, moment: Moment) -> None:
        """Move every parameter downhill; candidates and weights (B, k)."""

    @abstractmethod
    def tensors(self) -> dict[str, Tensor]:
        """Everything that steps have moved so far; the tensors themselves, not copies."""

    def losses(self, energies: Tensor, scores: Tensor, candidates: Tensor, weights: Tensor) -> dict[str, float]:
        """The parts of eq. 9; of another loss the mean over the epoch's bags, with the attention entropy if in use."""
        if self._loss is None:
            return loss_values(energies, scores, candidates, weights, self._config)
        total, share = self._sum / self._bags, self._config.attention_entropy
        if share == 0:
            return {"total": total}
        attention = float(attention_entropy(scores, len(energies)))
        return {"attention": attention, "total": total + share * attention}

    def _note(self, value: Tensor, bags: int) -> None:
        """The loss of one step, a mean over its bags."""
        self._bags, self._sum = self._bags + bags, self._sum + float(value.detach()) * bags


class FlatSGD:
    """The SGD of `torch.optim` (momentum, Nesterov, weight decay) and gradient clipping, on one vector.

    The parameters of the network become views of `parameters`, so both always hold the same numbers.
    """

    def __init__(self, network: Network, config: Config, add_up: AddUp | None) -> None:
        self._network, self._config, self._add_up = network, config, add_up
        self._views = list(network.parameters())  # those of the extractor are the first
        self._of_extractor = len(list(network.extractor.parameters()))
        self.parameters = torch.cat([view.detach().flatten() for view in self._views])
        self.velocity = torch.zeros_like(self.parameters)
        parts = self.parameters.split([view.numel() for view in self._views])
        for view, part in zip(self._views, parts, strict=True):
            view.data = part.view_as(view)

    def step(self, outputs: Sequence[Tensor], gradients_of_loss: Sequence[Tensor], lr: float) -> None:
        """Move every parameter downhill, given the derivatives of the loss by some outputs of the network."""
        views, parameters, velocity = self._views, self.parameters, self.velocity
        if not self._network.extracts:
            views = views[self._of_extractor :]
            start = len(parameters) - sum(view.numel() for view in views)
            parameters, velocity = parameters[start:], velocity[start:]
        gradients = torch.autograd.grad(outputs, views, gradients_of_loss)
        gradient = torch.cat([part.reshape(-1) for part in gradients])
        if self._add_up is not None:
            self._add_up([gradient])
        config = self._config
        if config.clip > 0:
            gradient.mul_((config.clip / gradient.norm()).clamp_(max=1))
        gradient.add_(parameters, alpha=config.weight_decay)
        velocity.mul_(config.momentum).add_(gradient)
        direction = gradient.add_(velocity, alpha=config.momentum) if config.nesterov else velocity
        parameters.sub_(direction, alpha=lr)


class FastSteps(Steps):
    """Eq. 9 on the program's own extractors, with derivatives written out by hand.

    With a `loss` of the energies and the settings, its derivative by the energies comes from autograd and the rest as
    before.
    """

    def __init__(self, network: Network, config: Config, loss: Loss | None = None, add_up: AddUp | None = None) -> None:
        super().__init__(network, config, loss, add_up)
        self._optimizer = FlatSGD(network, config, add_up)

    def outputs(self, batch: Batch, generator: Draws) -> BagOutputs:
        """The fused forward pass."""
        out: BagOutputs = self._network(batch.x, batch.bag_of, batch.bags, generator)
        return out

    def descend(self, out: BagOutputs, batch: Batch, candidates: Tensor, weights: Tensor, moment: Moment) -> None:
        """One step from the derivatives by energies and scores."""
        outputs, gradients = [out.energies], [self._slope(out.energies.detach(), candidates, weights)]
        if self._config.attention_entropy > 0:
            outputs.append(out.scores)
            slope = attention_entropy_gradient(out.scores.detach(), len(candidates))
            gradients.append(slope * self._config.attention_entropy)
        self._optimizer.step(outputs, gradients, self._config.learning_rate(moment.epoch))

    def _slope(self, energies: Tensor, candidates: Tensor, weights: Tensor) -> Tensor:
        """Derivative of the loss by the energies, (B, k)."""
        if self._loss is None:
            return loss_gradient(energies, candidates, weights, self._config)
        leaf = energies.detach().requires_grad_()
        value = self._loss(leaf, candidates, weights, config=self._config)
        self._note(value, len(candidates))
        return torch.autograd.grad(value, leaf)[0]

    def tensors(self) -> dict[str, Tensor]:
        """Two flat vectors."""
        return {"parameters": self._optimizer.parameters, "velocity": self._optimizer.velocity}


class PlainSteps(Steps):
    """Any loss on any extractor: autograd and `torch.optim.SGD`; eq. 9 where no `loss` is given.

    DEMIPL's attention entropy is added to any loss if the settings give it a weight.
    """

    def __init__(self, network: Network, config: Config, loss: Loss | None = None, add_up: AddUp | None = None) -> None:
        super().__init__(network, config, loss, add_up)
        self._asked = () if loss is None else asked_by(loss, 3, ASKED_BY_LOSS)
        self._moved = {name: value for name, value in network.named_parameters() if value.requires_grad}
        self._optimizer = torch.optim.SGD(
            self._moved.values(), config.lr, config.momentum, weight_decay=config.weight_decay, nesterov=config.nesterov
        )
        if config.momentum > 0:  # made now, so that a checkpoint can be read into them before the first step
            for parameter in self._moved.values():
                self._optimizer.state[parameter]["momentum_buffer"] = torch.zeros_like(parameter)

    @contextmanager
    def epoch(self, seed: int, features: bool = False) -> Iterator[None]:
        """Layers of others may draw from torch's common generator: it is seeded here, and as before afterwards."""
        device = self._network.embed.weight.device
        self._network.train()
        with super().epoch(seed, features), torch.random.fork_rng([device] if device.type == "cuda" else []):
            torch.manual_seed(seed)
            yield

    def outputs(self, batch: Batch, generator: Draws) -> BagOutputs:
        """The equations as printed."""
        with torch.autocast(batch.x.device.type, torch.bfloat16, enabled=self._config.amp):
            return self._network.as_printed(batch.x, batch.bag_of, batch.bags, generator)

    def descend(self, out: BagOutputs, batch: Batch, candidates: Tensor, weights: Tensor, moment: Moment) -> None:
        """One step of `torch.optim.SGD`."""
        constant = weights.clone()  # the loop goes on moving its own
        if self._loss is None:
            value = cli_loss(out.energies, candidates, constant, self._config)
        else:
            value = _scalar(self._loss(out.energies, candidates, constant, **self._given(out, batch, moment)))
            self._note(value, len(candidates))
        if self._config.attention_entropy > 0:
            value = value + self._config.attention_entropy * attention_entropy(out.scores, len(candidates))
        self._optimizer.param_groups[0]["lr"] = self._config.learning_rate(moment.epoch)
        self._optimizer.zero_grad()
        value.backward()
        if self._add_up is not None:
            self._add_up([one.grad for one in self._moved.values() if one.grad is not None])
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


def _scalar(value: object) -> Tensor:
    """What a loss of others gave, if one can go downhill on it."""
    if not isinstance(value, Tensor) or value.numel() != 1:
        found = f"the shape {tuple(value.shape)}" if isinstance(value, Tensor) else f"a {type(value).__name__}"
        raise InputError(f"The loss gave {found}, not one number.", "Return the mean over the bags as a tensor.")
    if not value.requires_grad:
        raise InputError("The loss doesn't depend on the energies.", "Compute it with torch, from its first argument.")
    return value.reshape(())
