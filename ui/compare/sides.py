"""Two methods side by side, and all of them on the same bag, after an epoch to choose."""

import streamlit as st

from bag_generators import TissueImage
from bag_generators.tissue.phantom import Phantom
from elimipl.data.phantoms import redraw
from elimipl.training.figure_two import four_probabilities
from elimipl.training.trajectories import ACCURACIES
from ui.compare import texts
from ui.compare.choices import Comparison
from ui.compare.figures.multiples import small_multiples
from ui.compare.figures.trajectories import final_bars, four_curves, method_bars
from ui.figures.attention_map import attention_map
from ui.figures.instances import instance_bars
from ui.frame import charts, choices
from ui.frame.cached import bag_of
from ui.frame.palette import current_palette


@st.fragment
def show_comparison(comparison: Comparison) -> None:
    """Everything that moves with the epoch; moving it reruns only this part."""
    epochs = comparison.recorded.epochs
    epoch = choices.slider("After epoch (0 is the untrained model)", 0, epochs, epochs, "compare_epoch")
    methods = (comparison.left, comparison.right)
    # One colour scale for both, so that the two maps can be compared.
    highest = max(float(comparison.attention(method, epoch).max()) for method in methods)
    for side, (column, method) in enumerate(zip(st.columns(2, gap="large"), methods, strict=True)):
        with column:
            _show_side(comparison, method, epoch, highest, f"side-{side}")
    _show_bags(comparison, epoch)
    _show_all(comparison, epoch)


def _show_side(comparison: Comparison, method: str, epoch: int, highest: float, key: str) -> None:
    recorded, palette = comparison.recorded, current_palette()
    measured = recorded.accuracies[recorded.method(method), -1, ACCURACIES.index("held_out_accuracy")]
    st.subheader(method, anchor=False)
    st.caption(texts.side_about(recorded.about.configs[method], float(measured)))
    four = four_probabilities(comparison.probabilities(method), comparison.candidates, comparison.true_index)
    alt = texts.four_alt(method, four[epoch])
    st.markdown("**Probabilities over the training**")
    curves = four_curves(four, palette, recorded.epochs, marked=epoch, top=comparison.top)
    charts.show(curves, key=f"{key}-curves", alt=alt)
    st.markdown("**Probabilities after this epoch**")
    bars = final_bars(four[epoch], palette, comparison.top)
    charts.show(bars, key=f"{key}-bars", alt=alt)
    st.markdown("**Attention after this epoch**")
    _show_attention(comparison, method, epoch, highest, key)


def _show_attention(comparison: Comparison, method: str, epoch: int, highest: float, key: str) -> None:
    recorded, palette = comparison.recorded, current_palette()
    attention = comparison.attention(method, epoch)
    alt = texts.attention_alt(method, attention)
    if recorded.about.bags.startswith("phantoms-"):
        image = TissueImage.from_array(_phantom(recorded.about.bag_names[comparison.bag]).pixels)
        bag = bag_of(image, recorded.about.bags.removeprefix("phantoms-"))
        figure = attention_map(image, bag, attention, highest, None, palette, texts.ATTENTION_AXIS)
        charts.show(figure, key=f"{key}-map", alt=alt)
    truth = recorded.truth_of(comparison.bag)
    figure = instance_bars(attention, palette, texts.ATTENTION_AXIS, truth)
    figure.update_yaxes(range=[0, highest * 1.05])
    charts.show(figure, key=f"{key}-attention", alt=alt)


@st.cache_resource(max_entries=32, show_spinner=False)
def _phantom(name: str) -> Phantom:
    return redraw(name)


def _show_bags(comparison: Comparison, epoch: int) -> None:
    """All watched bags as small multiples."""
    recorded = comparison.recorded
    st.markdown("**All watched bags after this epoch**", help=texts.BAGS_HELP)
    pairs = recorded.probabilities[[recorded.method(name) for name in (comparison.left, comparison.right)], epoch]
    names = recorded.label_space.titles
    bags = [
        (
            texts.bag_title(bag, names[label]),
            four_probabilities(pairs[:, bag], recorded.candidates[bag], int(label)),
            bag == comparison.bag,
        )
        for bag, label in enumerate(recorded.labels)
    ]
    st.html(small_multiples(bags, (comparison.left, comparison.right), current_palette(), comparison.top))


def _show_all(comparison: Comparison, epoch: int) -> None:
    recorded = comparison.recorded
    methods = recorded.about.methods
    st.markdown("**All methods on this bag**", help=texts.ALL_HELP)
    now = recorded.probabilities[:, epoch, comparison.bag]
    four = four_probabilities(now, comparison.candidates, comparison.true_index)
    figure = method_bars(four, methods, current_palette(), comparison.top)
    alt = texts.all_alt(methods, four)
    charts.show(figure, key="all-methods", alt=alt)
    if epoch > 0:
        st.markdown("**All bags after this epoch**", help=texts.TABLE_HELP)
        st.markdown(texts.accuracy_table(methods, recorded.accuracies[:, epoch - 1]))
