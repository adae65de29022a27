"""What to compare, whether it shows what Figure 2 shows, and two methods side by side after an epoch to choose."""

from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from bag_generators import InputError, TissueImage
from bag_generators.tissue.phantom import Phantom
from elimipl.candidates.crowd import Candidates
from elimipl.config import Config
from elimipl.datasets.shipped import bag_sets, redraw
from elimipl.methods import training_config
from elimipl.training.figure_two import four_probabilities
from elimipl.training.trajectories import Trajectories, read_trajectories, recordings
from elimipl_app.charts.bars import instance_bars
from elimipl_app.charts.curves import accuracy_curves
from elimipl_app.charts.tissue import attention_map
from elimipl_app.compare import texts
from elimipl_app.compare.figures import final_bars, four_curves, method_bars, share_curves, small_multiples
from elimipl_app.inputs import picker
from elimipl_app.runs.trained import POLL_SECONDS, current_run, start_run
from elimipl_app.runs.worker import WATCHABLE_PACE, Plan, TrainingRun, make_plan
from elimipl_app.shell import charts, choices
from elimipl_app.shell.cached import bag_of, named_bags
from elimipl_app.shell.page import show_error
from elimipl_app.shell.palette import current_palette
from elimipl_app.shell.texts import in_line

FIRST, SECOND = "DEMIPL", "ELIMIPL"  # what Figure 2 compares
PAPERS_OWN = "crc-row"
REPLACED = ("digits", "Digits", "tissue-row", "Tissue tiles, Row", "tissue-row-authors")
"""What older links call recordings that are not here any more."""


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
    names = [*sorted(recordings(), key=lambda name: name != PAPERS_OWN)]
    if not names:
        st.warning(
            "There are no recordings. Restore assets/trajectories or run scripts/record_trajectories.py.",
            icon=":material/warning:",
        )
        return None
    st.subheader("Recorded on", divider="gray")
    name = choices.one_of(
        "Recorded on",
        names,
        "compare_data",
        names[0],
        lambda one: recording(one).about.title,
        shape="list",
        label_hidden=True,
        gone=dict.fromkeys(REPLACED, "That recording was replaced by one that measures all bags."),
    )
    recorded = recording(name)
    st.subheader("Bag", divider="gray")
    titles = recorded.label_space.titles
    bag = choices.one_of(
        "Bag",
        range(len(recorded.labels)),
        f"compare_bag_{name}",
        recorded.about.typical,
        lambda number: f"{number + 1} · {titles[recorded.labels[number]]}",
        shape="pills",
        label_hidden=True,
        help="Of the bags of every class that were watched, the two most typical. It opens with the most typical of "
        "all: its probabilities, and what they change from DEMIPL to ELIMIPL, are nearest to those of the median "
        "training bag, over all epochs.",
    )
    others = [titles[c] for c in np.flatnonzero(recorded.candidates[bag]) if c != recorded.labels[bag]]
    st.caption(f"True label **{titles[recorded.labels[bag]]}**; false candidates {', '.join(others)}.")
    st.subheader("Methods", divider="gray")
    methods = recorded.about.methods
    left, right = (
        picker.choose_method(f"compare_{label.lower()}", methods, label, start)
        for label, start in (("Left", FIRST), ("Right", SECOND))
    )
    return Comparison(recorded, bag, left, right)


def show_verdict(comparison: Comparison) -> None:
    """One sentence that answers, the shares of bags over the epochs, and the same sentence for every recording."""
    recorded, left, right = comparison.recorded, comparison.left, comparison.right
    about = recorded.about
    st.subheader("Is it as in Figure 2?", divider="gray", anchor=False, help=texts.VERDICT_HELP)
    for kind in about.measured:
        said = texts.verdict(recorded.figure_two(left, right, kind), texts.KINDS[kind].lower())
        st.markdown(f"**{said}**" if kind == "training" else said)
    kind = choices.one_of("Measured on", list(about.measured), "compare_measured", "training", texts.KINDS.__getitem__)
    found = recorded.figure_two(left, right, kind)
    charts.show(
        share_curves(found, current_palette()), key="shares", alt=texts.verdict(found, texts.KINDS[kind].lower())
    )
    st.caption(
        f"Share of bags, from {left} to {right}: lines are the median of {about.trainings} trainings, bands reach from "
        "the lowest to the highest. A method that trains fewer epochs stays as it is after its last one."
    )
    if about.configs[right]["head"] == "softmax_of_sigmoid":
        st.caption(texts.narrow_head(len(about.label_space)))
    with st.expander("Medians beside the paper, and every recording", icon=":material/table_chart:"):
        st.markdown(texts.medians_table(recorded, left, right, kind, recorded.epochs))
        for name in recordings():
            other = recording(name)
            if {left, right} <= set(other.about.methods):
                answer = texts.verdict(other.figure_two(left, right), texts.KINDS["training"].lower())
                st.markdown(f"- {other.about.title}: {answer}")


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
    measured = recorded.accuracies[recorded.method(method), :, -1, 1].mean(dtype=float)
    st.subheader(method, anchor=False)
    st.caption(
        f"{texts.settings_line(recorded.about.configs[method])} At the end {measured:.0%} of the held-out bags are "
        "classified correctly."
    )
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
        figure = attention_map(image, bag, attention, highest, None, palette, "attention")
        charts.show(figure, key=f"{key}-map", alt=alt)
    truth = recorded.truth_of(comparison.bag)
    figure = instance_bars(attention, palette, "attention", truth)
    figure.update_yaxes(range=[0, highest * 1.05])
    charts.show(figure, key=f"{key}-attention", alt=alt)


@st.cache_resource(max_entries=32, show_spinner=False)
def _phantom(name: str) -> Phantom:
    return redraw(name)


def _show_bags(comparison: Comparison, epoch: int) -> None:
    """All watched bags as small multiples."""
    recorded = comparison.recorded
    st.markdown(
        "**All watched bags after this epoch**",
        help="Two of every class. The thin bar is the left method, the thick one the right.",
    )
    pairs = recorded.probabilities[[recorded.method(name) for name in (comparison.left, comparison.right)], epoch]
    names = recorded.label_space.titles
    bags = [
        (
            f"{bag + 1} · {names[label]}",
            four_probabilities(pairs[:, bag], recorded.candidates[bag], int(label)),
            bag == comparison.bag,
        )
        for bag, label in enumerate(recorded.labels)
    ]
    st.html(small_multiples(bags, (comparison.left, comparison.right), current_palette(), comparison.top))


def _show_all(comparison: Comparison, epoch: int) -> None:
    recorded = comparison.recorded
    methods = recorded.about.methods
    st.markdown(
        "**All methods on this bag**",
        help="MA: mapping loss with moving weights. SP: sparsity. IN: inhibition of the non-candidates. CE: "
        "cross-entropy with equal weights for all candidates.",
    )
    now = recorded.probabilities[:, epoch, comparison.bag]
    four = four_probabilities(now, comparison.candidates, comparison.true_index)
    figure = method_bars(four, methods, current_palette(), comparison.top)
    shares = ", ".join(f"{name} {row[0]:.0%}" for name, row in zip(methods, four, strict=True))
    charts.show(figure, key="all-methods", alt=f"Probability of the true label: {shares}.")
    st.markdown(
        "**All bags after this epoch**",
        help="Shares of bags, means of all trainings: classified correctly, and of training bags those with the true "
        "label as the heaviest candidate (found).",
    )
    st.markdown(texts.accuracy_table(recorded, epoch))


_RUN = "compare_run"


def show_live(comparison: Comparison) -> None:
    """Choose a method and a seed, start, watch the bag that is compared above."""
    st.subheader("Train it here", divider="gray", anchor=False)
    about = comparison.recorded.about
    if about.bags not in bag_sets():
        st.caption("The bags of this recording don't ship with the program; choose another recording to train here.")
        return
    st.caption("The same bags, candidate sets and settings; another seed gives another start and order of the bags.")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        method = picker.choose_trainable("live_method", "Method", comparison.right)
        seed = st.number_input("Seed", 0, 9999, 1, key="live_seed", width=140)
        if st.button("Train it here", icon=":material/play_arrow:", type="primary", key="live_start"):
            try:
                start_run(plan_for(comparison, method, int(seed)), _RUN)
            except InputError as error:
                show_error(error)
    run = current_run(_RUN)
    if run is None or run.plan.title != _title(comparison, run.plan.title.partition(" on ")[0]):
        return
    running = not run.progress.is_over
    st.fragment(_show_run, run_every=POLL_SECONDS if running else None)(comparison, run, running)


def plan_for(comparison: Comparison, method: str, seed: int) -> Plan:
    """The recorded training of a method with another seed, slow enough to be watched."""
    about = comparison.recorded.about
    known = about.configs.get(method)
    if known is None:
        like = about.configs[SECOND]
        same = {name: like[name] for name in ("hidden", "batch", "lr", "dropout", "epochs", "scaling")}
        config = training_config(method, **same, seed=seed)
    else:
        config = Config.from_dict(known).replace(seed=seed)
    plan = make_plan(
        _title(comparison, method),
        named_bags(about.bags),
        Candidates(about.candidates),
        config,
        pace=WATCHABLE_PACE,
        watch=max(about.watched) + 1,
    )
    return replace(plan, watched=plan.watched[list(about.watched)])


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
