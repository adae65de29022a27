"""Where the learner is and what is done, kept in the address: `?step=losses&done=picture,instances&class=1`."""

from collections.abc import Sequence
from urllib.parse import urlencode

import streamlit as st

from ui.frame import address
from ui.lesson import texts
from ui.lesson.answers import OPENED, SAID
from ui.lesson.plan import Step

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
        return self._ids.index(address.one_name("step", texts.STEP_LABEL, self._ids))

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
        return part not in address.some_names("hide", texts.HIDE_LABEL, PARTS)

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
    return address.one_name("class", texts.CLASS_LABEL, ("", "1")) == "1"


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
