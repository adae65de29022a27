"""One way to choose a generator, a label space and a method, on every page."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bag_generators import GENERATORS
from elimipl.labels import LabelSpace
from ui.frame import choices, texts

DEFAULT_GENERATOR = "sbn"


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
    """Id of a label space; the last one at first."""
    return choices.one_of(
        texts.SPACE_LABEL,
        list(spaces),
        key,
        list(spaces)[-1],
        lambda name: texts.SPACE_TITLES.get(name, name),
        help=texts.SPACE_HELP,
    )


def choose_method(
    key: str,
    methods: Sequence[str],
    label: str = texts.METHOD_LABEL,
    default: str | None = None,
    title: Callable[[str], str] = str,
    shape: choices.Shape = "list",
    **look: Any,
) -> str:
    """Name of a method."""
    return choices.one_of(label, methods, key, default, title, shape, **look)
