"""What to compare, whether it shows what Figure 2 shows, and two methods side by side after an epoch to choose."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from bag_generators import TissueImage
from bag_generators.tissue.phantom import Phantom
from elimipl.candidates.crowd import Candidates
from elimipl.config import Config
from elimipl.datasets.shipped import redraw
from elimipl.training.figure_two import FigureTwo, figure_two, four_probabilities, median_bag
from elimipl.training.trajectories import ACCURACIES, Trajectories, read_trajectories, recordings
from elimipl_app.charts.bars import instance_bars
from elimipl_app.charts.curves import accuracy_curves
from elimipl_app.charts.tissue import attention_map
from elimipl_app.compare import texts
from elimipl_app.compare.figures import final_bars, four_curves, method_bars, small_multiples
from elimipl_app.inputs import picker
from elimipl_app.runs.current import POLL_SECONDS, current_run, start_run
from elimipl_app.runs.plan import WATCHABLE_PACE, Plan, make_plan
from elimipl_app.runs.worker import TrainingRun
from elimipl_app.shell import charts, choices
from elimipl_app.shell.cached import bag_of, named_bags
from elimipl_app.shell.page import show_error
from elimipl_app.shell.palette import current_palette
from elimipl_app.shell.texts import in_line

FIRST, SECOND = "DEMIPL", "ELIMIPL"  # what Figure 2 compares
NEAREST_TO_THE_PAPER = "tissue-row-authors"


@dataclass(frozen=True, eq=False)
class Comparison:
    """One bag of a recording and the two methods to look at."""

    recorded: Trajectories
    bag: int
    left: str
    right: str

    @property
    def true_index(self) -> int:
        return int(self.recorded.labels[self.bag])

    @property
    def candidates(self) -> np.ndarray:
        return self.recorded.candidates[self.bag]

    @property
    def top(self) -> float:
        """Where the scale of probabilities ends for this recording: the authors' head reaches no more than a third."""
        return float(np.ceil(10 * self.recorded.probabilities.max()) / 10)

    def probabilities(self, method: str) -> np.ndarray:
        """(T + 1, k) of this bag."""
        return self.recorded.probabilities[self.recorded.method(method), :, self.bag]

    def attention(self, method: str, epoch: int) -> np.ndarray:
        """(n,) of this bag after an epoch."""
        rows = self.recorded.instances(self.bag)
        return self.recorded.attention[self.recorded.method(method), epoch, rows].astype(np.float64)


@st.cache_resource(max_entries=8, show_spinner=False)
def recording(name: str) -> Trajectories:
    """A recording that ships; read-only, so all visitors share it."""
    return read_trajectories(recordings()[name])


def choose_comparison() -> Comparison | None:
    """None where no recording is installed; that is said."""
    names = list(recordings())
    if not names:
        st.warning(texts.NO_RECORDINGS, icon=":material/warning:")
        return None
    st.subheader(texts.DATA_HEADING, divider="gray")
    name = choices.one_of(
        texts.DATA_HEADING,
        names,
        "compare_data",
        NEAREST_TO_THE_PAPER if NEAREST_TO_THE_PAPER in names else names[-1],
        lambda one: recording(one).about.title,
        shape="list",
        label_hidden=True,
    )
    recorded = recording(name)
    st.subheader(texts.BAG_HEADING, divider="gray")
    space = recorded.label_space
    bag = choices.one_of(
        texts.BAG_HEADING,
        range(len(recorded.labels)),
        f"compare_bag_{name}",
        median_bag(recorded, FIRST, SECOND),
        lambda number: texts.bag_title(number, space.titles[recorded.labels[number]]),
        shape="pills",
        label_hidden=True,
    )
    others = [space.titles[c] for c in np.flatnonzero(recorded.candidates[bag]) if c != recorded.labels[bag]]
    st.caption(f"True label **{space.titles[recorded.labels[bag]]}**; false candidates {', '.join(others)}.")
    st.caption(texts.BAG_RULE)
    st.subheader("Methods", divider="gray")
    methods = recorded.about.methods
    left, right = (
        picker.choose_method(f"compare_{label.lower()}", methods, label, start)
        for label, start in (("Left", FIRST), ("Right", SECOND))
    )
    return Comparison(recorded, bag, left, right)


def show_verdict(comparison: Comparison) -> None:
    """The answer, its numbers beside the paper's words, and the same for every recording."""
    left, right = comparison.left, comparison.right
    found = _found(comparison.recorded.about.id, left, right)
    st.subheader(texts.VERDICT_TITLES[found.shown], divider="gray", anchor=False, help=texts.VERDICT_HELP)
    for holds, statement in texts.statements(found, left, right):
        st.markdown(f":{'green' if holds else 'red'}[:material/{'check' if holds else 'close'}:] {statement}")
    about = comparison.recorded.about
    if about.configs[right]["head"] == "softmax_of_sigmoid":
        st.caption(texts.narrow_head(len(about.label_space)))
    with st.expander(
        f"Medians of all {found.bags} training bags, beside the paper; and every recording",
        icon=":material/table_chart:",
    ):
        st.markdown(texts.medians_table(found, left, right))
        st.caption(f"{texts.PAPER_VALUES} {texts.SAME_STATEMENT}")
        st.markdown(f"**The same question for every recording** ({left} → {right})")
        known = [name for name in recordings() if {left, right} <= set(recording(name).about.methods)]
        every = [(recording(name).about, _found(name, left, right)) for name in known]
        st.markdown(texts.overview_table(every, right))


@st.cache_resource(max_entries=256, show_spinner=False)
def _found(name: str, left: str, right: str) -> FigureTwo:
    return figure_two(recording(name), left, right)


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
    settings = texts.settings_line(recorded.about.configs[method])
    st.caption(f"{settings} At the end {measured:.0%} of the held-out bags are classified rightly.")
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
    alt = f"Attention of {method}: highest at instance {int(attention.argmax())} with {attention.max():.2f}."
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
    shares = ", ".join(f"{name} {row[0]:.0%}" for name, row in zip(methods, four, strict=True))
    charts.show(figure, key="all-methods", alt=f"Probability of the true label: {shares}.")
    if epoch > 0:
        st.markdown("**All bags after this epoch**", help=texts.TABLE_HELP)
        st.markdown(texts.accuracy_table(methods, recorded.accuracies[:, epoch - 1]))


_RUN = "compare_run"


def show_live(comparison: Comparison) -> None:
    """Choose a method and a seed, start, watch the bag that is compared above."""
    st.subheader("Train it here", divider="gray", anchor=False)
    st.caption(texts.LIVE_ABOUT)
    methods = comparison.recorded.about.methods
    with st.container(horizontal=True, vertical_alignment="bottom"):
        method = st.selectbox("Method", methods, index=methods.index(comparison.right), key="live_method", width=180)
        seed = st.number_input("Seed", 0, 9999, 1, key="live_seed", width=140)
        if st.button("Train it here", icon=":material/play_arrow:", type="primary", key="live_start"):
            start_run(plan_for(comparison, method, int(seed)), _RUN)
    run = current_run(_RUN)
    if run is None or run.plan.title != _title(comparison, run.plan.title.partition(" on ")[0]):
        return
    running = not run.progress.is_over
    st.fragment(_show_run, run_every=POLL_SECONDS if running else None)(comparison, run, running)


def plan_for(comparison: Comparison, method: str, seed: int) -> Plan:
    """The recorded training of a method with another seed, slow enough to be watched."""
    about = comparison.recorded.about
    config = Config.from_dict(about.configs[method]).replace(seed=seed)
    candidates = Candidates(about.candidates, about.r, about.candidate_seed)
    bags, watch = named_bags(about.bags), len(about.bag_names)
    return make_plan(_title(comparison, method), bags, candidates, config, pace=WATCHABLE_PACE, watch=watch)


def _title(comparison: Comparison, method: str) -> str:
    return f"{method} on {comparison.recorded.about.title}"


def _show_run(comparison: Comparison, run: TrainingRun, was_running: bool) -> None:
    progress, epochs = run.progress, run.plan.config.epochs
    if was_running and progress.is_over:
        st.rerun()
    if progress.error is not None:
        show_error(progress.error)
        return
    state_in_words = texts.live_state(progress.state, run.plan.title, progress.done, epochs)
    bar, stop = st.columns([4, 1.3], vertical_alignment="center")
    bar.progress(progress.done / epochs, " · ".join(filter(None, (state_in_words, in_line(*run.place)))))
    if not progress.is_over:
        stop.button("Stop training", icon=":material/stop:", on_click=run.stop, key="live_stop", width="stretch")
    palette = current_palette()
    seen = progress.news.probabilities[:, comparison.bag]
    four = four_probabilities(seen, comparison.candidates, comparison.true_index)
    left, right = st.columns(2, gap="large")
    with left:
        alt = texts.four_alt(run.plan.title, four[-1]) if len(four) else state_in_words
        charts.show(four_curves(four, palette, epochs, first=1, top=comparison.top), key="live-curves", alt=alt)
    with right:
        charts.show(accuracy_curves(progress.news.reports, epochs, palette), key="live-accuracy", alt=state_in_words)
