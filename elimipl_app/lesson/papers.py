"""The teacher's guide and the handout, made from the lesson itself: HTML to print, no scripts, no outside files."""

import re
from html import escape
from pathlib import Path
from typing import Any

from elimipl_app.lesson.plan import Lesson, Term
from elimipl_app.lesson.recorded import attention_runs

_FOLDER = Path(__file__).parent
_SIGNS = (
    (r"\bar{S}", "S̄"), (r"\sqrt{l}", "√l"), (r"\mathrm{sigm}", "sigm"), (r"^\top", "ᵀ"), (r"\mu", "μ"),
    (r"\gamma", "γ"), (r"\rho", "ρ"), (r"\xi", "ξ"), (r"\sum", "Σ"), (r"\exp", "exp"), (r"\tanh", "tanh"),
    (r"\odot", "⊙"), (r"\leftarrow", "←"), (r"\log", "log"), (r"\in", "∈"),
)  # fmt: skip


def guide(lesson: Lesson, glossary: tuple[Term, ...]) -> str:
    """For the teacher: timings, what each step says, its question with the answer, what to discuss."""
    return _made("guide.html.jinja", lesson, glossary)


def handout(lesson: Lesson, glossary: tuple[Term, ...]) -> str:
    """For the learner, without any answer: the questions to tick, room for notes, the notation."""
    return _made("handout.html.jinja", lesson, glossary)


def inline(text: str) -> str:
    r"""Markdown with formulas, as it stands in the lesson, as HTML.

    >>> inline(r"**A** & $\mu L_{sp}$")
    '<b>A</b> &amp; <i>μ L<sub>sp</sub></i>'
    """
    shown = re.sub(r"\$([^$]+)\$", lambda found: f"<i>{_formula(found[1])}</i>", escape(text, quote=False))
    shown = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", shown)
    return re.sub(r"(?<!\w)\*(\S(?:.*?\S)?)\*", r"<i>\1</i>", shown)


def _formula(text: str) -> str:
    for sign, shown in _SIGNS:
        text = text.replace(sign, shown)
    text = re.sub(r"_\{([^}]+)\}|_(\w)", lambda found: f"<sub>{found[1] or found[2]}</sub>", text)
    return text.replace("{", "").replace("}", "").replace("\\", "")


def _made(template: str, lesson: Lesson, glossary: tuple[Term, ...]) -> str:
    from jinja2 import Environment, StrictUndefined  # only when somebody takes a paper away

    engine = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    engine.filters["inline"] = inline
    source = (_FOLDER / template).read_text(encoding="utf-8")
    return engine.from_string(source).render(lesson=lesson, glossary=glossary, found=_found())


def _found() -> list[dict[str, Any]]:
    """The numbers of step 5, a row for every cut."""
    from elimipl_app.lesson.steps.attention import contrasts

    def mean(values: tuple[float, ...]) -> str:
        return f"{sum(values) / len(values):.2f}"

    return [
        {
            "name": name, "plain": mean(one.plain.accuracy_whole), "plain_auroc": mean(one.plain.auroc),
            "composed": mean(one.composed.accuracy), "composed_auroc": mean(one.composed.auroc), "bags": one.bags,
        }
        for name, one in contrasts(attention_runs()).items()
    ]  # fmt: skip
