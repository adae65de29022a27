"""Functions of others that may ask for more than they must take: whatever they name as an argument, they are given."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from bag_generators.base.errors import InputError


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


def check_arguments(function: Any, what: str, taken: Sequence[str], offered: Sequence[str], wanted: str) -> None:
    """Refuse what can't be called with the arguments `taken` and those it asks for among the `offered`."""
    if not callable(function):
        raise InputError(f"{function!r} is not {_an(what)}.", wanted)
    signature = _signature(function)
    if signature is None:  # not written in Python: whether it fits shows when it is called
        return
    try:
        signature.bind(*(None for _ in taken), **dict.fromkeys(asked_by(function, len(taken), offered)))
    except TypeError:
        name = getattr(function, "__name__", type(function).__name__)
        count = {1: "one argument", 3: "three arguments"}[len(taken)]
        raise InputError(
            f"The {what} “{name}” takes {signature}, not {count}.",
            f"{wanted} It may also ask by name for {', '.join(offered)}.",
        ) from None


def _signature(function: Any) -> inspect.Signature | None:
    try:
        return inspect.signature(getattr(function, "forward", function))  # a module's own call takes anything
    except (TypeError, ValueError):
        return None


def _an(what: str) -> str:
    return f"an {what}" if what[0] in "aeiou" else f"a {what}"
