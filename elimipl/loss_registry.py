"""Losses of others, registered by a call or by installing a package that names them.

A package names what it brings in its pyproject.toml; it is imported when somebody first looks for it:

    [project.entry-points."elimipl.losses"]
    focal = "my_package:focal_loss"
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bag_generators.base.errors import InputError
from bag_generators.base.plugins import Registry
from elimipl.asked_by_name import check_arguments

if TYPE_CHECKING:
    from torch import Tensor

Loss = Callable[..., "Tensor"]
"""loss(energies, candidates, weights) → a scalar, the mean over the B bags of a step.

energies (B, k): what the softmax is taken of, as `torch.nn.functional.cross_entropy` takes it, with a gradient.
candidates (B, k) bool: the candidate set of each bag, never empty. weights (B, k): a distribution on the candidates,
how much training believes in each (eq. 6; 1/|S| for ever with `mapping="average"`). By the names of its arguments a
loss may ask for more (`ASKED`).
"""

ASKED = ("epoch", "epochs", "bag_ids", "attention", "bag_of", "z", "config")
"""epoch: from 1 to epochs; bag_ids (B,): the place of each bag in the data set; attention (n,) of eq. 3, with a
gradient, of all instances of the step, and bag_of (n,), the bag of each, 0 to B − 1; z (B, l) of eq. 4, with a
gradient; config: the settings."""
OF_INSTANCES = ("attention", "bag_of", "z")
"""What is known only where the instances of all bags of a step are read by one process."""

CLI = "cli"
"""The name of the program's own loss, the conjugate label information of eq. 9."""


OWN = ("cdl-cc", "cdl-cn", "margin", "margin-batch")
"""The names of the losses of ELIMIPL's successors (`elimipl.model.margin_losses`)."""


def checked_loss(loss: Any) -> Loss:
    """`loss`, refused where it can't be called with three arguments and what it asks for."""
    wanted = "Give a function of energies, candidates and weights that returns a scalar."
    check_arguments(loss, "loss", ("energies", "candidates", "weights"), ASKED, wanted)
    checked: Loss = loss
    return checked


LOSSES: Registry[Loss] = Registry("loss", "elimipl.losses", (), checked_loss)
"""Losses beside eq. 9 by name."""


def register_loss(name: str, loss: Loss) -> None:
    """Make a loss known: `Config.preset("default", loss=name)` and `train --set loss=name` then train with it.

    >>> register_loss("average", lambda energies, candidates, weights: -(weights * energies.log_softmax(1)).mean())
    >>> "average" in LOSSES
    True
    >>> LOSSES.unregister("average")
    """
    if name in (CLI, *OWN):
        raise InputError(f"There is a loss {name!r} already.", "Choose another name.")
    LOSSES.register(name, loss)


def check_loss(name: Any) -> None:
    """Refuse the name of a loss that nobody has registered."""
    if name not in (CLI, *OWN) and (not isinstance(name, str) or name not in LOSSES):
        raise InputError(f"There is no loss {name!r}.", f"Choose one of {', '.join((CLI, *OWN, *LOSSES))}.")
