"""A region that a person brings along, as a mask or as GeoJSON, to be compared with the map like one that was drawn."""

from __future__ import annotations

from functools import partial

import cv2
import numpy as np
import streamlit as st

from bag_generators import InputError
from elimipl_app.explore.analysis import Analysis, bag_key, set_region
from elimipl_app.server.pixels import read_upload
from elimipl_app.shell.page import show_error

ENDINGS = (".png", ".geojson", ".json")
MOST_PARTS = 500
MOST_RINGS = 5_000
"""Outlines and holes of a mask; the time to join them grows with the square of their number."""
SPECK = 4
"""Pixels; smaller parts and holes of a mask are left out."""
HELP = (
    "A PNG mask as large as the picture, light where the region is, or GeoJSON in pixels of the picture (in QuPath: "
    "File → Export objects as GeoJSON)."
)


def load_region(analysis: Analysis) -> None:
    """Ask for the file; what it holds takes the place of what was drawn."""
    whole, key = analysis.view.picture, bag_key(analysis)
    size = whole.width, whole.height  # Streamlit keeps callbacks; one that held the analysis would keep its picture
    with st.popover("Load a region", icon=":material/upload_file:"):
        st.file_uploader(
            "Mask or GeoJSON", type=list(ENDINGS), key="truth_file", help=HELP, on_change=partial(_take, key, *size)
        )
    if (trouble := st.session_state.get("truth_trouble")) is not None:
        show_error(trouble)


def _take(of_bag: str, width: int, height: int) -> None:
    upload = st.session_state["truth_file"]
    st.session_state["truth_trouble"] = None
    if upload is None:
        return
    try:
        set_region(of_bag, read_region(upload.name, upload.getvalue(), width, height))
    except InputError as error:
        st.session_state["truth_trouble"] = error


def read_region(name: str, data: bytes, width: int, height: int) -> list[np.ndarray]:
    """The parts of a region of a picture of this size, (v, 2) each; one with holes runs around them, too."""
    if name.lower().endswith(".png"):
        parts = _parts_of_mask(read_upload(data).pixels, width, height)
    else:
        from elimipl.slides.regions.geojson import read_regions  # takes long to import, and few bring a file

        regions = read_regions(data, width, height).regions
        parts = [_joined([np.array(ring) for ring in one.rings]) for one in regions]
    if not parts:
        raise InputError("The file holds no region of this picture.", HELP)
    if len(parts) > MOST_PARTS:
        raise InputError(f"The region has {len(parts):,} parts.", f"Give at most {MOST_PARTS}.")
    return parts


def _parts_of_mask(pixels: np.ndarray, width: int, height: int) -> list[np.ndarray]:
    if pixels.shape[:2] != (height, width):
        raise InputError(
            f"The mask is {pixels.shape[1]} × {pixels.shape[0]} px, the picture {width} × {height} px.",
            "Export the mask at the size of the picture.",
        )
    light = (pixels.mean(axis=2) > 127).astype(np.uint8)
    found, tree = cv2.findContours(light, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE)
    parents = [] if tree is None else tree[0, :, 3].tolist()
    rings = {
        number: ring.reshape(-1, 2).astype(np.float64)
        for number, ring in enumerate(found)
        if cv2.contourArea(ring) >= SPECK
    }
    if len(rings) > MOST_RINGS:
        raise InputError(
            f"The mask has {len(rings):,} outlines and holes.", f"Smooth it until at most {MOST_RINGS:,} are left."
        )
    outlines = {number: [ring] for number, ring in rings.items() if parents[number] < 0}
    for number, ring in rings.items():
        if parents[number] in outlines:
            outlines[parents[number]].append(ring)
    return [_joined(own) for own in outlines.values()]


LOOKED_AT = 500
"""Corners of a ring among which the next hole's nearest is looked for."""


def _joined(rings: list[np.ndarray]) -> np.ndarray:
    """An outline and its holes as one line that goes there and back, so that the holes are not filled."""
    path = rings[0]
    for hole in rings[1:]:
        steps = [max(1, len(ring) // LOOKED_AT) for ring in (path, hole)]
        apart = np.square(path[:: steps[0], None] - hole[None, :: steps[1]]).sum(axis=-1)
        leave, enter = (int(at) * step for at, step in zip(divmod(apart.argmin(), apart.shape[1]), steps, strict=True))
        path = np.concatenate([path[: leave + 1], np.roll(hole, -enter, axis=0), hole[enter : enter + 1], path[leave:]])
    return path
