"""Losses and attentions of others, registered by a call or by installing a package that names them.

A package names what it brings in its pyproject.toml; it is imported when somebody first looks for it:

    [project.entry-points."elimipl.losses"]
    focal = "my_package:focal_loss"

    [project.entry-points."elimipl.attentions"]
    sharp = "my_package:sharp_attention"
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from bag_generators.base.errors import InputError
from bag_generators.base.plugins import Registry

if TYPE_CHECKING:
    from torch import Tensor

Loss = Callable[..., "Tensor"]
"""loss(energies, candidates, weights) → a scalar, the mean over the B bags of a step.

energies (B, k): what the softmax is taken of, as `torch.nn.functional.cross_entropy` takes it, with a gradient.
candidates (B, k) bool: the candidate set of each bag, never empty. weights (B, k): a distribution on the candidates,
how much training believes in each (eq. 6; 1/|S| for ever with `mapping="average"`). By the names of its arguments a
loss may ask for more (`ASKED_BY_LOSS`).
"""
Attention = Callable[..., "Tensor"]
"""attention(scores) → (N,), what the softmax is taken of within each bag to make the attention of eq. 3.

scores (N,): ξ of eq. 2, of the instances of several bags one after the other. By the names of its arguments it may ask
for more (`ASKED_BY_ATTENTION`). A torch module is copied, and its weights are trained along.
"""

ASKED_BY_LOSS = ("epoch", "epochs", "bag_ids", "attention", "bag_of", "z", "config")
"""epoch: from 1 to epochs; bag_ids (B,): the place of each bag in the data set; attention (n,) of eq. 3, with a
gradient, of all instances of the step, and bag_of (n,), the bag of each, 0 to B − 1; z (B, l) of eq. 4, with a
gradient; config: the settings."""
OF_INSTANCES = ("attention", "bag_of", "z")
"""What is known only where the instances of all bags of a step are read by one process."""
ASKED_BY_ATTENTION = ("h", "bag_of", "bags", "epoch", "epochs", "hidden")
"""h (N, l): the embedded instances of eq. 1; bag_of (N,): the bag of each instance, 0 to bags − 1; epoch: of the
training, from 1, and after it the last one; epochs: how many there will be; hidden: l."""

CLI = "cli"
"""The name of the program's own loss, the conjugate label information of eq. 9."""
OWN_LOSSES = (CLI, "cdl-cc", "cdl-cn", "margin", "margin-batch")
"""The names of the program's losses: after the first, those of `elimipl.model.losses`."""
POOLING = "pooling"
"""The name of the program's own attentions: what the setting `pooling` says."""


def asked_by(function: Callable[..., Any], taken: int, offered: Sequence[str]) -> tuple[str, ...]:
    """Which of the `offered` names a function has among its arguments, after the first `taken`.

    >>> asked_by(lambda energies, candidates, weights, epoch, z: None, 3, ("epoch", "attention", "z"))
    ('epoch', 'z')
    """
    signature = _signature(function)
    if signature is None:
        return ()
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    named = [name for name, one in list(signature.parameters.items())[taken:] if one.kind in by_name]
    return tuple(name for name in offered if name in named)


def checked_loss(loss: Any) -> Loss:
    """`loss`, refused where it can't be called with three arguments and what it asks for."""
    wanted = "Give a function of energies, candidates and weights that returns a scalar."
    return _checked(loss, "a loss", 3, "three arguments", ASKED_BY_LOSS, wanted)


def checked_attention(attention: Any) -> Attention:
    """`attention`, refused where it can't be called with the scores."""
    wanted = "Give a function of the scores (N,) that returns a number for each, of which the softmax is taken."
    return _checked(attention, "an attention", 1, "one argument", ASKED_BY_ATTENTION, wanted)


def _checked(function: Any, what: str, taken: int, count: str, offered: Sequence[str], wanted: str) -> Any:
    if not callable(function):
        raise InputError(f"{function!r} is not {what}.", wanted)
    signature = _signature(function)
    if signature is None:  # not written in Python: whether it fits shows when it is called
        return function
    try:
        signature.bind(*[None] * taken, **dict.fromkeys(asked_by(function, taken, offered)))
    except TypeError:
        name = getattr(function, "__name__", type(function).__name__)
        raise InputError(
            f"The {what.partition(' ')[2]} “{name}” takes {signature}, not {count}.",
            f"{wanted} It may also ask by name for {', '.join(offered)}.",
        ) from None
    return function


def _signature(function: Any) -> inspect.Signature | None:
    try:
        return inspect.signature(getattr(function, "forward", function))  # a module's own call takes anything
    except (TypeError, ValueError):
        return None


LOSSES: Registry[Loss] = Registry("loss", "elimipl.losses", (), checked_loss)
"""Losses beside eq. 9 by name."""
ATTENTIONS: Registry[Attention] = Registry("attention", "elimipl.attentions", (), checked_attention)
"""Attentions beside eq. 3 and DEMIPL's by name."""


def register_loss(name: str, loss: Loss) -> None:
    """Make a loss known: `Config.preset("default", loss=name)` and `train --set loss=name` then train with it.

    >>> register_loss("average", lambda energies, candidates, weights: -(weights * energies.log_softmax(1)).mean())
    >>> "average" in LOSSES
    True
    >>> LOSSES.unregister("average")
    """
    if name in OWN_LOSSES:
        raise InputError(f"There is a loss {name!r} already.", "Choose another name.")
    LOSSES.register(name, loss)


def register_attention(name: str, attention: Attention) -> None:
    """Make an attention known: `Config.preset("default", attention=name)` and `--set attention=name` then use it.

    >>> register_attention("sharp", lambda scores, epoch: scores * epoch)
    >>> "sharp" in ATTENTIONS
    True
    >>> ATTENTIONS.unregister("sharp")
    """
    if name == POOLING:
        raise InputError(f"There is an attention {name!r} already.", "Choose another name.")
    ATTENTIONS.register(name, attention)


def check_loss(name: Any) -> None:
    """Refuse the name of a loss that nobody has registered."""
    if name not in OWN_LOSSES and (not isinstance(name, str) or name not in LOSSES):
        raise InputError(f"There is no loss {name!r}.", f"Choose one of {', '.join((*OWN_LOSSES, *LOSSES))}.")


def check_attention(name: Any) -> None:
    """Refuse the name of an attention that nobody has registered."""
    if name != POOLING and (not isinstance(name, str) or name not in ATTENTIONS):
        raise InputError(
            f"There is no attention {name!r}.",
            f"Choose one of {', '.join((POOLING, *ATTENTIONS))}, or register it with elimipl.register_attention.",
        )
