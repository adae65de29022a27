"""The answer: the label in words, how sure, what else is possible, or why there is none; and its bars."""

from functools import partial

import numpy as np
import streamlit as st

from elimipl.answer import WITHOUT_CHECKS, Answer
from elimipl.predictor import Prediction
from ui.explore import texts
from ui.explore.analysis import Analysis, bag_key, removed_patches, set_removed
from ui.explore.candidates import switch_clicked
from ui.figures.bars import BarGroup, bars_height, class_bars, outside_mass, three_bars
from ui.frame import charts
from ui.frame.markdown import escape
from ui.frame.palette import Palette, current_palette


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
    words = texts.in_words(labels, index)
    if answer.declined:
        st.subheader(answer.headline, anchor=False)
        failed = [one.reason for one in answer.checks if not one.passed]
        if answer.scale is not None and answer.scale.origin == "assumed" and not answer.scale.doubted:
            failed.append(f"{answer.scale.sentence} {texts.SET_SCALE}")
        reasons = "\n".join(f"- {escape(reason)}" for reason in failed)
        would_say = f"{WITHOUT_CHECKS} {escape(words)}, {answer.probability:.0%}. Map and bars are there to look at."
        st.markdown(f"{reasons}\n\n{would_say}")
        return
    st.subheader(f"{escape(words)} · {answer.probability:.0%}", anchor=False)
    lines = [*texts.certainty(answer), texts.scope_sentence(answer.verdict)]
    lines += [answer.scale.sentence] if answer.scale is not None and answer.scale.doubted else []
    truth = texts.truth_sentence(labels, index, analysis.true_index)
    trusted = "**Trusted**: every check passed." if answer.trusted else "**Not to be trusted as it is.**"
    st.caption(f"{trusted} " + "  \n".join(escape(line) for line in [*lines, *truth]))


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
        on_click=partial(switch_clicked, "class-bars", analysis),
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
