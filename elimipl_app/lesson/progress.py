"""Where the learner is, what is done and what was said, kept in the address alone: a link restores it.

`?step=losses&done=picture,instances&say_losses=2&open_losses=1&class=1`; a link for a class holds no answer.
"""

import csv
import io
from collections.abc import Sequence
from urllib.parse import urlencode

import streamlit as st

from elimipl_app.lesson import texts
from elimipl_app.lesson.plan import Step
from elimipl_app.shell import address
from elimipl_app.shell.download import download_button

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
    st.caption(f"{len(given)} of {len(steps)} questions answered; of the {opened} revealed, {right} right.")
    content = as_csv(steps)
    download_button(
        "Answers (CSV)", lambda: content, "lesson-answers.csv", "text/csv", {}, icon=":material/download:",
        disabled=not given, key="answers",
    )  # fmt: skip


def _say(step: Step, place: str) -> None:
    chosen = st.session_state[place]
    address.hold(SAID + step.id, [] if chosen is None else [str(chosen)])


def _show_answer(step: Step) -> None:
    question, chosen = step.ask, said(step)
    right = chosen == question.answer
    verdict = "Right." if right else f"Not so: {question.options[question.answer]}."
    say = f"*{question.question}* You said: {question.options[chosen or 0]}."
    st.markdown(f":{'green' if right else 'orange'}-background[{verdict}] {say} {question.because}")


PARTS = ("steps", "text", "task", "question")
"""What a teacher can hide from whoever follows a link."""
ANSWERS = ("done", "seen", "marks", "check_marks", "pick", "guess", "shown", "rows", "named")
"""What a learner did or found out: never part of a link for a class."""
_FRAME = ("step", "hide", "class")
_ADDRESS = "lesson-address"


class Progress:
    """The state of one visit. The address is its only memory, so a link restores it."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = tuple(steps)
        self._ids = [step.id for step in steps]

    @property
    def position(self) -> int:
        """Number of the current step, from 0; an unknown step in the address is the first."""
        return self._ids.index(address.one_name("step", "Step", self._ids))

    @property
    def current(self) -> Step:
        return self.steps[self.position]

    @property
    def done(self) -> list[str]:
        """Ids of the steps that are done, in the order of the lesson."""
        return address.some_names("done", texts.DONE_LABEL, self._ids)

    def go(self, position: int) -> None:
        """Open another step."""
        address.write("step", self._ids[max(0, min(position, len(self._ids) - 1))])

    def mark_done(self, step: Step) -> None:
        """Remember that the learner did what the step asks."""
        if step.id not in self.done:
            address.write("done", ",".join(name for name in self._ids if name in {*self.done, step.id}))

    def shows(self, part: str) -> bool:
        """Whether a part of the page is not hidden by the link."""
        return part not in address.some_names("hide", "Hidden parts", PARTS)

    def class_link(self, hidden: Sequence[str]) -> str:
        """The query of a link for a class: this step and the choices made here, without navigation or any answer."""
        kept = {key: value for key, value in address.everything().items() if not _is_answer(key)}
        hiding = {"hide": ",".join(part for part in PARTS if part in hidden)} if hidden else {}
        choices = {key: value for key, value in kept.items() if key not in _FRAME}
        return "?" + urlencode({"step": self.current.id, "class": "1", **hiding, **choices}, safe=",")

    def own_link(self) -> str:
        """The query that restores everything as it is now, answers and all."""
        return "?" + urlencode({"step": self.current.id, **address.everything()}, safe=",")


def asked_for_class() -> bool:
    """The same before the address may be read."""
    return address.everything().get("class") == "1"


def for_class() -> bool:
    """Whether the link is for a class: no navigation and no controls of the lesson around the step."""
    return address.one_name("class", "For a class", ("", "1")) == "1"


def come_back() -> None:
    """Call before anything else: who returns from another page finds the lesson as it was left."""
    if not address.everything():
        for key, value in st.session_state.get(_ADDRESS, {}).items():
            address.write(key, value)


def leave_off() -> None:
    """Call last: remember the address for `come_back`."""
    st.session_state[_ADDRESS] = address.everything()


def start_over() -> None:
    """Forget everything the learner did."""
    for key in address.everything():
        address.hold(key, [])
    for slot in [name for name in st.session_state if str(name).startswith(("kept-", "at-", "lesson-"))]:
        del st.session_state[slot]


def _is_answer(key: str) -> bool:
    return key in ANSWERS or key.startswith((SAID, OPENED))
