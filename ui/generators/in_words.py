"""What an instance's numbers say, in a sentence a person would use."""

import numpy as np

from bag_generators import Bag

NO_DIFFERENCE = 3.0  # grey levels
DIRECTIONS = (
    "the right", "the upper right", "the top", "the upper left", "the left", "the lower left", "the bottom",
    "the lower right",
)  # fmt: skip
GREY_WEIGHTS = np.array([0.299, 0.587, 0.114])


def in_words(bag: Bag, instance: int) -> str:
    """One instance of a bag of any of the four generators, as sentences."""
    return {"row": _row, "sbn": _sbn, "kmeansseg": _segment, "sift": _sift}[bag.generator](bag, instance)


def colour_name(rgb: np.ndarray) -> str:
    """A plain name for a colour of stained tissue, red, green and blue 0..255.

    >>> colour_name(np.array([245, 243, 246])), colour_name(np.array([90, 50, 140]))
    ('almost white', 'dark violet')
    """
    brightness, spread = float(GREY_WEIGHTS @ rgb), float(np.ptp(rgb))
    if brightness > 225 and spread < 25:
        return "almost white"
    shade = "dark" if brightness < 110 else "pale" if brightness > 185 else "medium"
    red, green, blue = (float(value) for value in rgb)
    if spread < 12:
        return f"{shade} grey"
    if green >= max(red, blue):
        return f"{shade} green"
    lean = red - blue
    return f"{shade} {'pink' if lean > 12 else 'violet' if lean < -12 else 'purple'}"


def _row(bag: Bag, instance: int) -> str:
    values = bag.features[instance]
    above, below = (_brighter(GREY_WEIGHTS @ values[place : place + 3]) for place in (3, 6))
    return f"{_its_colour(values[:3])} It is {above} the band above and {below} the band below."


def _sbn(bag: Bag, instance: int) -> str:
    values = bag.features[instance]
    told = []
    for place, side in enumerate(("left", "right", "upper", "lower"), start=1):
        told.append(f"the {side} one is {_brighter(GREY_WEIGHTS @ values[3 * place : 3 * place + 3])} it")
    return f"{_its_colour(values[:3])} Of its neighbours {', '.join(told[:-1])} and {told[-1]}."


def _segment(bag: Bag, instance: int) -> str:
    brightness, blue, red, *texture = (float(value) for value in bag.features[instance])
    area = float(bag.regions.mask(instance).mean())
    rough = "smooth" if max(texture) < 6 else "rough" if max(texture) > 18 else "slightly rough"
    return (
        f"It covers {area:.0%} of the picture. Brightness {brightness:.0f} (16 is black, 235 white), "
        f"{_lean(blue, 'blue', 'yellow')}, {_lean(red, 'red', 'cyan')}. Its blocks are {rough}."
    )


def _sift(bag: Bag, instance: int) -> str:
    descriptor = bag.features[instance].reshape(4, 4, 8).astype(np.float64)
    if not descriptor.any():
        return "There is no edge here at all, so every number is zero."
    towards = descriptor.sum(axis=(0, 1))
    row, column = np.unravel_index(descriptor.sum(axis=2).argmax(), (4, 4))
    main = int(towards.argmax())
    return (
        f"Most edges brighten towards {DIRECTIONS[main]} ({towards[main] / towards.sum():.0%}; an even share is 12%). "
        f"The strongest cell is in row {row + 1}, column {column + 1}. Colour plays no part."
    )


def _its_colour(rgb: np.ndarray) -> str:
    red, green, blue = (f"{value:.0f}" for value in rgb)
    return f"On average it is {colour_name(rgb)} (red {red}, green {green}, blue {blue})."


def _brighter(difference: float) -> str:
    if abs(difference) < NO_DIFFERENCE:
        return "about as bright as"
    return f"{abs(difference):.0f} levels {'brighter' if difference > 0 else 'darker'} than"


def _lean(value: float, above: str, below: str) -> str:
    offset = value - 128
    if abs(offset) < NO_DIFFERENCE:
        return f"neither {above} nor {below}"
    return f"{abs(offset):.0f} towards {above if offset > 0 else below}"
