"""What the page shows at this moment, as one value: panels draw it, and files that are taken away repeat it."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import streamlit as st

from ui.explore.analysis import Analysis
from ui.figures.map_colours import COLOUR_PAIRS

MAPS = ("attention", "vote", "contribution", "leave_one_out", "single", "integrated_gradients")
OF_A_CLASS = MAPS[2:]
MOST_FOR_GRADIENTS = 6_000  # instances: integrated gradients of more take minutes and gigabytes
PREDICTED, RUNNER_UP = "first", "second"
"""Stand for the most and the second most probable class, whichever they are in the picture at hand."""
ONE, BESIDE_ORIGINAL, TWO_CLASSES = PANELS = ("one", "original", "classes")
START_OPACITY = 0.75


@dataclass(frozen=True)
class ViewState:
    """The map and how it is painted, and what was taken out of the bag.

    It says all there is to say about one screen beside the analysis itself, which holds picture, field, model and
    candidates.
    """

    kind: str = MAPS[0]
    class_index: int = 0
    """The class the map is about; attention and vote are about all of them."""
    opacity: float = START_OPACITY
    colours: str = next(iter(COLOUR_PAIRS))
    threshold: float = 0.0
    """Cells nearer to the middle of the colour scale than this share of it stay clear."""
    hidden: bool = False
    outlined: bool = False
    panels: str = ONE
    """The map alone, the picture without it beside it, or the maps of the first and the second choice."""
    region: tuple[tuple[tuple[float, float], ...], ...] = ()
    """Polygons that a person drew, in pixels of the whole picture."""
    raw: bool = False
    """Whether the bars show what the network gives instead of calibrated probabilities."""
    removed: tuple[int, ...] = ()


def shown_now(analysis: Analysis) -> ViewState:
    """The settings of this visitor; what was never set has its default. Downloads are built with it, too."""
    state = st.session_state
    kind, colours, panels = str(state.get("map")), str(state.get("colours")), str(state.get("beside"))
    kind = kind if kind in maps_of(analysis) else MAPS[0]
    return ViewState(
        kind=kind,
        class_index=class_index(analysis, state.get("map_class")),
        opacity=float(state.get("opacity", START_OPACITY)),
        colours=colours if colours in COLOUR_PAIRS else next(iter(COLOUR_PAIRS)),
        threshold=float(state.get("threshold", 0.0)),
        hidden=bool(state.get("hidden", False)),
        outlined=bool(state.get("outlines", False)),
        panels=panels if panels in panels_for(kind) else ONE,
        region=drawn_region(analysis),
        raw=bool(state.get("raw", False)),
        removed=removed_patches(analysis),
    )


def maps_of(analysis: Analysis) -> tuple[str, ...]:
    """The maps that can be made of a bag of this size."""
    return MAPS if len(analysis.bag) <= MOST_FOR_GRADIENTS else MAPS[:-1]


def panels_for(kind: str) -> tuple[str, ...]:
    """What can be shown with a map; two classes only with a map of a class."""
    return PANELS if kind in OF_A_CLASS else PANELS[:2]


def class_index(analysis: Analysis, chosen: str | None) -> int:
    """Column of the class a map is about: a name, or the first or second choice of the model."""
    if chosen in analysis.labels.names:
        return analysis.labels.index(chosen)
    if chosen == RUNNER_UP:
        return int(np.argsort(-analysis.prediction.raw, kind="stable")[1])
    return analysis.prediction.index


def bag_key(analysis: Analysis) -> str:
    """Names the bag at hand: another picture, field of view or generator has another key."""
    view, bag = analysis.view, analysis.bag
    field = f"{view.x}-{view.y}-{view.image.width}-{view.image.height}"
    return f"{view.picture.sha256[:16]}-{field}-{bag.generator}"


def removed_patches(analysis: Analysis) -> tuple[int, ...]:
    """The patches taken out of this bag; all of them count as none, for an empty bag has no answer."""
    of_bag, patches = st.session_state.get("removed", ("", ()))
    if of_bag != bag_key(analysis) or len(patches) >= len(analysis.bag):
        return ()
    return tuple(patches)


def set_removed(of_bag: str, patches: Iterable[int]) -> None:
    """Take exactly these patches out of the bag whose `bag_key` is given, and none out of any other."""
    st.session_state["removed"] = (of_bag, tuple(sorted(set(patches))))


def drawn_region(analysis: Analysis) -> tuple[tuple[tuple[float, float], ...], ...]:
    """Polygons in pixels of the whole picture that a person drew on this bag; empty where there are none."""
    of_bag, polygons = st.session_state.get("region", ("", ()))
    return polygons if of_bag == bag_key(analysis) else ()


def set_region(of_bag: str, polygons: Iterable[np.ndarray]) -> None:
    """Keep the region a person drew: polygons (v, 2)."""
    kept = tuple(tuple((float(x), float(y)) for x, y in polygon) for polygon in polygons)
    st.session_state["region"] = (of_bag, kept)
