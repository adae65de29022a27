"""From the class's answers to models: bags of its pictures, candidate sets, and a fair comparison.

Every arm sees the same bags and differs by candidate sets alone. A picture is learned from several times, turned,
zoomed and re-stained; copies share the set that the class gave the picture. Accuracy is measured on bags of the same
kind of pictures whose labels are known and which nobody voted on.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bag_generators import InputError, TissueImage, generate, load
from bag_generators.tissue.stain import augmented
from elimipl.candidates.crowd import ANNOTATORS
from elimipl.candidates.labels import TISSUE7, LabelSpace
from elimipl.classroom.outcome import ARMS, METHODS, ClassOutcome, Fit, Learned
from elimipl.classroom.pictures import compose_field
from elimipl.classroom.store.records import PictureFacts
from elimipl.classroom.tally import Tally
from elimipl.config import Config
from elimipl.datasets.dataset import BagDataset
from elimipl.datasets.shipped import bag_sets, build_phantoms, load_bag_set
from elimipl.jobs import StoppedError
from elimipl.training.loop import fit

DEFAULT_GENERATOR = "kmeansseg"  # of the quick ones the best on few drawings
EPOCHS = 40
SEEDS = (0, 1, 2)
TRAINING_BAGS = 112  # about so many, whatever the number of pictures
MOST_COPIES = 16
DRAWN_HELD_OUT, COMPOSED_HELD_OUT = 10, 4  # of each class, where no bag set ships
_COMPOSED_SEED = 7_000_000  # below the seeds of classes
LEAST_PICTURES = 4
Told = Callable[[float], bool]
"""Called with the share that is done; whether to go on."""


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be learned: pictures that somebody answered, with their candidate sets."""

    labels: LabelSpace
    generator: str
    facts: tuple[PictureFacts, ...]
    pngs: tuple[bytes, ...]
    counted: Tally
    """What was said of these pictures."""

    @property
    def truths(self) -> np.ndarray | None:
        """(m,) true labels; None where one is unknown."""
        known = [picture.truth for picture in self.facts if picture.truth is not None]
        return np.array(known) if len(known) == len(self.facts) else None


def make_task(
    labels: LabelSpace,
    generator: str,
    pictures: Sequence[PictureFacts],
    png_of: Callable[[int], bytes],
    counted: Tally,
    every_answered: bool = False,
) -> Task:
    """The pictures with an answer; those of known truth, where they are enough, so that the cost can be measured.

    With `every_answered` all of them, however few.
    """
    answered = [at for at, answers in enumerate(counted.answers) if answers]
    known = [at for at in answered if pictures[at].truth is not None]
    chosen = answered if every_answered or len(known) < LEAST_PICTURES else known
    if len(chosen) < LEAST_PICTURES and not every_answered:
        raise InputError(
            f"Only {len(chosen)} pictures have an answer.", f"Training needs at least {LEAST_PICTURES}; let them vote."
        )
    return Task(
        labels,
        generator,
        tuple(pictures[at] for at in chosen),
        tuple(png_of(pictures[at].number) for at in chosen),
        Tally(counted.votes[:, chosen], counted.tops[:, chosen]),
    )


def class_bags(task: Task, tell: Told = lambda share: True) -> BagDataset:
    """Bags of the pictures and of their copies, a group for each picture, with the class's candidate sets."""
    copies = copies_of(len(task.facts))
    rng = np.random.default_rng(0)
    features, names, params, own = [], [], {}, _params_of(task.generator)
    for done, (facts, png) in enumerate(zip(task.facts, task.pngs, strict=True)):
        image = load(png)
        for copy in range(copies):
            pixels = augmented(image.pixels, rng) if copy else image.pixels
            scaled = TissueImage.from_array(pixels).at_scale(facts.microns, "the class's picture")
            bag = generate(task.generator, scaled, **own)
            features.append(bag.features)
            names.append(f"picture {facts.number}" + (f", copy {copy}" if copy else ""))
            params = dict(bag.params)
        _go_on(tell, (done + 1) / len(task.facts))
    each = np.repeat(np.arange(len(task.facts)), copies)
    truths = [-1 if picture.truth is None else picture.truth for picture in task.facts]
    return BagDataset.from_bags(
        features,
        task.labels,
        np.array(truths)[each],
        task.counted.candidates[each],
        groups=each,
        names=names,
        generator=task.generator,
        params=params,
        source="pictures that a class labelled",
    )


def copies_of(pictures: int) -> int:
    """How often each picture is learned from."""
    return int(np.clip(round(TRAINING_BAGS / pictures), 2, MOST_COPIES))


def held_out_bags(task: Task, tell: Told = lambda share: True) -> BagDataset | None:
    """Bags of the same kinds of pictures with known labels; None where there are none with these labels."""
    if task.labels != TISSUE7 or task.truths is None:
        return None
    kinds = {picture.kind for picture in task.facts}
    shipped = {"drawn": f"phantoms-{task.generator}", "tissue": f"tissue7-{task.generator}"}
    parts = [load_bag_set(name) for kind, name in shipped.items() if kind in kinds and name in bag_sets()]
    parts = [part.subset(np.unique(part.groups, return_index=True)[1]) for part in parts]
    if "drawn" in kinds and shipped["drawn"] not in bag_sets():  # a generator of somebody else's
        parts.append(build_phantoms(task.generator, per_class=DRAWN_HELD_OUT, seed=1))
    if "composed" in kinds:
        parts.append(_composed_bags(task.generator, tell))
    return BagDataset.concatenate(parts) if parts else None


def learn(task: Task, tell: Told) -> ClassOutcome:
    """Train both methods on every kind of labels, with every seed; `StoppedError` when `tell` says so."""
    training = class_bags(task, lambda share: tell(0.2 * share))
    held_out = held_out_bags(task, lambda share: tell(0.2 + 0.1 * share))
    if held_out is not None and held_out.dim != training.dim:
        held_out = None
    arms = arms_of(task)
    fits, weights, done = [], [], 0
    for method in METHODS:
        for arm in arms:
            accuracies, right = [], []
            for seed in SEEDS:
                share = 0.3 + 0.7 * done / (len(METHODS) * len(arms) * len(SEEDS))
                fitted = fit(
                    training.with_candidates(arm_candidates(task, arm, seed)[training.groups]),
                    Config.preset("default", method=method, epochs=EPOCHS, seed=seed),
                    should_stop=lambda share=share: not tell(share),  # type: ignore[misc]
                    device="cpu",
                )
                if fitted.stopped:
                    raise StoppedError
                done += 1
                by_picture = _by_picture(fitted.weights, training.groups)
                if held_out is not None:
                    guessed = fitted.predict(held_out).probabilities.argmax(axis=1)
                    accuracies.append(float((guessed == held_out.labels).mean()))
                if task.truths is not None:
                    right.append(float((by_picture.argmax(axis=1) == task.truths).mean()))
                if (method, arm) == ("elimipl", "class"):
                    weights.append(by_picture)
            fits.append(Fit(method=method, arm=arm, held_out=tuple(accuracies), disambiguation=tuple(right)))
    mean = np.mean(weights, axis=0)
    return ClassOutcome(
        generator=task.generator,
        pictures=tuple(picture.number for picture in task.facts),
        copies=copies_of(len(task.facts)),
        held_out_bags=0 if held_out is None else len(held_out),
        held_out_source="" if held_out is None else held_out.source,
        epochs=EPOCHS,
        seeds=SEEDS,
        fits=tuple(fits),
        learned=tuple(
            Learned(picture=picture.number, weights=tuple(map(float, row)))
            for picture, row in zip(task.facts, mean, strict=True)
        ),
        seconds=0.0,
    )


def arms_of(task: Task) -> tuple[str, ...]:
    """What can be learned from: nothing true without true labels, no three students where there are no more."""
    left_out = {"truth"} if task.truths is None else set()
    if task.counted.answers.max() <= ANNOTATORS:
        left_out.add("three")
    return tuple(arm for arm in ARMS if arm not in left_out)


def arm_candidates(task: Task, arm: str, seed: int) -> np.ndarray:
    """The candidate sets that an arm gives the pictures, (m, k) bool; three students are drawn with the seed."""
    labels = np.arange(len(task.labels))
    if arm == "truth" and task.truths is not None:
        return task.truths[:, None] == labels
    if arm == "tops":
        return task.counted.first.argmax(axis=1)[:, None] == labels
    if arm == "three":
        return task.counted.of_some(ANNOTATORS, seed).candidates
    return task.counted.candidates if arm == "class" else np.ones_like(task.counted.candidates)


def _composed_bags(generator: str, tell: Told) -> BagDataset:
    """New composed fields of every class."""
    wanted = [(label, _COMPOSED_SEED + number) for number in range(COMPOSED_HELD_OUT) for label in range(len(TISSUE7))]
    features, own = [], _params_of(generator)
    for done, (label, seed) in enumerate(wanted):
        pixels, _ = compose_field(TISSUE7.names[label], seed)
        features.append(generate(generator, TissueImage.from_array(pixels), **own).features)
        _go_on(tell, (done + 1) / len(wanted))
    return BagDataset.from_bags(
        features, TISSUE7, [label for label, _ in wanted], generator=generator, source="composed fields"
    )


def _params_of(generator: str) -> dict[str, Any]:
    """Those of the bags that ship, which the models are measured on; Deep's cells are larger there."""
    shipped = f"phantoms-{generator}"
    return dict(load_bag_set(shipped).params) if shipped in bag_sets() else {}


def _by_picture(weights: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Weights of the bags (m, k), averaged over the copies of each picture."""
    return np.stack([weights[groups == group].mean(axis=0) for group in np.unique(groups)])


def _go_on(tell: Told, share: float) -> None:
    if not tell(share):
        raise StoppedError
