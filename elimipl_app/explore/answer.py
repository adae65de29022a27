"""The answer: the label in words, how sure, what else is possible, or why there is none; its bars and candidates."""

import numpy as np
import streamlit as st

from elimipl.answers.answer import WITHOUT_CHECKS, Answer
from elimipl.answers.predictor import Prediction
from elimipl.candidates.crowd import Crowd, annotate
from elimipl.candidates.labels import LabelSpace
from elimipl_app.charts.bars import BarGroup, bars_height, class_bars, outside_mass, three_bars
from elimipl_app.explore import texts
from elimipl_app.explore.analysis import (
    BY_CROWD,
    BY_HAND,
    OF_A_CLASS,
    OF_SAMPLE,
    PREDICTED,
    RUNNER_UP,
    Analysis,
    CandidateSet,
    Source,
    bag_key,
    class_index,
    removed_patches,
    set_removed,
    shown_analysis,
)
from elimipl_app.inputs.picture import FIELD_HEADING
from elimipl_app.shell import charts, choices
from elimipl_app.shell.markdown import escape, option_text
from elimipl_app.shell.palette import Palette, current_palette
from elimipl_app.shell.texts import sureness

_FROM = "candidates_from"


def choose_candidates(analysis: Analysis) -> CandidateSet | None:
    """The candidate set; None where nobody has named a label."""
    choices.switch(texts.RAW_LABEL, "raw", help=texts.RAW_HELP)
    sources = _sources(analysis)
    source = BY_HAND
    if len(sources) > 1:
        source = choices.one_of(
            texts.CANDIDATES_HEADING,
            sources,
            _FROM,
            sources[0],
            texts.CANDIDATE_SOURCES.__getitem__,
            help=texts.CANDIDATES_HELP,
        )
    if source == OF_SAMPLE:
        return CandidateSet(_of_sample(analysis), OF_SAMPLE)
    return _by_crowd(analysis) if source == BY_CROWD else _by_hand(analysis)


def switch_clicked(key: str, analysis: Analysis) -> None:
    """Called when a bar of the figure called `key` is clicked: its label joins the candidate set, or leaves it.

    A second click on the same bar takes the selection away instead of making one; it is about the same label.
    """
    labels = analysis.labels
    point = charts.clicked_point(key)
    if point is not None:
        st.session_state["clicked_bar"] = int(point["customdata"])
    index = st.session_state.get("clicked_bar")
    if index is None or not 0 <= index < len(labels):
        return
    names = {*analysis.candidate_names} ^ {labels.names[index]}
    if len(_sources(analysis)) > 1:
        st.session_state[_FROM] = BY_HAND
    st.session_state[_hand_key(analysis)] = [name for name in labels.names if name in names]


def _answer_click() -> None:
    switch_clicked("class-bars", shown_analysis())


def _sources(analysis: Analysis) -> list[Source]:
    """Who can have named candidates. Simulated annotators need a true label to be unsure about."""
    sources: list[Source] = [OF_SAMPLE] if _of_sample(analysis).any() else []
    return [*sources, *([] if analysis.true_index is None else [BY_CROWD]), BY_HAND]


def _of_sample(analysis: Analysis) -> np.ndarray:
    """The candidates that come with a drawing, (k,) bool."""
    return np.isin(np.array(analysis.labels.names), analysis.sample.candidates if analysis.sample else ())


def _hand_key(analysis: Analysis) -> str:
    """Names the ticks for one field of view: what is possible in a picture says nothing about the next."""
    return f"candidates_{analysis.labels.id}_{analysis.image.sha256[:12]}"


def _by_crowd(analysis: Analysis) -> CandidateSet:
    assert analysis.true_index is not None  # else the crowd is not offered
    seed = choices.number("Seed of the simulated annotators", 0, 9999, 1, "crowd_seed")
    crowd = annotate(analysis.true_index, analysis.labels, seed)
    st.caption(_what_they_said(crowd, analysis.labels))
    return CandidateSet(crowd.candidates[0], BY_CROWD)


def _by_hand(analysis: Analysis) -> CandidateSet | None:
    labels, names = analysis.labels, analysis.labels.names  # what a widget is given lives as long as the visit
    chosen = choices.some_of(
        "Tick what you find possible",
        names,
        _hand_key(analysis),
        (),
        lambda name: option_text(labels.title(name)),
    )
    return CandidateSet(np.isin(np.array(names), chosen), BY_HAND) if chosen else None


def _what_they_said(crowd: Crowd, labels: LabelSpace) -> str:
    """One line per annotator; the top label first."""
    lines = []
    for number, (votes, top) in enumerate(zip(crowd.votes[:, 0], crowd.tops[:, 0], strict=True), start=1):
        others = [labels.titles[index] for index in np.flatnonzero(votes) if index != top]
        lines.append(f"Simulated annotator {number}: {escape(', '.join([labels.titles[top], *others]))}")
    return "  \n".join(lines)


def show_answer(analysis: Analysis) -> None:
    """Answer and bars. With patches removed, the answer of those that stay, over ghosts of the one before."""
    removed = removed_patches(analysis)
    shown, answer = analysis.answer_without(removed)
    with st.container(key="answer", gap="xsmall"):
        _say(answer, shown, analysis)
        if removed:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(texts.removed_sentence(removed, analysis.blocks), width="stretch")
                st.button("Put all back", key="put-back", on_click=set_removed, args=(bag_key(analysis), ()))
    _show_bars(answer, shown, analysis, ghosts=bool(removed))


def _say(answer: Answer, shown: Prediction, analysis: Analysis) -> None:
    labels, index = analysis.labels, shown.index
    words = texts.class_in_words(labels, index)
    if answer.declined:
        st.subheader(answer.headline, anchor=False)
        failed = [one.reason for one in answer.checks if not one.passed]
        if answer.scale is not None and answer.scale.origin == "assumed" and not answer.scale.doubted:
            failed.append(f"{answer.scale.sentence} You can set the scale under “{FIELD_HEADING}”.")
        would_say = f"{WITHOUT_CHECKS} {words}, {sureness(answer.probability)}. Map and bars are there to look at."
        st.markdown(f":material/block: **{escape(texts.first_reason(answer))}**")
        st.caption("  \n".join(escape(line) for line in (*failed, would_say)))
        _offer_second(analysis, shown)
        return
    st.subheader(f"{escape(words)} · {sureness(answer.probability)}", anchor=False)
    lines = [*texts.certainty(answer, analysis.predictor.card), texts.scope_sentence(answer.verdict)]
    lines += [answer.scale.sentence] if answer.scale is not None and answer.scale.doubted else []
    truth = texts.truth_sentence(labels, index, analysis.true_index)
    trusted = ":material/verified: **Trusted.**" if answer.trusted else ":material/help: **Not certain enough.**"
    st.caption(f"{trusted} " + "  \n".join(escape(line) for line in [*lines, *truth]))
    _offer_second(analysis, shown)


def _offer_second(analysis: Analysis, shown: Prediction) -> None:
    """One click to the map of the second choice, and back."""
    second = int(np.argsort(-shown.probabilities, kind="stable")[1])
    name = texts.class_in_words(analysis.labels, second)
    choice = RUNNER_UP if second == class_index(analysis, RUNNER_UP) else analysis.labels.names[second]
    back = st.session_state.get("map_class") == choice and st.session_state.get("map") in OF_A_CLASS
    offer = f"Second: {escape(name)} · {sureness(shown.probabilities[second])}"
    st.button(
        "Back to the map of the first choice" if back else offer,
        key="second-choice",
        on_click=_show_map_of,
        args=(PREDICTED if back else choice,),
        type="tertiary",
        icon=":material/undo:" if back else ":material/looks_two:",
        help="Shows the map of what speaks for the second choice and against it.",
    )


def _show_map_of(choice: str) -> None:
    state = st.session_state
    if state.get("map") not in OF_A_CLASS:
        state["map_before"], state["map"] = state.get("map"), OF_A_CLASS[0]
    elif choice == PREDICTED and (before := state.pop("map_before", None)):
        state["map"] = before
    state["map_class"] = choice


def _show_bars(answer: Answer, shown: Prediction, analysis: Analysis, ghosts: bool) -> None:
    palette, labels = current_palette(), analysis.labels
    groups = bar_groups(analysis, answer, palette)
    raw = bool(st.session_state.get("raw"))
    probabilities = shown.raw if raw else shown.probabilities
    whole = analysis.prediction.raw if raw else analysis.prediction.probabilities
    grey = answer.declined
    # The room the bars will take, so that nothing below them moves while a browser gets ready to draw.
    st.html(f"<style>.st-key-class-bars {{min-height: {bars_height(len(labels))}px}}</style>")
    words = [texts.beside_bar(labels, index) for index in range(len(labels))]
    before = whole if ghosts else None
    charts.show(
        class_bars(probabilities, labels, groups, palette, analysis.true_index, before, grey, words),
        key="class-bars",
        alt=texts.bars_alt(labels.titles, probabilities, groups[0].title if len(groups) > 1 else "", groups[0].members),
        on_click=_answer_click,
    )
    if analysis.candidates is None:
        st.caption(texts.NO_SET_HINT if answer.label_set is None else texts.OWN_SET_HINT)
        return
    candidates = analysis.candidates.members
    charts.show(
        three_bars(probabilities, candidates, palette, analysis.true_index, grey),
        key="figure-two",
        alt=texts.three_bars_alt(probabilities, candidates, analysis.true_index),
    )
    mass = outside_mass(probabilities, candidates)
    st.caption(f"{mass:.1%} {texts.OUTSIDE_CAPTION}", help=texts.OUTSIDE_HELP)


def bar_groups(analysis: Analysis, answer: Answer, palette: Palette) -> tuple[BarGroup, ...]:
    """The groups of labels with what each is called and its colour; one group where there is nothing to tell apart."""
    if analysis.candidates is not None:
        members = analysis.candidates.members
        titles, colours = texts.CANDIDATE_GROUPS[analysis.candidates.source], (palette.candidate, palette.non_candidate)
    elif answer.label_set is not None:
        members = np.isin(np.array(analysis.labels.names), answer.label_set)
        titles, colours = texts.OWN_SET_GROUPS, (palette.in_set, palette.outside_set)
    else:
        return (BarGroup("label", np.ones(len(analysis.labels), dtype=bool), palette.outside_set),)
    return tuple(map(BarGroup, titles, (members, ~members), colours))
