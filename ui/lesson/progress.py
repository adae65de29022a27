"""Where the learner is and what is done, kept in the address: `?step=losses&done=picture,instances&hide=steps`."""

from collections.abc import Sequence
from urllib.parse import urlencode

import streamlit as st

from ui.lesson.plan import Step

PARTS = ("steps", "text", "task")
"""What a teacher can hide from whoever follows a link."""


class Progress:
    """The state of one visit. The address is its only memory, so a link restores it."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = tuple(steps)
        self._ids = [step.id for step in steps]

    @property
    def place(self) -> int:
        """Number of the current step, from 0; an unknown step in the address is the first."""
        wanted = st.query_params.get("step", "")
        return self._ids.index(wanted) if wanted in self._ids else 0

    @property
    def current(self) -> Step:
        return self.steps[self.place]

    @property
    def done(self) -> list[str]:
        """Ids of the steps that are done, in the order of the lesson."""
        named = st.query_params.get("done", "").split(",")
        return [name for name in self._ids if name in named]

    def go(self, place: int) -> None:
        """Open another step."""
        st.query_params["step"] = self._ids[max(0, min(place, len(self._ids) - 1))]

    def mark_done(self, step: Step) -> None:
        """Remember that the learner did what the step asks."""
        if step.id not in self.done:
            st.query_params["done"] = ",".join(name for name in self._ids if name in {*self.done, step.id})

    def shows(self, part: str) -> bool:
        """Whether a part of the page is not hidden by the link."""
        return part not in st.query_params.get("hide", "").split(",")

    def link(self, hidden: Sequence[str]) -> str:
        """The query of a link to this step with the choices made here and some parts hidden."""
        kept = {key: value for key, value in st.query_params.to_dict().items() if key not in ("done", "hide", "step")}
        hiding = {"hide": ",".join(part for part in PARTS if part in hidden)} if hidden else {}
        return "?" + urlencode({"step": self.current.id, **hiding, **kept}, safe=",")
