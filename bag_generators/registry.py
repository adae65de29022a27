"""The generators by name, and the one way to run them.

A new generator of this project is one new file with a `GENERATOR`, and one line here. Those of others come by
`register`, or by themselves from installed packages that name them in the entry points `bag_generators.generators`.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import entry_points
from threading import RLock
from typing import Any

import numpy as np

from bag_generators.bag import Bag
from bag_generators.errors import InputError
from bag_generators.generator import Generator, Recipe
from bag_generators.generators import kmeansseg, row, sbn, sift
from bag_generators.image import TissueImage
from bag_generators.steps import Step
from bag_generators.tissue import stain

PLUG_INS = "bag_generators.generators"
"""The group of entry points; each leads to a `Generator`."""


class _Registry(Mapping[str, Generator]):
    """All known generators in the order they came; installed plug-ins are looked for once, when first needed."""

    def __init__(self, own: Sequence[Generator]) -> None:
        self._known = {generator.name: generator for generator in own}
        self._looked_for_plug_ins = False
        self._lock = RLock()
        self.problems: tuple[InputError, ...] = ()

    def __getitem__(self, name: str) -> Generator:
        if name not in self._known:
            self._find_plug_ins()
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        self._find_plug_ins()
        return iter(tuple(self._known))

    def __len__(self) -> int:
        self._find_plug_ins()
        return len(self._known)

    def add(self, generator: Generator) -> None:
        with self._lock:
            for known in self._known.values():
                if generator.name == known.name or generator.title == known.title:
                    raise InputError(
                        f"There already is a generator {known.name!r} with the title {known.title!r}.",
                        "Choose another name and another title.",
                    )
            self._known[generator.name] = generator

    def remove(self, name: str) -> None:
        with self._lock:
            self._known.pop(name, None)

    def _find_plug_ins(self) -> None:
        with self._lock:
            if self._looked_for_plug_ins:
                return
            self._looked_for_plug_ins = True
            for entry in entry_points(group=PLUG_INS):
                try:
                    generator = entry.load()
                    if not isinstance(generator, Generator):
                        raise TypeError(f"it is no Generator but of the type {type(generator).__name__}")
                    self.add(generator)
                except Exception as error:  # whatever a stranger's code does, the others work
                    why = error.what if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
                    problem = InputError(
                        f"The installed generator {entry.name!r} can't be used ({why}).",
                        f"Update or uninstall the package that brings {entry.value!r}.",
                    )
                    self.problems = (*self.problems, problem)
                    warnings.warn(str(problem), stacklevel=2)


_registry = _Registry((row.GENERATOR, sbn.GENERATOR, kmeansseg.GENERATOR, sift.GENERATOR))
GENERATORS: Mapping[str, Generator] = _registry


def register(generator: Generator) -> Generator:
    """Make a generator known to this program: to commands, pages and processes that are started for it."""
    _registry.add(generator)
    return generator


def unregister(name: str) -> None:
    """Forget a generator that was registered."""
    _registry.remove(name)


def plug_in_problems() -> tuple[InputError, ...]:
    """What is wrong with installed generators that can't be used, a sentence each."""
    len(GENERATORS)
    return _registry.problems


def recipe_of(name: str) -> Recipe | None:
    """What a worker process needs to know the generator called `name`; None where it can't travel."""
    return _named(name).recipe()


def register_again(recipe: Recipe) -> str:
    """Make a generator of the caller known in a worker process, unless it is; returns its name."""
    if recipe.name not in GENERATORS:
        register(recipe.generator())
    return recipe.name


def generate(name: str, image: TissueImage, **params: Any) -> Bag:
    """Turn a picture into a bag with the generator called `name`.

    `stain` ("none" is the paper's way) names a stain normalisation applied first; see `bag_generators.tissue.stain`.
    """
    generator = _named(name)
    if unknown := params.keys() - generator.defaults.keys():
        raise InputError(
            f"The generator {name!r} has no parameter {_listed(sorted(unknown))}.",
            f"It takes {_listed(generator.defaults)}.",
        )
    chosen = {**generator.defaults, **params}
    own = {key: value for key, value in chosen.items() if key != "stain"}
    seen = _seen(generator, image, chosen["stain"])
    features, regions = generator.function(seen, (image.height, image.width), **own)
    names = tuple(stain.channel_name(feature, chosen["stain"]) for feature in generator.feature_names)
    return Bag(np.asarray(features, np.float32), regions, name, chosen, names, image.sha256)


def steps_of(image: TissueImage, bag: Bag, instance: int) -> Sequence[Step]:
    """How an instance of a picture's bag came about."""
    generator = _named(bag.generator)
    return generator.steps(_seen(generator, image, str(bag.params["stain"])), bag, instance)


def _seen(generator: Generator, image: TissueImage, stain_method: str) -> np.ndarray:
    """The pixels a generator works on."""
    return stain.normalise(image.pixels if generator.sees == "original" else image.working_copy, stain_method)


def _named(name: str) -> Generator:
    generator = GENERATORS.get(name)
    if generator is None:
        raise InputError(f"There is no generator called {name!r}.", f"Choose one of {_listed(GENERATORS)}.")
    return generator


def _listed(names: Mapping[str, Any] | list[str]) -> str:
    return ", ".join(repr(name) for name in names)
