"""Predict, then reveal: the question of every step, what the learner said, and the answers to take away.

The address holds both, `say_losses=2&open_losses=1`; a link for a class holds neither.
"""

import csv
import io
from collections.abc import Sequence

import streamlit as st

from ui.frame import address
from ui.frame.download import download_button
from ui.lesson import texts
from ui.lesson.plan import Step

SAID, OPENED = "say_", "open_"
_YES = "1"


def ask(step: Step) -> bool:
    """The question of a step, and its answer once the learner has committed to one; whether it is revealed."""
    if is_revealed(step.id) and said(step) is not None:
        _show_answer(step)
        return True
    question, place = step.ask, f"ask-{step.id}"
    chosen = said(step)
    with st.container(border=True):
        st.markdown(f"**{texts.PREDICT_LABEL}:** {question.question}")
        st.session_state[place] = chosen
        st.pills(
            texts.PREDICT_LABEL, range(len(question.options)), format_func=question.options.__getitem__, key=place,
            label_visibility="collapsed", on_change=_say, args=(step, place), wrap=True,
        )  # fmt: skip
        st.button(
            texts.REVEAL_LABEL, key=f"reveal-{step.id}", disabled=chosen is None, type="primary",
            on_click=address.write, args=(OPENED + step.id, _YES),
        )  # fmt: skip
    return False


def said(step: Step) -> int | None:
    """The learner's answer."""
    names = ("", *map(str, range(len(step.ask.options))))
    found = address.one_name(SAID + step.id, texts.PREDICT_LABEL, names)
    return int(found) if found else None


def is_revealed(step_id: str) -> bool:
    """Whether the learner has asked for the answer of a step."""
    return address.one_name(OPENED + step_id, texts.REVEAL_LABEL, ("", _YES)) == _YES


def as_csv(steps: Sequence[Step]) -> str:
    """All answers of the learner, a line each: step, question, what was said, the right answer, right or not."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(("step", "question", "said", "right answer", "right", "revealed"))
    for step in steps:
        chosen, question = said(step), step.ask
        if chosen is None:
            continue
        opened = is_revealed(step.id)
        right = ("yes" if chosen == question.answer else "no") if opened else ""
        answer = question.options[question.answer] if opened else ""
        writer.writerow(
            (step.title, question.question, question.options[chosen], answer, right, "yes" if opened else "no")
        )
    return out.getvalue()


def offer_answers(steps: Sequence[Step]) -> None:
    """A download of the answers given so far."""
    given = [step for step in steps if said(step) is not None]
    right = sum(said(step) == step.ask.answer for step in given if is_revealed(step.id))
    opened = sum(is_revealed(step.id) for step in given)
    st.caption(texts.answers_given(len(given), len(steps), right, opened))
    content = as_csv(steps)
    download_button(
        texts.ANSWERS_LABEL, lambda: content, "lesson-answers.csv", "text/csv", {}, icon=":material/download:",
        disabled=not given, key="answers",
    )  # fmt: skip


def _say(step: Step, place: str) -> None:
    chosen = st.session_state[place]
    address.hold(SAID + step.id, [] if chosen is None else [str(chosen)])


def _show_answer(step: Step) -> None:
    question, chosen = step.ask, said(step)
    right = chosen == question.answer
    verdict = texts.RIGHT if right else texts.wrong(question.options[question.answer])
    say = texts.you_said(question.question, question.options[chosen or 0])
    st.markdown(f":{'green' if right else 'orange'}-background[{verdict}] {say} {question.because}")
