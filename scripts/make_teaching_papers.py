"""Make the teacher's guide and the handout in docs from the lesson: `python scripts/make_teaching_papers.py`."""

from pathlib import Path

from elimipl_app.lesson.papers import guide, handout
from elimipl_app.lesson.plan import load_glossary, load_lesson

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAPERS = {"teaching-guide.html": guide, "teaching-handout.html": handout}


def main() -> None:
    for name, make in PAPERS.items():
        (DOCS / name).write_text(make(load_lesson(), load_glossary()), encoding="utf-8")
        print(name)


if __name__ == "__main__":
    main()
