"""The teacher's guide and the handout: made from the lesson, the same in docs, and no answer on the handout."""

from html import unescape

import pytest

from elimipl_app.lesson.papers import guide, handout, inline
from elimipl_app.lesson.plan import load_glossary, load_lesson
from scripts.make_teaching_papers import DOCS, PAPERS


@pytest.mark.parametrize("name", PAPERS)
def test_the_papers_in_docs_are_those_of_the_lesson(name):
    assert (DOCS / name).read_text(encoding="utf-8") == PAPERS[name](load_lesson(), load_glossary())


def test_the_guide_has_timings_questions_and_answers_and_the_handout_has_none_of_the_answers():
    lesson = load_lesson()
    for_teacher, for_learner = (unescape(make(lesson, load_glossary())) for make in (guide, handout))
    assert f"about {lesson.minutes} minutes" in for_teacher
    for step in lesson.steps:
        for paper in (for_teacher, for_learner):
            assert step.ask.question in paper
        assert step.ask.because in for_teacher
        assert step.ask.because not in for_learner
        for one in step.discuss:
            assert one.answer in for_teacher
            assert one.answer not in for_learner
    assert all(term.meaning in for_learner for term in load_glossary())


def test_markup_of_the_lesson_becomes_html_and_nothing_else_does():
    assert inline(r"**B** *i* <x> $\xi_{j}/\sqrt{l}$") == "<b>B</b> <i>i</i> &lt;x&gt; <i>ξ<sub>j</sub>/√l</i>"
    for step in load_lesson().steps:
        shown = "".join(map(inline, step.paragraphs))
        assert "$" not in shown
        assert "\\" not in shown
