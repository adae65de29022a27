"""The viewer with what belongs to it: the maps as it gets them, their files, the field that is opened, the regions."""

import base64
import io
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from bag_generators import InputError, TissueImage
from bag_generators.scale import ESTIMATED
from bag_generators.slide import Slide
from elimipl.class_marks import class_marks
from elimipl.slides import SlideMap
from elimipl.slides.exports import write_map
from elimipl_app.charts.map_layer import COLOUR_PAIRS, EVEN, at, class_colours, diverging, rising
from elimipl_app.server.visitor import visitor
from elimipl_app.shell.download import download_button
from elimipl_app.shell.handover import open_in_explore
from elimipl_app.shell.markdown import escape
from elimipl_app.shell.page import show_error
from elimipl_app.shell.palette import current_palette
from elimipl_app.slide import texts
from elimipl_app.slide.regions.panel import add_drawn, regions_of, show_regions
from elimipl_app.slide.sources import Chosen
from elimipl_app.slide.tiles import TILE, levels, serve_tiles
from elimipl_app.slide.viewer import show_viewer

NOTHING = 255
"""Class of a tile that was left out, as the viewer knows it."""
_FINE = 65535
_COLOURS = "Teal"
_OCTAVES = (1.0, 6.0)  # least and most


def for_viewer(title: str, slide_map: SlideMap) -> dict[str, Any]:
    """Where the tiles lie, and the class, probability and attention of each."""
    classes, tissue = slide_map.classes, slide_map.grid.is_tissue
    octaves = _octaves(slide_map)
    return {
        "title": title,
        "cell": float(slide_map.about.step),
        "rows": slide_map.grid.rows,
        "columns": slide_map.grid.columns,
        "parts": slide_map.attention.shape[0] // slide_map.grid.rows,
        "classes": _text(np.where(tissue, classes, NOTHING).astype(np.uint8)),
        "probability": _text(_in_steps(slide_map.probability)),
        "attention": _text(_in_steps(_doublings(slide_map.attention, octaves) / (2 * octaves) + 0.5)),
        "sets": _sets(slide_map.label_sets),
        "octaves": octaves,
        "names": list(slide_map.label_space.titles),
        "codes": list(slide_map.label_space.codes),
        "marks": [list(mark) for mark in class_marks(classes)],
        "colours": list(class_colours(slide_map.label_space)),
    }


def _sets(members: np.ndarray | None) -> str | None:
    """The label set of every tile as the bits of a number; None without them, and for more classes than it has bits."""
    if members is None or members.shape[2] > 32:
        return None
    return _text((members * (1 << np.arange(members.shape[2], dtype="<u4"))).sum(axis=2).astype("<u4"))


def _octaves(slide_map: SlideMap) -> float:
    """How many doublings from the average the attention scale reaches on both sides; nearly even maps stay faint."""
    attention = slide_map.attention[slide_map.attention > 0]
    return float(np.clip(np.abs(np.log2(attention)).max(initial=0.0), *_OCTAVES))


def _doublings(attention: np.ndarray, most: float) -> np.ndarray:
    """Attention as doublings of the average, at most so many on both sides."""
    return np.clip(np.log2(np.maximum(attention, 2.0**-most)), -most, most)


def ramps() -> dict[str, str]:
    """The colours of probability and attention along their scales, 256 times red, green, blue and alpha."""
    scales = {"probability": rising(COLOUR_PAIRS[_COLOURS][1]), "attention": diverging(_COLOURS)}
    colours = {name: at(scale, np.linspace(0, 1, 256)) * [1, 1, 1, 255] for name, scale in scales.items()}
    return {name: _text(values.round().astype(np.uint8)) for name, values in colours.items()}


def _in_steps(shares: np.ndarray) -> np.ndarray:
    return np.round(np.clip(shares, 0.0, 1.0) * _FINE).astype("<u2")


def _text(array: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")


VIEWER = "slide_viewer"
FIELD, FIELD_MICRONS = 672, 0.5
"""Pixels along a side of the field that Explore gets, and their size: what the models look at in one go."""


@st.fragment
def show_slide(chosen: Chosen, maps: Mapping[str, SlideMap]) -> None:
    """The slide with none, one or two of its maps, and the regions below; a click or a region reruns only this."""
    panes = _choose_panes(maps)
    shown = list(dict.fromkeys(pane for pane in panes if pane is not None))
    result = show_viewer(_data(chosen, maps, panes, shown), VIEWER, on_drawn=lambda: _take_drawn(chosen))
    st.caption(
        "Wheel or pinch zooms, dragging moves, a click chooses a field. Keys: arrows, + and −, 0 for everything, H "
        "hides the map. Polygon: click the corners; a double click or Enter closes it, Escape gives up."
    )
    if result.opened:
        _open(chosen, result.opened)
    for name in shown:
        if is_even(maps[name]):
            st.caption(f"{escape(name)}: attention is even all over this slide, so its layer means nothing.")
        _offer_files(chosen, name, maps[name])
    show_regions(chosen, maps[shown[0]] if shown else None)


def is_even(slide_map: SlideMap) -> bool:
    """Whether the attention, as a multiple of the average, tells no places of the tissue apart."""
    times = slide_map.attention[slide_map.attention > 0]
    return bool(times.size and times.max() < EVEN and times.min() > 1 / EVEN)


def _offer_files(chosen: Chosen, name: str, slide_map: SlideMap) -> None:
    download_button(
        f"Files of the map of {escape(name)}",
        lambda: map_zip(slide_map, chosen.slide),
        f"map-{slide_map.about.model}.zip",
        "application/zip",
        {},
        icon=":material/download:",
        help="A zip with map.json, map.geojson for QuPath, map.csv, map.png and a report: what “elimipl map” writes.",
        key=f"slide_files_{name}",
    )


def _choose_panes(maps: Mapping[str, SlideMap]) -> list[str | None]:
    """Which map each pane shows, None for the slide alone."""
    if not maps:
        return [None]
    left, right = st.columns(2)
    names = list(maps)
    first = left.selectbox("Map shown", [*names, "none"], key="slide_map")
    beside = ["nothing", texts.SLIDE_ALONE, *(name for name in names if name != first)]
    second = right.selectbox("Beside it", beside, key="slide_beside")
    panes = [first if first in maps else None]
    if second == texts.SLIDE_ALONE:
        return [None, *panes]
    return [*panes, second] if second in maps else panes


def _data(
    chosen: Chosen, maps: Mapping[str, SlideMap], panes: Sequence[str | None], shown: Sequence[str]
) -> dict[str, Any]:
    microns = chosen.slide.microns_per_pixel
    return {
        "slide": {
            "id": chosen.id,
            "tiles": serve_tiles(visitor(), chosen),
            "width": chosen.width,
            "height": chosen.height,
            "levels": levels(chosen.width, chosen.height),
            "tile": TILE,
            "microns": microns,
            "field": _field_side(microns),
        },
        "panes": [
            {"title": pane or chosen.title, "map": None if pane is None else list(shown).index(pane)} for pane in panes
        ],
        "maps": [for_viewer(name, maps[name]) for name in shown],
        "ramps": ramps(),
        "regions": [{"name": region.name, "rings": region.rings} for region in regions_of(chosen)],
        "colours": {"region": current_palette().outline},
        "words": texts.VIEWER_WORDS,
    }


def _field_side(microns: float | None) -> float:
    """Pixels of level 0 along a side of a field; a slide without a scale is taken to have the models' own."""
    return FIELD * FIELD_MICRONS / (microns or FIELD_MICRONS)


def _take_drawn(chosen: Chosen) -> None:
    sent = st.session_state[VIEWER].get("drawn")
    if isinstance(sent, dict) and sent.get("slide") == chosen.id:
        add_drawn(chosen, sent.get("ring"))


def _open(chosen: Chosen, sent: Any) -> None:
    """Hand the field with that upper left corner to Explore; a browser may send anything."""
    try:
        field, x, y = field_image(chosen, sent)
    except InputError as error:
        show_error(error)
        return
    microns = chosen.slide.microns_per_pixel or FIELD_MICRONS
    half = field.width * FIELD_MICRONS / microns / 2
    across, down = (x + half) * microns / 1000, (y + half) * microns / 1000
    open_in_explore(field, f"field of a slide at {across:.2f}, {down:.2f} mm")  # never the name of the file


def field_image(chosen: Chosen, sent: Any) -> tuple[TissueImage, int, int]:
    """The field at the corner that a browser sent, at the models' scale, and its corner on the slide."""
    try:
        x, y = int(sent["x"]), int(sent["y"])
        known = sent["slide"] == chosen.id
    except (TypeError, KeyError, ValueError, OverflowError):
        known, x, y = False, 0, 0
    slide = chosen.slide
    if not known or not (0 <= x < slide.width and 0 <= y < slide.height):
        raise InputError("That field does not lie on this slide.", "Click on the slide again.")
    side = min(_field_side(slide.microns_per_pixel), slide.width, slide.height)
    pixels = max(1, round(side * FIELD / _field_side(slide.microns_per_pixel)))
    image = TissueImage.from_array(slide.pixels(x, y, side, side, (pixels, pixels)))
    if slide.scale_origin == "assumed":
        return image, x, y
    source = ESTIMATED if slide.scale_origin == "estimated" else "the slide"
    return image.at_scale(FIELD_MICRONS, source), x, y


def map_zip(slide_map: SlideMap, slide: Slide) -> bytes:
    """map.json, map.geojson for QuPath, map.csv, map.png, the report, and the map itself."""
    packed = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder:
        write_map(slide_map, slide, Path(folder))
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(Path(folder).iterdir()):
                archive.write(path, path.name)
    return packed.getvalue()
