"""The learner's own bag: real tissue composed of patches, a drawing, or a real picture of which nobody knows the label.

In the address a bag is a number that says nothing of its tissue: a link for a class must not give the answer away.
The features of composed bags are those of real patches and come with the project; pixels do not. A teacher who has the
tiles sets ELIMIPL_TILES to the folder that holds `train/`, `outside/` and `SOURCES.csv`.
"""

import csv
import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import streamlit as st

from bag_generators import GENERATORS, Bag, InputError, TissueImage, load
from bag_generators.base.assets import assets
from bag_generators.regions import BoxRegions
from bag_generators.tissue.phantom import PHANTOM_KINDS, Phantom, draw, instance_shares
from bag_generators.tissue.samples import list_samples
from elimipl.candidates.crowd import uniform_false_positives
from elimipl.candidates.labels import TISSUE7, LabelSpace
from elimipl.datasets.dataset import BagDataset
from elimipl_app.lesson import kept, texts
from elimipl_app.lesson.recorded import attention_runs
from elimipl_app.shell.address import Bound
from elimipl_app.shell.cached import bag_of
from elimipl_app.shell.markdown import escape

VARIABLE = "ELIMIPL_TILES"
BAGS_FILE = assets("lessons", "composed-deep.safetensors")
SIDE, PER_ROW = 56, 6
GLASS = 243
_FAT, _BARE = "ADI", "BACK"


@st.cache_resource(show_spinner=False)
def composed_bags() -> BagDataset:
    """The held-out composed bags that the lesson shows, with the truth of their instances."""
    return BagDataset.load(BAGS_FILE, f"The composed bags “{BAGS_FILE.name}”")


def composed_bag(number: int) -> tuple[TissueImage, Bag, np.ndarray, bool]:
    """Picture, bag and truth (n,) bool of a composed bag, and whether the picture shows the real patches."""
    return _composed(number, os.environ.get(VARIABLE, "").strip())


@st.cache_resource(max_entries=32, show_spinner=False)
def _composed(number: int, folder: str) -> tuple[TissueImage, Bag, np.ndarray, bool]:
    bags = composed_bags()
    origins = attention_runs().origins[number]
    kind = bags.label_space.names[bags.labels[number]]
    assert bags.instance_truth is not None
    truth = bags.instance_truth[bags.offsets[number] : bags.offsets[number + 1]]
    patches = _real_patches(Path(folder), origins) if folder else None
    real = patches is not None
    if patches is None:
        patches = [drawn_patch(origin, kind if own else "") for origin, own in zip(origins, truth, strict=True)]
    rows = [np.concatenate(patches[start : start + PER_ROW], axis=1) for start in range(0, len(patches), PER_ROW)]
    image = TissueImage.from_array(np.concatenate(rows))
    features = bags.bag(number).copy()
    boxes = [(SIDE * (i % PER_ROW), SIDE * (i // PER_ROW), SIDE * (i % PER_ROW + 1), SIDE * (i // PER_ROW + 1))
             for i in range(len(features))]  # fmt: skip
    names = tuple(f"feature {i}" for i in range(features.shape[1]))
    bag = Bag(features, BoxRegions(boxes, image.pixels.shape[:2]), bags.generator, bags.params, names, image.sha256)
    return image, bag, truth, real


def drawn_patch(origin: str, kind: str) -> np.ndarray:
    """A drawing, (56, 56, 3) uint8, in the place of a real patch: of its class, or of fat or glass; always the same."""
    seed = int.from_bytes(hashlib.sha256(origin.encode()).digest()[:4], "big")
    if not kind and _BARE in origin:
        noise = np.random.default_rng(seed).normal(GLASS, 1.5, (SIDE, SIDE, 3))
        return np.clip(np.rint(noise), 0, 255).astype(np.uint8)
    pixels, truth = _lent(kind or next(iter(PHANTOM_KINDS)), bool(kind), seed % 5)
    corners = [
        (y, x) for y in range(0, len(truth) - SIDE + 1, SIDE // 2) for x in range(0, len(truth) - SIDE + 1, SIDE // 2)
    ]
    shares = [truth[y : y + SIDE, x : x + SIDE].mean() for y, x in corners]
    fitting = [
        corner for corner, share in zip(corners, shares, strict=True) if (share == max(shares) if kind else share == 0)
    ]
    best = fitting if len(fitting) > 3 or not kind else [corners[i] for i in np.argsort(shares)[-6:]]
    y, x = best[seed % len(best)]
    return pixels[y : y + SIDE, x : x + SIDE]


@lru_cache(maxsize=64)
def _lent(kind: str, carries: bool, seed: int) -> tuple[np.ndarray, np.ndarray]:
    phantom = draw(kind, seed, coverage=0.9 if carries else 0.1, background="fat")
    return phantom.pixels, phantom.truth


def _real_patches(folder: Path, origins: Sequence[str]) -> list[np.ndarray] | None:
    """The patches from the tiles on disk; None where a tile is not there."""
    files = _files(folder)
    patches = []
    for origin in origins:
        name, _, patch = origin.rpartition(" ")
        if name not in files:
            return None
        try:
            pixels = load(files[name]).pixels
        except InputError:
            return None
        per_row = pixels.shape[1] // SIDE
        y, x = SIDE * (int(patch) // per_row), SIDE * (int(patch) % per_row)
        patches.append(pixels[y : y + SIDE, x : x + SIDE])
    return patches if all(patch.shape == (SIDE, SIDE, 3) for patch in patches) else None


def _files(folder: Path) -> dict[str, Path]:
    """Files by what their tile is called in the published data set; empty where the folder is not as described."""
    try:
        with (folder / "SOURCES.csv").open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file) if {"file", "dataset", "tile"} <= row.keys()]
    except (OSError, UnicodeDecodeError, csv.Error):
        return {}
    found = {
        f"{row['dataset'].partition(',')[0]}/{row['tile']}": folder / Path(*Path(row["file"]).parts[-3:])
        for row in rows
    }
    return {name: path for name, path in found.items() if path.is_file()}


REAL, DRAWN = "real", "drawn"
VARIANTS = 2  # bags of every tissue
NUMBERS = tuple((5 * i + 3) % (VARIANTS * len(TISSUE7)) for i in range(VARIANTS * len(TISSUE7)))
"""What the bags are called, in the order of the tissues."""
FIRST = NUMBERS[VARIANTS * TISSUE7.index("TUM")]
DEFAULT_CUT = "row"
TOO_MANY = "deep"
"""The generator whose 256 cells nobody marks one by one, and whose truth is not that of a cell alone."""
HALF = 0.5
_FIRST_SEED = 2_000_000


@dataclass(frozen=True, eq=False)
class Case:
    """A bag whose truth is known, and its picture."""

    number: int
    kind: str
    image: TissueImage
    bag: Bag
    shares: np.ndarray
    """(n,): how much of each instance shows the class."""
    true_index: int
    shows_real: bool = False
    labels: LabelSpace = TISSUE7

    @property
    def label(self) -> str:
        return self.labels.names[self.true_index]

    @property
    def place(self) -> int:
        """Position among the recorded bags."""
        return NUMBERS.index(self.number)

    @property
    def truth(self) -> np.ndarray:
        """(n,) bool: the instances of which at least half shows the class, or most of all where none does."""
        return (self.shares >= min(HALF, self.shares.max())) & (self.shares > 0)

    @property
    def partly(self) -> np.ndarray:
        """(n,) bool: the instances that show some of the class, but less than half."""
        return (self.shares > 0) & ~self.truth


def number_choice() -> Bound[int]:
    """Which bag."""
    return kept.choice("picture", "Tissue", NUMBERS, FIRST)


def choose_case(shown: bool = True) -> Case:
    """Ask for the kind of bag, the bag, and how a drawing is cut; where not `shown`, take what was chosen before."""
    kind, number = kept.choice("kind", "Made of", (REAL, DRAWN), REAL), number_choice()
    cuts = [name for name in GENERATORS if name != TOO_MANY]
    cut = kept.choice("cut", "Cut into instances by", cuts, DEFAULT_CUT)
    if shown:
        st.subheader("Your bag", divider="gray")
        kind.shown_by(st.segmented_control, (REAL, DRAWN), format_func=texts.KIND_TITLES.__getitem__, required=True)
        number.shown_by(st.selectbox, NUMBERS, format_func=bag_title)
        if kind.value() == DRAWN:
            about = "\n".join(f"- **{GENERATORS[name].title}**: {GENERATORS[name].summary}" for name in cuts)
            cut.shown_by(
                st.segmented_control, cuts, format_func=lambda name: GENERATORS[name].title, wrap=True,
                required=True, help=about,
            )  # fmt: skip
    case = make_case(kind.value(), number.value(), cut.value())
    if shown:
        classes = f"The lesson's bags are of the paper's {len(case.labels)} tissues: {', '.join(case.labels.names)}."
        st.caption(f"{texts.case_caption(kind.value(), case.shows_real)} {classes}")
    return case


def bag_title(number: int) -> str:
    """What a bag is called: its tissue, and which of the two."""
    place = NUMBERS.index(number)
    return f"{TISSUE7.names[place // VARIANTS]}, {'second' if place % VARIANTS else 'first'} bag"


def make_case(kind: str, number: int, cut: str = DEFAULT_CUT) -> Case:
    """The bag of that number."""
    place = NUMBERS.index(number)
    true_index = place // VARIANTS
    if kind == REAL:
        image, bag, truth, real = composed_bag(place)
        return Case(number, kind, image, bag, truth.astype(float), true_index, real)
    phantom = _drawn(TISSUE7.names[true_index], _FIRST_SEED + place)
    image = TissueImage.from_array(phantom.pixels)
    bag = bag_of(image, cut)
    return Case(number, kind, image, bag, instance_shares(bag, phantom.truth), true_index)


@st.cache_resource(max_entries=32, show_spinner=False)
def _drawn(tissue: str, seed: int) -> Phantom:
    return draw(tissue, seed, background="fat")


def candidates_of(case: Case, r: int, draw: int) -> np.ndarray:
    """The true label and r others drawn at random, (k,) bool."""
    return uniform_false_positives([case.true_index], len(case.labels), r, draw)[0]


OWN_BAG = "bag"
CUT = "deep"


@dataclass(frozen=True, eq=False)
class Section:
    """A field of the section as a bag, and where it is from."""

    image: TissueImage
    bag: Bag
    credit: str


def choose_section() -> Section | None:
    """Ask for the picture of a step that needs no truth; None for the learner's own bag."""
    samples = {sample.id: sample for sample in list_samples() if sample.kind == "restained"}
    chosen = kept.show_choice(
        "field", texts.FIELD_LABEL, (OWN_BAG, *samples), OWN_BAG,
        lambda name: texts.FIELD_OWN_BAG if name == OWN_BAG else samples[name].title, shape="list", width=340,
    )  # fmt: skip
    if chosen == OWN_BAG:
        return None
    image = samples[chosen].load()
    return Section(image, bag_of(image, CUT), samples[chosen].credit)


def name_candidates(names: Sequence[str]) -> np.ndarray:
    """The labels that the learner finds possible, (k,) bool."""
    named = kept.numbers("named", "Which labels do you find possible?", len(names))
    ticked = named.shown_by(
        st.pills, range(len(names)), selection_mode="multi", format_func=names.__getitem__, wrap=True
    )
    if not ticked:
        st.info("Tick every label that you would not rule out: those are S, all others S̄.", icon=":material/touch_app:")
    return np.isin(np.arange(len(names)), ticked)


def show_origin(section: Section) -> None:
    """What the picture is, and whose."""
    st.caption(f"The picture: real colon tissue in computed H&E colours. {escape(section.credit)}")
