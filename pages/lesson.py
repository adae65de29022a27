"""Lesson: dual inexact supervision, one idea a screen, done by doing."""

import streamlit as st

from bag_generators import InputError
from ui.frame.page import show_error, start_page
from ui.lesson.case import choose_case
from ui.lesson.frame import show_step_list, show_task, show_text, show_way_on
from ui.lesson.plan import load_lesson
from ui.lesson.progress import Progress
from ui.lesson.steps import STEPS

start_page("Lesson: dual inexact supervision")
try:
    progress = Progress(load_lesson())
    sidebar = st.sidebar.container()
    with st.sidebar:
        case = choose_case()
except InputError as error:
    show_error(error)
    st.stop()

show_text(progress)
task = st.container()
facts = STEPS[progress.current.id](case)
if progress.current.is_done(facts):
    progress.mark_done(progress.current)
with task:
    show_task(progress)
with sidebar:
    show_step_list(progress)
show_way_on(progress)
