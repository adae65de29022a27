"""What is on the slide of the tests."""

KINDS = ("LYM", "MUC", "MUS")
_ = ""
LAYOUT = (
    (_, _, _, _, _, _, _, _),
    (_, "LYM", "LYM", "LYM", "MUC", "MUC", "MUC", "MUC"),
    (_, "LYM", "MUS", "LYM", "MUC", "MUC", "MUC", "MUC"),
    (_, "LYM", "LYM", "LYM", "MUC", "MUC", "MUC", "MUC"),
    (_, "MUS", "MUS", _, "MUS", "MUS", "LYM", "LYM"),
    (_, "MUS", "MUS", _, "MUS", "MUS", "LYM", "LYM"),
)
"""Cells of 224 px; a tissue with a hole, one in two parts, one that touches itself at a corner only."""
