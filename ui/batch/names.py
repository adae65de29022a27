"""The class that names of files and folders carry, as many data sets are laid out: TUM/0001.png, tum-0001.png."""

import re
from collections.abc import Sequence


def label_in(name: str, labels: Sequence[str]) -> str:
    """The one class a path names, nearest folder first; empty where it names none, or several at once.

    >>> label_in("tiles/TUM/0001.png", ["STR", "TUM"]), label_in("str-TUM.png", ["STR", "TUM"])
    ('TUM', '')
    """
    by_words = {_words(label): label for label in labels}
    *folders, file = re.split(r"[/\\]", name)
    for part in (*reversed(folders), file.rpartition(".")[0] or file):
        words = _words(part)
        found = {label for own, label in by_words.items() if own and _contains(words, own)}
        if found:
            return found.pop() if len(found) == 1 else ""
    return ""


def _words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"[^\W\d_]+", text.lower()))


def _contains(words: tuple[str, ...], own: tuple[str, ...]) -> bool:
    return any(words[start : start + len(own)] == own for start in range(len(words) - len(own) + 1))
