"""Two methods side by side, and all of them on the same bag, after an epoch to choose."""

import streamlit as st

from bag_generators import TissueImage
from bag_generators.phantom import Phantom
from elimipl.datasets.phantoms import redraw
from elimipl.trajectories import ACCURACIES
from ui.cached import bag_of
from ui.compare.choices import Comparison
from ui.figures.attention_map import attention_map
from ui.figures.instances import instance_bars
from ui.figures.trajectories import final_bars, method_bars, three_curves, three_probabilities
from ui.palette import current_palette
from ui.teach import compare_wording as wording

CHART_CONFIG = {"displayModeBar": False, "responsive": True}


@st.fragment
def show_comparison(comparison: Comparison) -> None:
    """Everything that moves with the epoch; moving it reruns only this part."""
    epochs = comparison.recorded.epochs
    epoch = st.slider(wording.EPOCH_LABEL, 0, epochs, epochs, key="compare_epoch", bind="query-params")
    methods = (comparison.left, comparison.right)
    # One colour scale for both, so that the two maps can be compared.
    highest = max(float(comparison.attention(method, epoch).max()) for method in methods)
    for place, (column, method) in enumerate(zip(st.columns(2, gap="large"), methods, strict=True)):
        with column:
            _show_side(comparison, method, epoch, highest, f"side-{place}")
    _show_all(comparison, epoch)


def _show_side(comparison: Comparison, method: str, epoch: int, highest: float, key: str) -> None:
    recorded, palette = comparison.recorded, current_palette()
    measured = recorded.accuracies[recorded.method(method), -1, ACCURACIES.index("held_out_accuracy")]
    st.subheader(method, anchor=False)
    st.caption(wording.side_about(float(measured)))
    three = three_probabilities(comparison.probabilities(method), comparison.candidates, comparison.true_index)
    told = wording.three_alt(method, three[epoch])
    st.markdown(f"**{wording.CURVES_HEADING}**")
    curves = three_curves(three, palette, recorded.epochs, marked=epoch)
    st.plotly_chart(curves, theme=None, config=CHART_CONFIG, key=f"{key}-curves", alt=told)
    st.markdown(f"**{wording.BARS_HEADING}**")
    bars = final_bars(three[epoch], palette)
    st.plotly_chart(bars, theme=None, config=CHART_CONFIG, key=f"{key}-bars", alt=told)
    st.markdown(f"**{wording.ATTENTION_HEADING}**")
    _show_attention(comparison, method, epoch, highest, key)


def _show_attention(comparison: Comparison, method: str, epoch: int, highest: float, key: str) -> None:
    recorded, palette = comparison.recorded, current_palette()
    attention = comparison.attention(method, epoch)
    told = wording.attention_alt(method, attention)
    if recorded.about.bags.startswith("phantoms-"):
        image = TissueImage.from_array(_phantom(recorded.about.bag_names[comparison.bag]).pixels)
        bag = bag_of(image, recorded.about.bags.removeprefix("phantoms-"))
        figure = attention_map(image, bag, attention, highest, None, palette, wording.ATTENTION_AXIS)
        st.plotly_chart(figure, theme=None, config=CHART_CONFIG, key=f"{key}-map", alt=told)
    truth = recorded.truth_of(comparison.bag)
    figure = instance_bars(attention, palette, wording.ATTENTION_AXIS, truth)
    figure.update_yaxes(range=[0, highest * 1.05])
    st.plotly_chart(figure, theme=None, config=CHART_CONFIG, key=f"{key}-attention", alt=told)


@st.cache_resource(max_entries=32, show_spinner=False)
def _phantom(name: str) -> Phantom:
    return redraw(name)


def _show_all(comparison: Comparison, epoch: int) -> None:
    recorded = comparison.recorded
    methods = recorded.about.methods
    st.markdown(f"**{wording.ALL_HEADING}**", help=wording.ALL_HELP)
    now = recorded.probabilities[:, epoch, comparison.bag]
    three = three_probabilities(now, comparison.candidates, comparison.true_index)
    figure = method_bars(three, methods, current_palette())
    told = wording.all_alt(methods, three)
    st.plotly_chart(figure, theme=None, config=CHART_CONFIG, key="all-methods", alt=told)
    if epoch > 0:
        st.markdown(f"**{wording.TABLE_HEADING}**", help=wording.TABLE_HELP)
        st.markdown(wording.accuracy_table(methods, recorded.accuracies[:, epoch - 1]))
