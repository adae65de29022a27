"""The one exception a person ever sees."""

LONGEST_SENTENCE = 1000


class InputError(ValueError):
    """Something a person gave us can't be used.

    `what` says what happened and `fix` what to do about it; both are full sentences. They may quote strangers' text
    (names of files and classes), so control and direction marks in them are made visible and length is bounded.

    >>> raise InputError("The file is empty.", "Choose another file.")
    Traceback (most recent call last):
    bag_generators.base.errors.InputError: The file is empty. Choose another file.
    """

    def __init__(self, what: str, fix: str) -> None:
        self.what = _bounded(printable(what))
        self.fix = _bounded(printable(fix))
        super().__init__(self.what, self.fix)

    def __str__(self) -> str:
        return f"{self.what} {self.fix}"


def printable(text: str) -> str:
    """Names are strangers' text: control and direction marks become �, so that they can't disturb a line.

    >>> printable("\u202egnp.exe")
    '�gnp.exe'
    """
    return "".join(character if character.isprintable() else "�" for character in text)


def shown_name(name: str, longest: int = 80) -> str:
    """A stranger's name of a file, a slide or a region, fit for a line and a file; what is too long loses its middle.

    >>> shown_name("a very long name.png", 12)
    'a ver…me.png'
    """
    plain = printable(name.encode("utf-8", "replace").decode()).strip()
    half = longest // 2
    return plain if len(plain) <= longest else f"{plain[: longest - half - 1]}…{plain[-half:]}"


def _bounded(text: str) -> str:
    half = LONGEST_SENTENCE // 2
    return text if len(text) <= LONGEST_SENTENCE else f"{text[:half]}…{text[1 - half :]}"
