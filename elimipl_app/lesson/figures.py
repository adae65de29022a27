"""The lesson's own figures: marked instances, AUROCs, and rows of digits."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from bag_generators import Bag, TissueImage
from elimipl_app.charts.tissue import add_click_targets, add_outline, add_outlines, picture_figure
from elimipl_app.lesson.recorded import Recording
from elimipl_app.shell.palette import Palette

HEIGHT = 400


def marked_picture(
    image: TissueImage,
    bag: Bag,
    palette: Palette,
    truth: np.ndarray | None = None,
    marked: tuple[int, ...] = (),
    outlined: bool = True,
    partly: np.ndarray | None = None,
) -> go.Figure:
    """The picture, its instances outlined; `marked` are framed.

    `truth` (n,) bool paints them red and steelblue; those that show a part of the class, `partly` (n,), are orange.
    """
    figure = picture_figure(image)
    if truth is not None:
        some = np.zeros(len(bag), dtype=bool) if partly is None else partly
        _paint(figure, bag, np.where(truth, 1.0, np.where(some, 0.5, 0.0)), palette)
    if outlined:
        add_outlines(figure, bag, palette)
        for instance in marked:
            add_outline(figure, bag, instance, palette)
        marks = np.zeros(len(bag)) if truth is None else truth.astype(float)
        add_click_targets(figure, bag, marks, palette, "instance")
        names = [f"instance {i}" for i in range(len(bag))]
        if truth is not None:
            names = [f"{name}: {_in_words(t, s)}" for name, t, s in zip(names, truth, some, strict=True)]
        targets = figure.data[-1]
        targets.text = [names[index] for index in targets.customdata]
        targets.hovertemplate = "%{text}<extra></extra>"
        targets.selected = {"marker": {"opacity": 0}}
    return figure.update_layout(height=HEIGHT)


def _in_words(carries: bool, some: bool) -> str:
    return "carries the class" if carries else "shows a part of it" if some else "nothing of it"


def _paint(figure: go.Figure, bag: Bag, states: np.ndarray, palette: Palette) -> None:
    """Paint 1 red, one half orange and 0 steelblue; where regions overlap the colour of the nearest state shows."""
    x_edges, y_edges, values = bag.regions.grid(states)
    figure.add_heatmap(
        x=x_edges,
        y=y_edges,
        z=values,
        zmin=0.0,
        zmax=1.0,
        colorscale=[
            [0, palette.negative], [0.25, palette.negative], [0.25, palette.candidate], [0.75, palette.candidate],
            [0.75, palette.positive], [1, palette.positive],
        ],
        opacity=0.42,
        showscale=False,
        hoverinfo="skip",
        name="truth",
    )  # fmt: skip


CHANCE, NEAR_CHANCE = 0.5, 0.1
CONTRAST_HEIGHT = 58  # two dots, a number above and one below


def contrast_figure(rows: Mapping[str, Recording], titles: Mapping[str, str], palette: Palette) -> go.Figure:
    """Dots: mean over the seeds; thick lines: lowest to highest seed; thin lines: the middle 80 % of all bags."""
    figure = go.Figure()
    names = list(rows)
    looks = {"plain": (palette.non_candidate, 0.13), "composed": (palette.chosen, -0.13)}
    for model, (colour, shift) in looks.items():
        found: list[Recording] = [getattr(row, model) for row in rows.values()]
        means = [float(np.mean(one.auroc)) for one in found]
        places = [position - shift for position in range(len(names))]
        for one, place in zip(found, places, strict=True):
            for low, high, width in ((one.deciles[1], one.deciles[9], 1.5), (min(one.auroc), max(one.auroc), 5)):
                figure.add_scatter(
                    x=[low, high], y=[place, place], mode="lines", line={"color": colour, "width": width},
                    hoverinfo="skip", showlegend=False,
                )  # fmt: skip
        figure.add_scatter(
            x=means,
            y=places,
            mode="markers+text",
            text=[f"{mean:.2f}" for mean in means],
            textposition=[f"{'top' if shift > 0 else 'bottom'} {_beside_chance(mean)}" for mean in means],
            textfont={"size": 11},
            marker={"color": colour, "size": 11, "line": {"color": palette.text, "width": 1}},
            name=titles[model],
            customdata=[[float(np.mean(one.accuracy_whole)), float(np.mean(one.accuracy))] for one in found],
            hovertemplate="AUROC %{x:.2f}; accuracy on plain bags %{customdata[0]:.2f}, on composed bags "
            "%{customdata[1]:.2f}<extra></extra>",
        )
    figure.add_vline(
        x=CHANCE,
        line={"color": palette.text, "dash": "dot"},
        annotation_text="chance",
        annotation_position="bottom left",
    )
    figure.update_xaxes(title="AUROC of the attention", range=[0, 1.03])
    figure.update_yaxes(
        tickvals=list(range(len(names))), ticktext=names, range=[len(names) - 0.4, -0.6], showgrid=False
    )
    return figure.update_layout(height=110 + CONTRAST_HEIGHT * len(names), showlegend=True)


def _beside_chance(mean: float) -> str:
    """Where a number stands, so that the line of chance does not run through it on a phone."""
    if abs(mean - CHANCE) >= NEAR_CHANCE:
        return "center"
    return "left" if mean < CHANCE else "right"


SIDE, GAP = 8, 2


def digit_row(pixels: np.ndarray, truth: np.ndarray, palette: Palette) -> go.Figure:
    """Instances (n, 64) of 0..16 side by side; positives in a red frame, negatives steelblue."""
    n = len(pixels)
    width = SIDE + GAP
    figure = go.Figure()
    canvas = np.full((SIDE, n * width - GAP), np.nan)
    for i, instance in enumerate(pixels):
        canvas[:, i * width : i * width + SIDE] = np.asarray(instance).reshape(SIDE, SIDE)
    figure.add_heatmap(
        z=canvas, zmin=0, zmax=16, colorscale="gray", reversescale=True, showscale=False, hoverinfo="skip"
    )
    for i, positive in enumerate(truth):
        left = i * width - 0.5
        figure.add_shape(
            type="rect", x0=left - 0.4, x1=left + SIDE + 0.4, y0=-0.9, y1=SIDE - 0.1,
            line={"color": palette.positive if positive else palette.negative, "width": 3},
        )  # fmt: skip
        figure.add_annotation(
            x=left + SIDE / 2, y=SIDE + 0.4, yanchor="top", text=f"{i}", showarrow=False,
            font={"size": 12},
        )  # fmt: skip
    figure.update_xaxes(visible=False, range=[-2, n * width])
    figure.update_yaxes(visible=False, range=[SIDE + 4, -2], scaleanchor="x", constrain="domain")
    return figure.update_layout(
        height=120,
        margin={"l": 0, "r": 0, "t": 4, "b": 0},
        showlegend=False,
    )
