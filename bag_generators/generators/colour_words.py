"""What Row and SBN say about their colours, in words a person would use."""

import numpy as np

NO_DIFFERENCE = 3.0  # grey levels
GREY_WEIGHTS = np.array([0.299, 0.587, 0.114])


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


def its_colour(rgb: np.ndarray) -> str:
    """A mean colour in a sentence."""
    red, green, blue = (f"{value:.0f}" for value in rgb)
    return f"On average it is {colour_name(rgb)} (red {red}, green {green}, blue {blue})."


def brighter(rgb_difference: np.ndarray) -> str:
    """How bright something is beside something else: “12 levels darker than”."""
    difference = float(GREY_WEIGHTS @ rgb_difference)
    if abs(difference) < NO_DIFFERENCE:
        return "about as bright as"
    return f"{abs(difference):.0f} levels {'brighter' if difference > 0 else 'darker'} than"
