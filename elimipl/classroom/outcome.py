"""What training on the class's answers came to, as it is kept with the session."""

from bag_generators.base.validation import Record, parse_json, validated

ARMS = ("truth", "class", "three", "tops", "nothing")
"""What was learned from: true labels, the class's candidate sets, those of three students drawn for each picture (the
paper's rule to the letter), the commonest top labels, and every label possible."""
METHODS = ("elimipl", "demipl")


class Fit(Record):
    """One method on one kind of labels, a number for each seed."""

    method: str
    arm: str
    held_out: tuple[float, ...]
    """Share of the held-out bags that are classified right; empty where nothing could be held out."""
    disambiguation: tuple[float, ...]
    """Share of the training pictures whose heaviest candidate is the true label; empty without true labels."""


class Learned(Record):
    """What ELIMIPL made of one picture of the class."""

    picture: int
    weights: tuple[float, ...]
    """Disambiguation weights of the labels after training on the class's sets, averaged over copies and seeds."""


class ClassOutcome(Record):
    """All of it."""

    generator: str
    pictures: tuple[int, ...]
    """Numbers of the pictures that were learned from."""
    copies: int
    held_out_bags: int
    held_out_source: str
    epochs: int
    seeds: tuple[int, ...]
    fits: tuple[Fit, ...]
    learned: tuple[Learned, ...]
    seconds: float

    def mean(self, method: str, arm: str) -> float | None:
        """Mean over the seeds; None where it was not measured."""
        for fit in self.fits:
            if (fit.method, fit.arm) == (method, arm) and fit.held_out:
                return sum(fit.held_out) / len(fit.held_out)
        return None


def read_outcome(text: str) -> ClassOutcome:
    """The outcome that a class keeps as JSON."""
    called = "What the class's training came to"
    return validated(ClassOutcome, parse_json(text, called), called)
