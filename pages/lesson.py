"""Lesson: dual inexact supervision, one idea a screen, done by doing."""

import streamlit as st

from bag_generators import InputError
from elimipl_app.lesson.case import choose_case
from elimipl_app.lesson.frame import CLASS_STYLE, page_parts, show_step_list, show_task, show_text, show_way_on
from elimipl_app.lesson.kept import read_collected
from elimipl_app.lesson.plan import load_glossary, load_lesson
from elimipl_app.lesson.progress import Progress, ask, asked_for_class, come_back, for_class, leave_off, offer_answers
from elimipl_app.lesson.steps import STEPS
from elimipl_app.shell.page import show_error, start_page

come_back()
start_page("Lesson: dual inexact supervision", compact=True, navigation=not asked_for_class())
try:
    bare = for_class()
    lesson, glossary = load_lesson(), load_glossary()
    progress = Progress(lesson.steps)
    read_collected().value()
    sidebar = st.sidebar.container()
    with st.sidebar:
        case = choose_case(shown=not bare)
    beside, figures = page_parts(progress)
    with beside:
        show_text(progress, glossary)
        task = st.container()
        revealed = ask(progress.current) if progress.shows("question") else False
    with figures:
        facts = {**STEPS[progress.current.id](case), "revealed": revealed}
    if progress.current.is_done(facts):
        progress.mark_done(progress.current)
    with task:
        show_task(progress)
    if bare:
        st.html(CLASS_STYLE)
        offer_answers((progress.current,))
    else:
        with sidebar:
            show_step_list(progress)
        show_way_on(progress, lesson, glossary)
except InputError as error:
    show_error(error)
leave_off()
