"""One way to choose a generator, a label space and a method, on every page."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bag_generators import GENERATORS
from elimipl.candidates.labels import LabelSpace
from elimipl.cards.files import SUCCESSORS
from elimipl.methods import METHODS, network_methods
from elimipl_app.shell import choices, texts

DEFAULT_GENERATOR = "sbn"
_ABLATED = ("MA", "MA+SP", "MA+IN", "CE-SP-IN", "CE", "DAM-CLI", "ELIMIPL-unscaled", "ELIMIPL-kept")
FIRST_SPACES = ("colon", "tissue7")
"""Label spaces that are chosen at first, the first one that is there."""


def choose_generator(
    key: str,
    label: str = texts.GENERATOR_HEADING,
    among: Sequence[str] | None = None,
    default: str = DEFAULT_GENERATOR,
    **look: Any,
) -> str:
    """Name of a generator: of any that is registered, or of those in `among`."""
    names = list(GENERATORS if among is None else among)
    start = default if default in names else names[0]
    return choices.one_of(label, names, key, start, lambda name: GENERATORS[name].title, **look)


def choose_space(key: str, spaces: Mapping[str, LabelSpace]) -> str:
    """Id of a label space."""

    offered = sorted(spaces, key=lambda space: FIRST_SPACES.index(space) if space in FIRST_SPACES else len(spaces))

    def title(space: str) -> str:
        return texts.SPACE_TITLES.get(space, space)

    return choices.one_of(
        "Label space",
        offered,
        key,
        offered[0],
        title,
        gone={old: texts.succeeded_by(title(new)) for old, new in (SUCCESSORS | texts.OLD_SPACE_TITLES).items()},
        help=texts.SPACE_HELP,
    )


def choose_method(
    key: str,
    methods: Sequence[str],
    label: str = "Method",
    default: str | None = None,
    title: Callable[[str], str] = str,
    shape: choices.Shape = "list",
    **look: Any,
) -> str:
    """Name of a method."""
    return choices.one_of(label, methods, key, default, title, shape, **look)


def choose_trainable(key: str, label: str, default: str, **look: Any) -> str:
    """Name of a multi-instance method to train: the paper's, those since, variants of both, registered ones.

    Some of them are no networks, which `elimipl.methods.training_config` refuses with the reason.
    """
    networks = network_methods()
    listed = [name for name in METHODS if METHODS[name].family == "MIPL" and name != "ELIMIPL-entropy"]
    names = sorted(listed, key=lambda name: (_GROUPS.index(_group(name)), name not in networks))
    return choose_method(key, names, label, default, lambda name: f"{name} · {_group(name)}", **look)


_GROUPS = ("the paper’s", "since", "variant", "registered")


def _group(method: str) -> str:
    if method in METHODS.added:
        return "registered"
    if method in _ABLATED or method.endswith(("-sigmoid", "-batch", "-published")):
        return "variant"
    return "the paper’s" if method in ("ELIMIPL", "DEMIPL", "MIPLGP") else "since"
