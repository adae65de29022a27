"""Cells of CSV files that no spreadsheet takes for a formula, whatever strangers call their files and classes."""

from __future__ import annotations

import re

# What a spreadsheet may pass over at the beginning of a cell: blanks, and characters that nobody sees.
_UNSEEN = (
    r"[\s\x00-\x1f\x7f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffd\U0001d173-\U0001d17a\U000e0000-\U000e0fff]*"
)
# Where a cell begins: at the beginning, and for a spreadsheet that parts cells by semicolons or tabs, and so doesn't
# see the quotes around a cell, after each of those and on each new line.
_FORMULA_START = re.compile(rf"(^|[;\t\r\n])({_UNSEEN})(?=[=+\-@＝＋－＠])")


def defused(text: str) -> str:
    """The text with an apostrophe before everything that would begin a formula.

    >>> defused("=1+1"), defused("a;=1"), defused("TUM-1")
    ("'=1+1", "a;'=1", 'TUM-1')
    """
    return _FORMULA_START.sub(r"\1\2'", text)
