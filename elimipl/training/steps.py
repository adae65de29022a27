"""One gradient step, in two ways that agree: written out by hand, and left to torch.

`FastSteps` is the only user of the hand-written derivatives (`model.embedding`, `model.attention`, `loss_gradient`)
and of `FlatSGD`. `PlainSteps` is autograd and `torch.optim.SGD` on the equations as printed: it trains any extractor
and any loss, and tests hold the fast way against it. How many times faster the fast way is: `fast_against_plain` in
benchmarks/results/training.json, measured by benchmarks/bench_training.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol

import torch
from torch import Tensor

from bag_generators.errors import InputError
from elimipl.config import Config
from elimipl.loss_registry import Loss
from elimipl.model.batching import Batch
from elimipl.model.losses import attention_entropy, attention_entropy_gradient, cli_loss, loss_gradient, loss_values
from elimipl.model.network import BagOutputs, Network
from elimipl.training.optimizer import FlatSGD


class Steps(Protocol):
    """How a network is moved."""

    def epoch(self, seed: int) -> AbstractContextManager[None]:
        """Surrounds the steps of one epoch."""

    def outputs(self, batch: Batch, bags: int, generator: torch.Generator) -> BagOutputs:
        """What the network says about a batch while training."""

    def descend(self, out: BagOutputs, candidates: Tensor, weights: Tensor, lr: float) -> None:
        """Move every parameter downhill; candidates and weights (B, k)."""

    def losses(self, energies: Tensor, scores: Tensor, candidates: Tensor, weights: Tensor) -> dict[str, float]:
        """The parts of the loss over all bags of the epoch that ends, and their total."""

    def tensors(self) -> dict[str, Tensor]:
        """Everything that steps have moved so far; the tensors themselves, not copies."""


class FastSteps:
    """Eq. 9 on the program's own extractors, with derivatives written out by hand."""

    def __init__(self, network: Network, config: Config) -> None:
        self._network, self._config = network, config
        self._optimizer = FlatSGD(network, config.momentum, config.nesterov, config.weight_decay, config.clip)

    def epoch(self, seed: int) -> AbstractContextManager[None]:
        """Nothing here depends on more than the generator of the epoch."""
        return nullcontext()

    def outputs(self, batch: Batch, bags: int, generator: torch.Generator) -> BagOutputs:
        """The fused forward pass."""
        out: BagOutputs = self._network(batch.x, batch.bag_of, bags, generator)
        return out

    def descend(self, out: BagOutputs, candidates: Tensor, weights: Tensor, lr: float) -> None:
        """One step from the derivatives by energies and scores."""
        outputs = [out.energies]
        gradients = [loss_gradient(out.energies, candidates, weights, self._config)]
        if self._config.attention_entropy > 0:
            outputs.append(out.scores)
            slope = attention_entropy_gradient(out.scores.detach(), len(candidates))
            gradients.append(slope * self._config.attention_entropy)
        self._optimizer.step(outputs, gradients, lr)

    def losses(self, energies: Tensor, scores: Tensor, candidates: Tensor, weights: Tensor) -> dict[str, float]:
        """The parts of eq. 9."""
        return loss_values(energies, scores, candidates, weights, self._config)

    def tensors(self) -> dict[str, Tensor]:
        """Two flat vectors."""
        return {"parameters": self._optimizer.parameters, "velocity": self._optimizer.velocity}


class PlainSteps:
    """Any loss on any extractor: autograd and `torch.optim.SGD`; eq. 9 where no `loss` is given.

    DEMIPL's attention entropy is added to any loss if the settings give it a weight.
    """

    def __init__(self, network: Network, config: Config, loss: Loss | None = None) -> None:
        self._network, self._config, self._loss = network, config, loss
        self._moved = {name: value for name, value in network.named_parameters() if value.requires_grad}
        self._optimizer = torch.optim.SGD(
            self._moved.values(), config.lr, config.momentum, weight_decay=config.weight_decay, nesterov=config.nesterov
        )
        if config.momentum > 0:  # made now, so that a checkpoint can be read into them before the first step
            for parameter in self._moved.values():
                self._optimizer.state[parameter]["momentum_buffer"] = torch.zeros_like(parameter)
        self._bags, self._sum = 0, 0.0

    @contextmanager
    def epoch(self, seed: int) -> Iterator[None]:
        """Layers of others may draw from torch's common generator: it is seeded here, and as before afterwards."""
        device = self._network.embed.weight.device
        self._network.train()
        self._bags, self._sum = 0, 0.0
        with torch.random.fork_rng([device] if device.type == "cuda" else []):
            torch.manual_seed(seed)
            yield

    def outputs(self, batch: Batch, bags: int, generator: torch.Generator) -> BagOutputs:
        """The equations as printed."""
        return self._network.as_printed(batch.x, batch.bag_of, bags, generator)

    def descend(self, out: BagOutputs, candidates: Tensor, weights: Tensor, lr: float) -> None:
        """One step of `torch.optim.SGD`."""
        constant = weights.clone()  # the loop goes on moving its own
        if self._loss is None:
            value = cli_loss(out.energies, candidates, constant, self._config)
        else:
            value = _scalar(self._loss(out.energies, candidates, constant))
            self._bags, self._sum = self._bags + len(candidates), self._sum + float(value.detach()) * len(candidates)
        if self._config.attention_entropy > 0:
            value = value + self._config.attention_entropy * attention_entropy(out.scores, len(candidates))
        self._optimizer.param_groups[0]["lr"] = lr
        self._optimizer.zero_grad()
        value.backward()
        if self._config.clip > 0:
            torch.nn.utils.clip_grad_norm_(self._moved.values(), self._config.clip)
        self._optimizer.step()

    def losses(self, energies: Tensor, scores: Tensor, candidates: Tensor, weights: Tensor) -> dict[str, float]:
        """The parts of eq. 9; of another loss the mean over the epoch's bags, with the attention entropy if in use."""
        if self._loss is None:
            return loss_values(energies, scores, candidates, weights, self._config)
        total, share = self._sum / self._bags, self._config.attention_entropy
        if share == 0:
            return {"total": total}
        attention = float(attention_entropy(scores, len(energies)))
        return {"attention": attention, "total": total + share * attention}

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
