"""One picture's bags by all generators with the attention of their models, and one place followed through them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st

from bag_generators import GENERATORS, Bag, InputError, TissueImage
from bag_generators.generator import Step
from bag_generators.registry import steps_of
from elimipl.answers.predictor import Prediction
from elimipl_app.charts.map_layer import is_even
from elimipl_app.charts.tissue import COLOURS, attention_map, is_wide, patch_picture
from elimipl_app.generators.figures import feature_bars, scale_bar, step_figure
from elimipl_app.inputs import picker
from elimipl_app.shell import charts, choices
from elimipl_app.shell.cached import bag_of, predictor, shipped_models
from elimipl_app.shell.markdown import escape
from elimipl_app.shell.palette import current_palette
from elimipl_app.shell.texts import SPACE_TITLES, sureness

UNIT_TITLES = {"share": "Share of the bag", "even": "Times an even share"}
UNIT_HELP = (
    "Share of the bag: the attention itself, which sums to one over a bag, so bags of few instances look brighter. "
    "Times an even share: attention × number of instances; 1 means no preference."
)
UNIT_AXIS = {"share": "attention (share of the bag)", "even": "attention ÷ even share"}
NOT_SEEN = "does not look at this place"
NO_MODEL = "No ELIMIPL model for this generator is installed, so nothing is painted."
EVEN = "Its attention is even, so nothing is painted."
HOW_HEADING = "How the numbers came about"

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def intro(generators: int) -> str:
    """What the page is about."""
    ways = _NUMBERS[generators] if generators < len(_NUMBERS) else str(generators)
    return (
        f"One picture, {ways} ways to cut it into a **bag of instances**. Click anywhere in a map: the same place is "
        "followed through all of them, and below you see how its numbers came about, step by step."
    )


def read_by(spaces: Sequence[str]) -> str:
    """Which classes the models know that read the bags."""
    titles = dict.fromkeys(SPACE_TITLES.get(space, space) for space in spaces)
    return f"Read by ELIMIPL models of: {', '.join(titles)}." if titles else NO_MODEL


OF_DRAWINGS, OF_TISSUE = ("drawn7",), ("colon", "tissue7")
"""What the ids of models that read drawings or tissue begin with, the best ones first."""


@dataclass(frozen=True, eq=False)
class Described:
    """A bag and what its model says about it; without a model the attention is an even share."""

    bag: Bag
    prediction: Prediction | None

    @property
    def attention(self) -> np.ndarray:
        """(n,), sums to one."""
        n = len(self.bag)
        return np.full(n, 1 / n) if self.prediction is None else self.prediction.attention

    @property
    def is_even(self) -> bool:
        """Whether the attention tells no instances apart."""
        return is_even(self.attention)

    def scores(self, unit: str) -> np.ndarray:
        """Attention as a share of the bag, or as a multiple of an even share."""
        return self.attention * (len(self.bag) if unit == "even" else 1)


def all_bags(image: TissueImage, drawn: bool = False) -> tuple[dict[str, Described], list[InputError]]:
    """The bag of every generator, made as its model asks for it, and why some generators refuse the picture."""
    cards = {card.id: card for card in shipped_models()[0]}
    described, refusals = {}, []
    for name in GENERATORS:
        ids = [f"{start}-{name}-elimipl" for start in (OF_DRAWINGS if drawn else OF_TISSUE)]
        card = next((cards[one] for one in ids if one in cards), None)
        try:
            bag = bag_of(image, name, **(card.generator_params if card else {}))
            described[name] = Described(bag, predictor(card).predict(bag) if card else None)
        except InputError as refusal:
            refusals.append(refusal)
    return described, refusals


def place_of(bag: Bag, instance: int) -> tuple[float, float]:
    """A point (x, y) inside an instance: the one of its pixels that is nearest to its centre and not under others."""
    x, y = bag.regions.centre(instance)
    if bag.regions.at(x, y) == instance:
        return x, y
    ys, xs = np.nonzero(bag.regions.mask(instance))
    for nearest in np.argsort((xs + 0.5 - x) ** 2 + (ys + 0.5 - y) ** 2):
        point = (float(xs[nearest]) + 0.5, float(ys[nearest]) + 0.5)
        if bag.regions.at(*point) == instance:
            return point
    return x, y  # it lies wholly under others


def linked(bags: Mapping[str, Described], generator: str, instance: int) -> dict[str, int | None]:
    """The instance of every bag at the place of one instance; None where a generator does not look."""
    place = place_of(bags[generator].bag, instance)
    at = {name: described.bag.regions.at(*place) for name, described in bags.items()}
    return {**at, generator: instance}


MOST_PILLS = 64
CARD_WIDTH = 170  # px: five beside each other on a laptop, two on a phone
STEP_WIDTH = 214


def choose_instance(bags: Mapping[str, Described]) -> tuple[str, int]:
    """The generator to follow step by step and one of its instances: a click in a map, or the keyboard."""
    generator = picker.choose_generator("follow", "Follow it step by step", list(bags))
    bag = bags[generator].bag
    instance = _kept(bags, generator)
    st.session_state["instance"] = instance
    shape: choices.Shape = "pills" if len(bag) <= MOST_PILLS else "list"
    chosen = choices.one_of("Instance", range(len(bag)), "instance", shape=shape)
    st.session_state["followed"] = (generator, chosen)
    return generator, chosen


def _kept(bags: Mapping[str, Described], generator: str) -> int:
    """The instance in the address or picked before; after a change of generator, the one at the same place."""
    picked = st.session_state.get("instance")
    before, followed = st.session_state.get("followed", (generator, None))
    if before != generator and followed is not None and followed < len(bags[before].bag):
        picked = linked(bags, before, followed)[generator]
    if picked is None or not 0 <= picked < len(bags[generator].bag):
        return int(bags[generator].attention.argmax())
    return picked


def show_maps(image: TissueImage, bags: Mapping[str, Described], generator: str, instance: int, unit: str) -> None:
    """Attention of every bag on one scale; a click follows that place."""
    palette = current_palette()
    end = max(float(described.scores(unit).max()) for described in bags.values())
    at = linked(bags, generator, instance)
    with st.container(horizontal=True, gap="small"):
        for name, described in bags.items():
            with st.container(width=CARD_WIDTH):
                scores = described.scores(unit)
                mark = ":material/visibility: " if name == generator else ""
                n, d = described.bag.features.shape
                st.markdown(f"{mark}**{GENERATORS[name].title}** · {n} × {d}")
                charts.show(
                    attention_map(
                        image, described.bag, scores, end, at[name], palette, UNIT_AXIS[unit], described.is_even
                    ),
                    key=f"map-{name}",
                    on_click=partial(_follow_click, name),
                    alt=f"Attention of the {GENERATORS[name].title} bag, highest at instance {scores.argmax()}.",
                )
                st.caption(_answer(described))
    charts.show(
        scale_bar(end, UNIT_AXIS[unit], COLOURS, palette),
        key="scale-bar",
        alt=f"Colour scale of all maps, from 0 to {end:.2f}.",
    )


def choose_unit() -> str:
    """How attention is compared between bags of different sizes."""
    return choices.one_of(
        "One colour scale for all",
        list(UNIT_TITLES),
        "unit",
        "even",
        UNIT_TITLES.__getitem__,
        help=UNIT_HELP,
    )


def _follow_click(name: str) -> None:
    if (clicked := charts.clicked_instance(f"map-{name}")) is not None:
        st.session_state["follow"], st.session_state["instance"] = name, clicked
        st.session_state["followed"] = (name, clicked)


def _answer(described: Described) -> str:
    prediction = described.prediction
    if prediction is None:
        return NO_MODEL
    even = f" {EVEN}" if described.is_even else ""
    return f"The model says {escape(prediction.title)} · {sureness(prediction.probability)}.{even}"


def show_same_place(image: TissueImage, bags: Mapping[str, Described], generator: str, instance: int) -> None:
    """The patch of each generator at the followed place, and what its numbers say."""
    st.subheader("The same place in all bags", divider="gray")
    at = linked(bags, generator, instance)
    with st.container(horizontal=True, gap="small"):
        for name, described in bags.items():
            with st.container(width=CARD_WIDTH):
                _show_patch(image, described, GENERATORS[name].title, at[name])


def _show_patch(image: TissueImage, described: Described, title: str, instance: int | None) -> None:
    if instance is None:
        st.markdown(f"**{title}** {NOT_SEEN}.")
        return
    attention = described.attention[instance]
    rank = int((described.attention > attention).sum()) + 1
    st.markdown(f"**{title}**, instance {instance}")
    st.image(
        patch_picture(image, described.bag, instance),
        width="stretch" if is_wide(described.bag, instance) else 150,
        alt=f"Patch of instance {instance} of the {title} bag.",
    )
    words = GENERATORS[described.bag.generator].in_words(described.bag, instance)
    st.caption(f"Attention {attention:.3f}, rank {rank} of {len(described.bag)}. {escape(words)}")


def show_steps(image: TissueImage, described: Described, instance: int) -> None:
    """How the chosen generator came to the numbers of this instance."""
    bag = described.bag
    generator, palette = GENERATORS[bag.generator], current_palette()
    st.subheader(f"{HOW_HEADING}: {generator.title}, instance {instance}", divider="gray")
    drawn = [(step.title, step_figure(step.drawing, palette)) for step in _steps(_key(bag), image, bag, instance)]
    numbers = feature_bars(bag.features[instance], bag.feature_names, palette)
    count = len(bag.feature_names)
    drawn.append((f"The instance: {count} number{'s' if count > 1 else ''}", numbers))
    with st.container(horizontal=True, gap="small"):
        for number, (title, figure) in enumerate(drawn, start=1):
            with st.container(width=STEP_WIDTH):
                st.markdown(f"**{number}** {title}")
                charts.show(figure, key=f"station-{number}", alt=f"Step {number}: {title}.")
    if generator.remark:
        st.caption(generator.remark)


@st.cache_resource(max_entries=64, show_spinner=False)
def _steps(bag_key: str, _image: TissueImage, _bag: Bag, instance: int) -> Sequence[Step]:
    return steps_of(_image, _bag, instance)


def _key(bag: Bag) -> str:
    return f"{bag.image_sha256} {bag.generator} {sorted(bag.params.items())}"
