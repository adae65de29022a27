"""What lies between the picture and an instance, computed by the generators' own code and shown step by step."""

from dataclasses import dataclass

import cv2
import numpy as np
import plotly.graph_objects as go
import streamlit as st

from bag_generators import Bag, TissueImage
from bag_generators.generators.grid import CELLS, colour_grid
from bag_generators.generators.kmeans import grow
from bag_generators.generators.kmeansseg import block_features, choose_k, spread
from bag_generators.generators.sbn import blobs
from bag_generators.generators.sift import CELL, POINTS, gradient_ramps
from bag_generators.generators.working_size import SIDE, working_copy
from bag_generators.tissue.stain import normalise
from ui.frame.palette import Palette
from ui.generators.figures import generator_steps as figures

BEYOND = 3  # clusters tried beyond the stop, to show that they gain little
PATCH = 4 * CELL  # px of the working copy


@dataclass(frozen=True, eq=False)
class Stations:
    """The intermediate quantities of all four generators for one picture."""

    working: np.ndarray
    """(224, 224, 3) uint8"""
    grid: np.ndarray
    """(8, 8, 3) mean colours, Row and SBN"""
    blocks: np.ndarray
    """(56, 56, 6) colour and texture of the blocks, KMeansSeg"""
    spreads: tuple[float, ...]
    """D(2), D(3), …, a few beyond the stop"""
    stopped_at: int
    strength: np.ndarray
    """(224, 224) gradient strength, SIFT"""


@st.cache_resource(max_entries=16, show_spinner=False)
def _stations(sha256: str, stain: str, _image: TissueImage) -> Stations:
    working = normalise(working_copy(_image.pixels), stain)
    points = block_features(working)
    stopped = len(choose_k(points).centres)
    per_side = round(len(points) ** 0.5)
    grown = list(grow(points, max(stopped, 2) + BEYOND))
    return Stations(
        working=working,
        grid=colour_grid(working),
        blocks=points.reshape(per_side, per_side, 6),
        spreads=tuple(spread(clusters) for clusters in grown),
        stopped_at=stopped,
        strength=gradient_ramps(cv2.cvtColor(working, cv2.COLOR_RGB2GRAY))[0].copy(),
    )


def stations_of(image: TissueImage, bag: Bag) -> Stations:
    """The stations of a picture, with the stain handling of the bag."""
    return _stations(image.sha256, str(bag.params["stain"]), image)


def station_figures(stations: Stations, bag: Bag, instance: int, palette: Palette) -> list[go.Figure]:
    """One figure a step, from the picture to the numbers of the instance."""
    steps = {"row": _row, "sbn": _sbn, "kmeansseg": _kmeansseg, "sift": _sift}[bag.generator]
    return [
        *steps(stations, bag, instance, palette),
        figures.feature_bars(bag.features[instance], bag.feature_names, palette),
    ]


def _row(stations: Stations, bag: Bag, instance: int, palette: Palette) -> list[go.Figure]:
    band = SIDE // CELLS
    above, below = (instance - 1) % CELLS, (instance + 1) % CELLS
    own = bag.features[instance, :3]
    colours = [own - bag.features[instance, 3:6], own, own - bag.features[instance, 6:9]]
    frames = [(0, row, CELLS, row + 1) for row in (instance, above, below)]
    return [
        figures.picture_with_frames(stations.working, [(0, instance * band, SIDE, (instance + 1) * band)], palette),
        figures.colour_grid_figure(stations.grid, frames, palette),
        figures.swatches(colours, [f"above ({above})", f"this one ({instance})", f"below ({below})"], palette),
    ]


def _sbn(stations: Stations, bag: Bag, instance: int, palette: Palette) -> list[go.Figure]:
    cell = SIDE // CELLS
    frames = [(column, row, column + 2, row + 2) for row, column in blobs(instance)]
    own = bag.features[instance, :3]
    colours = [own, *(own + bag.features[instance, start : start + 3] for start in (3, 6, 9, 12))]
    x0, y0, x1, y1 = frames[0]
    return [
        figures.picture_with_frames(stations.working, [(x0 * cell, y0 * cell, x1 * cell, y1 * cell)], palette),
        figures.colour_grid_figure(stations.grid, frames, palette),
        figures.swatches(colours, ["centre", "left", "right", "upper", "lower"], palette),
    ]


def _kmeansseg(stations: Stations, bag: Bag, instance: int, palette: Palette) -> list[go.Figure]:
    ks = range(1, len(stations.spreads) + 1)
    shown = [(k, d) for k, d in zip(ks, stations.spreads, strict=True) if k >= min(2, stations.stopped_at)]
    cells = bag.regions.cells
    size = SIDE // len(cells)
    small = cv2.resize(stations.working, cells.shape[::-1], interpolation=cv2.INTER_AREA)
    texture = np.sqrt(np.square(stations.blocks[:, :, 3:]).sum(axis=2))
    return [
        figures.map_figure(
            stations.blocks[:, :, 0], palette, f"brightness of the {size} × {size} block", colours="Greys_r"
        ),
        figures.map_figure(texture, palette, "roughness"),
        figures.stopping_curve([k for k, _ in shown], [d for _, d in shown], stations.stopped_at, palette),
        figures.segments_figure(cells, instance, small[cells == instance].mean(axis=0), palette),
    ]


def _sift(stations: Stations, bag: Bag, instance: int, palette: Palette) -> list[go.Figure]:
    row, column = divmod(instance, len(POINTS))
    left, top = POINTS[column] - PATCH // 2, POINTS[row] - PATCH // 2
    patch = (left, top, left + PATCH, top + PATCH)
    cells = [
        (left + x, top + y, left + x + CELL, top + y + CELL)
        for y in range(0, PATCH, CELL)
        for x in range(0, PATCH, CELL)
    ]
    grey = cv2.cvtColor(stations.working, cv2.COLOR_RGB2GRAY)
    return [
        figures.picture_with_frames(grey[:, :, None].repeat(3, axis=2), [patch, *cells], palette),
        figures.map_figure(stations.strength, palette, "gradient", [patch]),
        figures.orientation_stars(bag.features[instance], palette),
    ]
