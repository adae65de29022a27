"""What a session and a vote may hold."""

from collections.abc import Sequence

from bag_generators import InputError
from elimipl.labels import LabelSpace
from ui.classroom.store.records import NewPicture

MOST_PICTURES = 28
MOST_LABELS = 12
MOST_PICTURE_BYTES = 1_000_000


def checked_mask(named: Sequence[int], top: int, labels: int) -> int:
    """The labels as bits; a set bit for each label that is named, the top one among them."""
    numbers = [*named, top]
    if any(type(number) is not int or not 0 <= number < labels for number in numbers) or top not in named:
        raise InputError("The vote names a label that the class does not have.", "Choose among the labels shown.")
    return sum(1 << number for number in set(numbers))


def check_content(labels: LabelSpace, pictures: Sequence[NewPicture]) -> None:
    """Refuse a session that nobody could vote in."""
    if not 3 <= len(labels) <= MOST_LABELS:
        raise InputError(
            f"A class can't vote on {len(labels)} labels.", f"Give 3 to {MOST_LABELS}, so that some can be ruled out."
        )
    if not 1 <= len(pictures) <= MOST_PICTURES:
        raise InputError(
            f"A class can't label {len(pictures)} pictures.", f"Choose 1 to {MOST_PICTURES}; ten take ten minutes."
        )
    for one in pictures:
        if len(one.png) > MOST_PICTURE_BYTES:
            raise InputError("A picture is too large for a phone.", "Choose a smaller field of it.")
        if one.truth is not None and not 0 <= one.truth < len(labels):
            raise InputError("The true label of a picture is none of the class's labels.", "Choose other labels.")
