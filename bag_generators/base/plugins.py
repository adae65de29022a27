"""Things by name that others may add: by a call, or by installing a package that names them in its entry points."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import entry_points
from threading import RLock
from typing import Any, Generic, TypeVar

from bag_generators.base.errors import InputError

T = TypeVar("T")


class Registry(Mapping[str, T], Generic[T]):
    """Things by name: those of the program, those registered by a call, then those of installed packages.

    A package that can't be used is left out with one sentence, as a warning and in `problems`.
    """

    def __init__(self, what: str, group: str, built_in: Iterable[tuple[str, T]], check: Callable[[Any], T]) -> None:
        """`check` gives back what may be registered and refuses everything else with an `InputError`."""
        self.what, self.group = what, group
        self._problems: list[InputError] = []
        self._check, self._things = check, dict(built_in)
        self._built_in = tuple(self._things)
        self._looked = False
        self._lock = RLock()  # pages of several visitors may be the first to look

    def register(self, name: str, thing: T) -> None:
        """Add something under a name that is free."""
        if not isinstance(name, str) or not name.isprintable() or not 1 <= len(name.strip()) <= 100:
            raise InputError(f"{name!r} can't name a {self.what}.", "Give a name of 1 to 100 characters.")
        if name in self._things:
            raise InputError(f"There is a {self.what} {name!r} already.", "Choose another name.")
        with self._lock:
            self._things[name] = self._check(thing)

    def unregister(self, name: str) -> None:
        """Forget something that was registered by a call."""
        if name not in self._things or name in self._built_in:
            raise InputError(f"No {self.what} {name!r} was registered.", "Check the name.")
        del self._things[name]

    @property
    def added(self) -> tuple[str, ...]:
        """The names of what is not part of the program."""
        return tuple(name for name in self if name not in self._built_in)

    @property
    def problems(self) -> tuple[InputError, ...]:
        """What is wrong with installed packages whose thing can't be used, a sentence each."""
        self._look()
        return tuple(self._problems)

    def __getitem__(self, name: str) -> T:
        if name not in self._things:
            self._look()
        return self._things[name]

    def __iter__(self) -> Iterator[str]:
        self._look()
        return iter(tuple(self._things))

    def __len__(self) -> int:
        self._look()
        return len(self._things)

    def _look(self) -> None:
        """Import what installed packages bring, once."""
        with self._lock:
            if self._looked:
                return
            self._looked = True
            for entry in entry_points(group=self.group):
                try:
                    thing = entry.load()
                    self.register(getattr(thing, "name", entry.name), thing)
                except Exception as error:  # whatever a stranger's code does, the others work
                    why = str(error).rstrip(".") or type(error).__name__
                    package = "a package" if entry.dist is None else f"the package “{entry.dist.name}”"
                    what = f"The {self.what} {entry.name!r} of {package} is left out: {why}."
                    self._problems.append(InputError(what, "Update or remove it."))
                    warnings.warn(str(self._problems[-1]), UserWarning, stacklevel=3)
