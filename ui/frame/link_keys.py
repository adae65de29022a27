"""Which keys a link to each page may carry, so that any other key is named instead of ignored.

A page reads some keys only in some states, so the list can't be collected while it runs; a test compares the two.
"""

from fnmatch import fnmatchcase

KEYS: dict[str, tuple[str, ...]] = {
    "Explore": (
        "picture", "sample", "generator", "labels", "method", "weights", "map", "map_class", "beside", "opacity",
        "threshold", "colours", "outlines", "tool", "candidates_*", "crowd_seed", "raw", "microns*", "whole", "part",
        "x", "y",
    ),
    "Batch": ("generator", "labels", "method", "folder"),
    "Slide": ("slide", "generator", "labels", "method"),
    "Bag generators": ("picture", "sample", "follow", "instance", "unit"),
    "Lesson: dual inexact supervision": (
        "step", "done", "seen", "hide", "class", "say_*", "open_*", "kind", "picture", "cut", "pick", "hide_instances",
        "marks", "check_marks", "hide_true", "r", "draw", "as_machine", "rows", "guess", "shown", "r_digits",
        "r_birdsong", "bags", "epoch_attention", "digit", "scores_of", "temperature", "instance", "bag", "epoch", "mu",
        "gamma", "steps", "start", "loss", "sparsity", "from", "inhibit", "steps_down", "field",
        "named",
    ),
    "Class": ("join", "class_generator"),
    "Compare models": ("compare_*",),
    "Results": ("results_*",),
    "Train": ("train_*",),
    "Doctor": (),
}  # fmt: skip
"""By the page's title; a star stands for the part that depends on another choice."""


def unknown_keys(page: str, asked: list[str]) -> list[str]:
    """Those of the keys in a link that the page never reads; none where nobody listed the keys of the page."""
    if page not in KEYS:
        return []
    return [key for key in asked if not any(fnmatchcase(key, known) for known in KEYS[page])]
