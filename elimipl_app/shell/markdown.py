"""Text of strangers inside Markdown: shown as it is, never taken for formatting."""

import re

WORD_JOINER = "\u2060"  # takes no room and breaks no line
_FOUND_ANYWAY = re.compile(r"(?<=www)(?=\.)|(?<=:)(?=//|[\w+-]+[:/])|(?<=@)(?=\w)", re.IGNORECASE)


def escape(text: str) -> str:
    """User text as plain text inside Markdown: no formatting, links, HTML, maths, icons or emoji codes."""
    return _marked(text, "\\`*_{}[]()<>#+-!|~$:^&")


def option_text(text: str) -> str:
    """The same for an option of pills or a segmented control, whose text is also what stands in a link.

    Only what can begin markup is marked, so that ordinary names read in the address as they are.
    """
    return _marked(text, "\\`*[]<>~$:&")


def _marked(text: str, letters: str) -> str:
    """Backslashes before `letters`; addresses and icons, which Streamlit finds in spite of them, are broken up."""
    broken = _FOUND_ANYWAY.sub(WORD_JOINER, text)
    return "".join(f"\\{letter}" if letter in letters else letter for letter in broken)
