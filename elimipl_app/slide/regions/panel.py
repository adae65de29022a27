"""The regions of a slide on the page: kept for the browser, named, deleted, brought along and taken away."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from bag_generators import InputError
from elimipl.csv_cells import defused
from elimipl.slides import SlideMap
from elimipl.slides.regions.geojson import read_regions, write_regions
from elimipl.slides.regions.numbers import RegionNumbers, measure_region
from elimipl.slides.regions.region import Region, drawn_ring, kept_regions
from elimipl_app.server.visitor import visitor
from elimipl_app.shell.download import download_button
from elimipl_app.shell.page import show_error
from elimipl_app.slide import texts
from elimipl_app.slide.sources import Chosen

_TABLE, _IMPORT, _TROUBLE = "slide_regions", "slide_geojson", "slide_region_trouble"


def regions_of(chosen: Chosen) -> tuple[Region, ...]:
    """The regions this browser has on a slide."""
    return kept_regions.of(visitor(), chosen.id)


def add_drawn(chosen: Chosen, ring: Any) -> None:
    """Keep the region that was drawn; what is wrong with it is said when the page has been drawn."""
    try:
        number = _next_number(chosen)
        area = drawn_ring(ring, chosen.width, chosen.height)
        _keep(chosen, (*regions_of(chosen), Region(number, f"Region {number}", area)))
    except InputError as error:
        st.session_state[_TROUBLE] = error


def show_regions(chosen: Chosen, slide_map: SlideMap | None) -> None:
    """The table of regions with what the map says in them, and files in and out."""
    st.subheader(
        "Regions",
        help=(
            "Area in mm²; share of each class and of the slide's attention inside. AUROC: the chance that a place "
            "inside scores above one outside, for the attention and for the probability of the region's most "
            "frequent class."
        ),
    )
    if (trouble := st.session_state.pop(_TROUBLE, None)) is not None:
        show_error(trouble)
    regions = regions_of(chosen)
    numbers = {
        region.number: measure_region(region.area, chosen.slide.microns_per_pixel, slide_map) for region in regions
    }
    if regions:
        _show_table(chosen, regions, numbers, slide_map.label_space.title if slide_map else str)
    else:
        st.caption("Draw with Box or Polygon above, or bring annotations along from QuPath.")
    _take_file(chosen)
    if regions:
        download_button(
            "Regions as GeoJSON",
            lambda: write_regions(regions, numbers),
            "regions.geojson",
            "application/geo+json",
            {},
            icon=":material/polyline:",
            help="Drag the file onto the slide in QuPath.",
        )


def _show_table(
    chosen: Chosen, regions: tuple[Region, ...], numbers: dict[int, RegionNumbers], title: Callable[[str], str]
) -> None:
    rows = [_row(region, numbers[region.number], title) for region in regions]
    table = pd.DataFrame(rows, columns=list(texts.COLUMNS))
    # A new key with every change: the widget remembers edits by row, and the rows have moved.
    key = f"{_TABLE}_{chosen.id}_{'_'.join(str(region.number) for region in regions)}"
    st.data_editor(
        table,
        key=key,
        width="stretch",
        hide_index=True,
        num_rows="delete",
        disabled=[name for name in texts.COLUMNS if name != "name"],
        column_config={
            name: title if name in ("name", "main") else st.column_config.NumberColumn(title, format=_FORMATS[name])
            for name, title in texts.COLUMNS.items()
        },
        on_change=_edit,
        args=(chosen, key),
        alt="The regions with their area, classes, attention and AUROC.",
    )


_FORMATS = {
    "area": "%.4f",
    "mapped": "percent",
    "attention": "percent",
    "auroc_attention": "%.3f",
    "auroc_class": "%.3f",
}


def _row(region: Region, numbers: RegionNumbers, title: Callable[[str], str]) -> dict[str, Any]:
    return {
        "name": defused(region.name),
        "area": numbers.area_mm2,
        "main": texts.shares(numbers.class_shares, title),
        "mapped": numbers.mapped,
        "attention": numbers.attention_share,
        "auroc_attention": numbers.auroc_attention,
        "auroc_class": numbers.auroc_class,
    }


def _edit(chosen: Chosen, key: str) -> None:
    """Take over a new name or a deletion from the table."""
    changes = st.session_state[key]
    renamed = {int(row): edit["name"] for row, edit in changes["edited_rows"].items() if edit.get("name")}
    deleted = {int(row) for row in changes["deleted_rows"]}
    _keep(
        chosen,
        tuple(
            region.renamed(str(renamed.get(row, region.name)))
            for row, region in enumerate(regions_of(chosen))
            if row not in deleted
        ),
    )


def _take_file(chosen: Chosen) -> None:
    """Add the annotations of a file, once."""
    upload = st.file_uploader(
        "Annotations (GeoJSON)",
        type=[".geojson", ".json"],
        help="In QuPath: File → Export objects as GeoJSON. Coordinates are pixels of the full slide.",
        key=_IMPORT,
    )
    seen = (None, None) if upload is None else (upload.file_id, chosen.id)
    before = st.session_state.get(f"{_IMPORT}_seen")
    if upload is None or (before is not None and before[0] == seen):
        if upload is not None and before is not None:
            _say(before[1])
        return
    outcome: str | InputError
    try:
        found = read_regions(upload.getvalue(), chosen.width, chosen.height, _next_number(chosen))
        _keep(chosen, (*regions_of(chosen), *found.regions))
        outcome = texts.imported(len(found.regions), found.outside, found.not_areas)
    except InputError as error:
        outcome = error
    st.session_state[f"{_IMPORT}_seen"] = (seen, outcome)
    st.rerun()


def _say(outcome: str | InputError) -> None:
    if isinstance(outcome, InputError):
        show_error(outcome)
    else:
        st.caption(outcome)


def _next_number(chosen: Chosen) -> int:
    return max((region.number for region in regions_of(chosen)), default=0) + 1


def _keep(chosen: Chosen, regions: tuple[Region, ...]) -> None:
    kept_regions.keep(visitor(), chosen.id, regions)
