"""Attentions of others in the place of eq. 3, registered by a call or by installing a package that names them.

A package names what it brings in its pyproject.toml; it is imported when somebody first looks for it:

    [project.entry-points."elimipl.attentions"]
    sharp = "my_package:sharp_attention"
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bag_generators.base.errors import InputError
from bag_generators.base.plugins import Registry
from elimipl.asked_by_name import check_arguments

if TYPE_CHECKING:
    from torch import Tensor

Attention = Callable[..., "Tensor"]
"""attention(scores) → (N,), what the softmax is taken of within each bag to make the attention of eq. 3.

scores (N,): ξ of eq. 2, of the instances of several bags one after the other. By the names of its arguments it may ask
for more (`ASKED`). A torch module is copied, and its weights are trained along.
"""

ASKED = ("h", "bag_of", "bags", "epoch", "epochs", "hidden")
"""h (N, l): the embedded instances of eq. 1; bag_of (N,): the bag of each instance, 0 to bags − 1; epoch: of the
training, from 1, and after it the last one; epochs: how many there will be; hidden: l."""

POOLING = "pooling"
"""The name of the program's own attentions: what the setting `pooling` says."""
_WANTED = "Give a function of the scores (N,) that returns a number for each, of which the softmax is taken."


def checked_attention(attention: Any) -> Attention:
    """`attention`, refused where it can't be called with the scores."""
    check_arguments(attention, "attention", ("scores",), ASKED, _WANTED)
    checked: Attention = attention
    return checked


ATTENTIONS: Registry[Attention] = Registry("attention", "elimipl.attentions", (), checked_attention)
"""Attentions beside eq. 3 and DEMIPL's by name."""


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


def check_attention(name: Any) -> None:
    """Refuse the name of an attention that nobody has registered."""
    if name != POOLING and (not isinstance(name, str) or name not in ATTENTIONS):
        raise InputError(
            f"There is no attention {name!r}.",
            f"Choose one of {', '.join((POOLING, *ATTENTIONS))}, or register it with elimipl.register_attention.",
        )
