"""What surrounds every step: the list of steps, the text, the task with its tick, Back and Next, the link."""

from functools import partial

import streamlit as st

from ui.lesson import texts
from ui.lesson.progress import PARTS, Progress

DONE_ICON, OPEN_ICON, HERE_ICON = ":material/check_circle:", ":material/circle:", ":material/radio_button_checked:"


def show_step_list(progress: Progress) -> None:
    """All steps with a tick on those that are done; each can be opened at any time."""
    if not progress.shows("steps"):
        return
    st.subheader(texts.STEPS_HEADING, divider="gray")
    with st.container(gap="xxsmall"):
        for position, step in enumerate(progress.steps):
            here = position == progress.position
            icon = DONE_ICON if step.id in progress.done else HERE_ICON if here else OPEN_ICON
            title = f"**{position + 1} {step.title}**" if here else f"{position + 1} {step.title}"
            st.button(title, key=f"go-{step.id}", icon=icon, type="tertiary", on_click=partial(progress.go, position))


def show_text(progress: Progress) -> None:
    """Title and explanation of the current step."""
    st.header(f"{progress.position + 1} · {progress.current.title}", anchor=False)
    if progress.shows("text"):
        st.markdown(progress.current.text)


def show_task(progress: Progress) -> None:
    """What to do, or that it is done."""
    if not progress.shows("task"):
        return
    step = progress.current
    if step.id in progress.done:
        st.success(f"**{texts.DONE_LABEL}:** {step.task}", icon=DONE_ICON)
    else:
        st.info(f"**{texts.TASK_LABEL}:** {step.task}", icon=":material/touch_app:")


def show_way_on(progress: Progress) -> None:
    """Back and Next, always free to use, and the link for a class."""
    if not progress.shows("steps"):
        return
    position, last = progress.position, len(progress.steps) - 1
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            texts.BACK_LABEL, key="back", icon=":material/arrow_back:", disabled=position == 0,
            on_click=partial(progress.go, position - 1),
        )  # fmt: skip
        st.button(
            texts.NEXT_LABEL, key="next", icon=":material/arrow_forward:", disabled=position == last, type="primary",
            on_click=partial(progress.go, position + 1),
        )  # fmt: skip
        with st.popover(texts.LINK_LABEL, icon=":material/link:"):
            _offer_link(progress)
    if len(progress.done) == len(progress.steps):
        st.success(texts.ALL_DONE, icon=":material/celebration:")


def _offer_link(progress: Progress) -> None:
    st.caption(texts.LINK_HELP)
    hidden = [part for part in PARTS if st.checkbox(texts.HIDE_TITLES[part], key=f"hide-{part}")]
    address = (st.context.url or "").partition("?")[0]
    st.code(address + progress.link(hidden), language=None, wrap_lines=True)
