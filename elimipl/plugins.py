"""What others add without editing our files: registered by a call, or by installing a package that names it.

A package names what it brings in its pyproject.toml; it is imported when somebody first looks for it:

    [project.entry-points."elimipl.losses"]
    focal = "my_package:focal_loss"
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from bag_generators.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor

T = TypeVar("T")


class Registry(Mapping[str, T], Generic[T]):
    """Things by name: those of the program, those registered by a call, then those of installed packages.

    A package that can't be used is left out with one sentence, as a warning and in `problems`.
    """

    def __init__(self, what: str, group: str, built_in: Iterable[tuple[str, T]], check: Callable[[Any], T]) -> None:
        """`check` gives back what may be registered and refuses everything else with an `InputError`."""
        self.what, self.group = what, group
        self.problems: list[InputError] = []
        self._check, self._things = check, dict(built_in)
        self._built_in = tuple(self._things)
        self._looked = False

    def register(self, name: str, thing: T) -> None:
        """Add something under a name that is free."""
        if not isinstance(name, str) or not name.isprintable() or not 1 <= len(name.strip()) <= 100:
            raise InputError(f"{name!r} can't name a {self.what}.", "Give a name of 1 to 100 characters.")
        if name in self._things:
            raise InputError(f"There is a {self.what} {name!r} already.", "Choose another name.")
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

    def __repr__(self) -> str:
        return f"<{len(self)} of the kind {self.what}: {', '.join(self)}>"

    def _look(self) -> None:
        """Import what installed packages bring, once."""
        if self._looked:
            return
        self._looked = True
        for entry in entry_points(group=self.group):
            try:
                self.register(entry.name, entry.load())
            except Exception as error:
                self._leave_out(entry, error)

    def _leave_out(self, entry: EntryPoint, error: Exception) -> None:
        why = str(error).rstrip(".") or type(error).__name__
        package = "a package" if entry.dist is None else f"the package “{entry.dist.name}”"
        problem = InputError(f"The {self.what} {entry.name!r} of {package} is left out: {why}.", "Update or remove it.")
        self.problems.append(problem)
        warnings.warn(str(problem), UserWarning, stacklevel=4)


Loss = Callable[["Tensor", "Tensor", "Tensor"], "Tensor"]
"""loss(energies, candidates, weights) → a scalar, the mean over the B bags of a step.

energies (B, k): what the softmax is taken of, as `torch.nn.functional.cross_entropy` takes it; the only argument with a
gradient. candidates (B, k) bool: the candidate set of each bag, never empty. weights (B, k): a distribution on the
candidates, how much training believes in each (eq. 6; 1/|S| for ever with `mapping="average"`).
"""

CLI = "cli"
"""The name of the program's own loss, the conjugate label information of eq. 9."""


def _checked_loss(loss: Any) -> Loss:
    if not callable(loss):
        raise InputError(
            f"{loss!r} is not a loss.", "Give a function of energies, candidates and weights that returns a scalar."
        )
    checked: Loss = loss
    return checked


LOSSES: Registry[Loss] = Registry("loss", "elimipl.losses", (), _checked_loss)
"""Losses beside eq. 9 by name."""


def register_loss(name: str, loss: Loss) -> None:
    """Make a loss known: `Config.preset("default", loss=name)` and `train --set loss=name` then train with it.

    >>> register_loss("average", lambda energies, candidates, weights: -(weights * energies.log_softmax(1)).mean())
    >>> "average" in LOSSES
    True
    >>> LOSSES.unregister("average")
    """
    if name == CLI:
        raise InputError(f"There is a loss {name!r} already.", "Choose another name.")
    LOSSES.register(name, loss)


def check_loss(name: Any) -> None:
    """Refuse the name of a loss that nobody has registered."""
    if name != CLI and (not isinstance(name, str) or name not in LOSSES):
        raise InputError(f"There is no loss {name!r}.", f"Choose one of {', '.join((CLI, *LOSSES))}.")
