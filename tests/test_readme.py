"""The README's numbers are those of the cards."""

from pathlib import Path

from elimipl.cards.files import list_models
from scripts.update_readme import filled, models_table, sources_table

README = Path(__file__).resolve().parents[1] / "README.md"


def test_the_table_of_models_is_the_one_the_cards_give():
    text = README.read_text(encoding="utf-8")
    assert filled(text, "models", models_table(list_models())) == text


def test_the_sources_stand_there_with_licence_and_credit():
    text = README.read_text(encoding="utf-8")
    assert filled(text, "sources", sources_table()) == text
