"""The viewer with what belongs to it: the maps to choose, their files, the field that is opened, the regions drawn."""

import io
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from bag_generators import InputError, TissueImage
from bag_generators.scale import ESTIMATED
from bag_generators.slide import Slide
from elimipl.slides import SlideMap
from elimipl.slides.exports import write_map
from elimipl_app.charts.map_layer import EVEN
from elimipl_app.server.visitor import visitor
from elimipl_app.shell.download import download_button
from elimipl_app.shell.handover import open_in_explore
from elimipl_app.shell.markdown import escape
from elimipl_app.shell.page import show_error
from elimipl_app.shell.palette import current_palette
from elimipl_app.slide import texts
from elimipl_app.slide.overlay import for_viewer, ramps
from elimipl_app.slide.regions.panel import add_drawn, regions_of, show_regions
from elimipl_app.slide.sources import Chosen
from elimipl_app.slide.tiles import TILE, levels, serve_tiles
from elimipl_app.slide.viewer import show_viewer

VIEWER = "slide_viewer"
FIELD, FIELD_MICRONS = 672, 0.5
"""Pixels along a side of the field that Explore gets, and their size: what the models look at in one go."""


@st.fragment
def show_slide(chosen: Chosen, maps: Mapping[str, SlideMap]) -> None:
    """The slide with none, one or two of its maps, and the regions below; a click or a region reruns only this."""
    panes = _choose_panes(maps)
    shown = list(dict.fromkeys(pane for pane in panes if pane is not None))
    result = show_viewer(_data(chosen, maps, panes, shown), VIEWER, on_drawn=lambda: _take_drawn(chosen))
    st.caption(texts.HINT)
    if result.opened:
        _open(chosen, result.opened)
    for name in shown:
        if is_even(maps[name]):
            st.caption(texts.even_attention(escape(name)))
        _offer_files(chosen, name, maps[name])
    show_regions(chosen, maps[shown[0]] if shown else None)


def is_even(slide_map: SlideMap) -> bool:
    """Whether the attention, as a multiple of the average, tells no places of the tissue apart."""
    times = slide_map.attention[slide_map.attention > 0]
    return bool(times.size and times.max() < EVEN and times.min() > 1 / EVEN)


def _offer_files(chosen: Chosen, name: str, slide_map: SlideMap) -> None:
    download_button(
        texts.take_away(escape(name)),
        lambda: map_zip(slide_map, chosen.slide),
        f"map-{slide_map.about.model}.zip",
        "application/zip",
        {},
        icon=":material/download:",
        help=texts.TAKE_AWAY_HELP,
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
    open_in_explore(field, texts.field_title((x + half) * microns / 1000, (y + half) * microns / 1000))


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
