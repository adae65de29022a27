"""Where the learner is and what is done, kept in the address: `?step=losses&done=picture,instances&hide=steps`."""

from collections.abc import Sequence
from urllib.parse import urlencode

from ui.frame import address
from ui.lesson import texts
from ui.lesson.plan import Step

PARTS = ("steps", "text", "task")
"""What a teacher can hide from whoever follows a link."""


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

    def link(self, hidden: Sequence[str]) -> str:
        """The query of a link to this step with the choices made here and some parts hidden."""
        kept = {key: value for key, value in address.everything().items() if key not in ("done", "hide", "step")}
        hiding = {"hide": ",".join(part for part in PARTS if part in hidden)} if hidden else {}
        return "?" + urlencode({"step": self.current.id, **hiding, **kept}, safe=",")
