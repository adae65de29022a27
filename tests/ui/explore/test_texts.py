import pytest

from elimipl.scope import Check, Verdict
from ui.explore.texts import scope_sentence

PASSED = Check("size", True, 224.0, 112.0, "The shorter side measures 224 px.")


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (Verdict((PASSED,), ()), "The picture passed all checks: size."),
        (
            Verdict((PASSED,), ("blur",)),
            "Not checked whether the model knows pictures like this one. The picture passed: size. "
            "This model came without limits for: focus.",
        ),
        (
            Verdict((PASSED,), (), "drawn phantoms"),
            "The picture passed all checks: size. This model has learned from drawn phantoms only.",
        ),
    ],
)
def test_what_the_page_says_of_the_scope(verdict, said):
    assert scope_sentence(verdict) == said
