"""What surrounds every step: the list of steps, the text, the task with its tick, Back and Next, links and papers."""

from functools import partial
from html import escape

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from elimipl_app.lesson import texts
from elimipl_app.lesson.papers import guide, handout
from elimipl_app.lesson.plan import Lesson, Step, Term
from elimipl_app.lesson.progress import PARTS, Progress, offer_answers, start_over
from elimipl_app.shell.download import download_button

DONE_ICON, OPEN_ICON, HERE_ICON = ":material/check_circle:", ":material/circle:", ":material/radio_button_checked:"
CLASS_STYLE = "<style>[data-testid=stSidebar], [data-testid=stHeader] {display: none}</style>"
NOTATION_STYLE = """<style>
.notation {display: flex; flex-wrap: wrap; gap: .3rem .5rem; font-size: .85rem; align-items: center}
.notation span[tabindex] {position: relative; border-bottom: 1px dotted; cursor: help; padding: 0 .15rem;
  font-weight: 600}
.notation .tip {display: none; position: absolute; left: 0; top: 1.7em; z-index: 99; width: max-content;
  max-width: min(20rem, 70vw); padding: .4rem .6rem; border-radius: .4rem; background: #2B2433; color: #F4F0F7;
  font-weight: 400}
.notation span[tabindex]:hover .tip, .notation span[tabindex]:focus .tip {display: block}
</style>"""


STYLE = """<style>
.st-key-panels-lesson h2 {font-size: 1.35rem; padding: 0 0 .2rem 0}
.st-key-panels-lesson p, .st-key-panels-lesson li {font-size: .92rem}
[data-testid=stSidebar] [class*=st-key-go-] button {justify-content: flex-start; text-align: left; min-height: 1.8rem}
[data-testid=stSidebar] [class*=st-key-go-] button p {font-size: .9rem; line-height: 1.2; text-align: left}
</style>"""


def page_parts(progress: Progress) -> tuple[DeltaGenerator, DeltaGenerator]:
    """Where the words go, and where what moves goes: side by side in a wide window; without words, all the room."""
    st.html(STYLE)
    with st.container(key="panels-lesson"):
        if not any(progress.shows(part) for part in ("text", "task", "question")):
            return st.container(), st.container()
        beside, figures = st.columns([1, 2.1], gap="medium")
    return beside, figures


def show_step_list(progress: Progress) -> None:
    """All steps with a tick on those that are done; each can be opened at any time."""
    if not progress.shows("steps"):
        return
    st.subheader("Steps", divider="gray")
    with st.container(gap="xxsmall"):
        for position, step in enumerate(progress.steps):
            here = position == progress.position
            icon = DONE_ICON if step.id in progress.done else HERE_ICON if here else OPEN_ICON
            title = f"**{position + 1} {step.title}**" if here else f"{position + 1} {step.title}"
            st.button(title, key=f"go-{step.id}", icon=icon, type="tertiary", on_click=partial(progress.go, position))


def show_text(progress: Progress, glossary: tuple[Term, ...]) -> None:
    """Title and explanation of the current step, and its notation with a tip on every symbol."""
    st.header(f"{progress.position + 1} · {progress.current.title}", anchor=False)
    if progress.shows("text"):
        st.markdown(progress.current.text)
        show_notation(progress.current, glossary)


def show_notation(step: Step, glossary: tuple[Term, ...]) -> None:
    """The symbols a step uses; pointing at one, or going there by keys or touch, says what it means."""
    terms = [term for term in glossary if term.id in step.notation]
    spans = "".join(
        f'<span tabindex="0" role="note" aria-label="{escape(f"{term.symbol}: {term.name}. {term.meaning}")}">'
        f'{escape(term.symbol)}<span class="tip">{escape(f"{term.name}: {term.meaning}")}</span></span>'
        for term in terms
    )
    st.html(f'{NOTATION_STYLE}<div class="notation">{"Notation:"} {spans}</div>')


def show_task(progress: Progress) -> None:
    """What to do, or that it is done."""
    if not progress.shows("task"):
        return
    step = progress.current
    if step.id in progress.done:
        st.success(f"**{texts.DONE_LABEL}:** {step.task}", icon=DONE_ICON)
    else:
        st.info(f"**Do this:** {step.task}", icon=":material/touch_app:")


def show_way_on(progress: Progress, lesson: Lesson, glossary: tuple[Term, ...]) -> None:
    """Back and Next, always free to use, the links, the glossary and what can be taken away."""
    if not progress.shows("steps"):
        return
    position, last = progress.position, len(progress.steps) - 1
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Back", key="back", icon=":material/arrow_back:", disabled=position == 0,
            on_click=partial(progress.go, position - 1),
        )  # fmt: skip
        st.button(
            "Next", key="next", icon=":material/arrow_forward:", disabled=position == last, type="primary",
            on_click=partial(progress.go, position + 1),
        )  # fmt: skip
        with st.popover("Links", icon=":material/link:"):
            _offer_links(progress)
        with st.popover("Glossary", icon=":material/dictionary:"):
            st.markdown("\n".join(f"- **{term.symbol}** {term.name}: {term.meaning}" for term in glossary))
        with st.popover("Your answers", icon=":material/fact_check:"):
            offer_answers(progress.steps)
            st.button("Start the lesson over", key="start_over", icon=":material/restart_alt:", on_click=start_over)
        with st.popover("For teachers", icon=":material/school:"):
            _offer_papers(lesson, glossary)
    if len(progress.done) == len(progress.steps):
        st.success(
            "You have done every step. The Train page lets you try all of this on bags of your own.",
            icon=":material/celebration:",
        )


def _offer_links(progress: Progress) -> None:
    address = (st.context.url or "").partition("?")[0]
    st.caption(texts.LINK_HELP)
    hidden = [part for part in PARTS if st.checkbox(texts.HIDE_TITLES[part], key=f"hide-{part}")]
    st.code(address + progress.class_link(hidden), language=None, wrap_lines=True)
    st.caption("**For yourself**: opens the lesson as it is now, answers and all.")
    st.code(address + progress.own_link(), language=None, wrap_lines=True)


def _offer_papers(lesson: Lesson, glossary: tuple[Term, ...]) -> None:
    st.caption(
        f"Made from this lesson: timings ({lesson.minutes} minutes in all), questions and answers; a handout of two "
        "pages."
    )
    papers = (
        ("Teacher's guide", "teaching-guide.html", guide),
        ("Handout to print", "teaching-handout.html", handout),
    )
    for label, name, make in papers:
        download_button(
            label, partial(make, lesson, glossary), name, "text/html", {}, icon=":material/download:", key=name
        )
