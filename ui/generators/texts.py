"""Every text of the page “Bag generators” that is not about a single generator."""

from collections.abc import Sequence

from ui.frame.texts import SPACE_TITLES

UNIT_LABEL = "One colour scale for all"
UNIT_TITLES = {"share": "Share of the bag", "even": "Times an even share"}
UNIT_HELP = (
    "Share of the bag: the attention itself, which sums to one over a bag, so bags of few instances look brighter. "
    "Times an even share: attention × number of instances; 1 means no preference."
)
UNIT_AXIS = {"share": "attention (share of the bag)", "even": "attention ÷ even share"}
FOLLOW_LABEL = "Follow it step by step"
INSTANCE_LABEL = "Instance"
NOT_SEEN = "does not look at this place"
NO_MODEL = "No ELIMIPL model for this generator is installed, so nothing is painted."
EVEN = "Its attention is even, so nothing is painted."
SAME_PLACE_HEADING = "The same place in all bags"
HOW_HEADING = "How the numbers came about"

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def intro(generators: int) -> str:
    """What the page is about."""
    ways = _NUMBERS[generators] if generators < len(_NUMBERS) else str(generators)
    return (
        f"One picture, {ways} ways to cut it into a **bag of instances**. Click anywhere in a map: the same place is "
        "followed through all of them, and below you see how its numbers came about, step by step."
    )


def read_by(spaces: Sequence[str]) -> str:
    """Which classes the models know that read the bags."""
    titles = dict.fromkeys(SPACE_TITLES.get(space, space) for space in spaces)
    return f"Read by ELIMIPL models of: {', '.join(titles)}." if titles else NO_MODEL


def numbers_step(count: int) -> str:
    """The last step of every generator."""
    return f"The instance: {count} number{'s' if count > 1 else ''}"
