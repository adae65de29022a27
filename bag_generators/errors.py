"""The one exception a person ever sees."""


class InputError(ValueError):
    """Something a person gave us can't be used.

    `what` says what happened and `fix` what to do about it; both are full sentences, shown as they are.

    >>> raise InputError("The file is empty.", "Choose another file.")
    Traceback (most recent call last):
    bag_generators.errors.InputError: The file is empty. Choose another file.
    """

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(what, fix)
        self.what = what
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.what} {self.fix}"
