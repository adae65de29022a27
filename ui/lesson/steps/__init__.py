"""The steps by id. A step shows its controls and figures and reports the facts that `done_when` asks about."""

from collections.abc import Callable, Mapping
from typing import Any

from ui.lesson.case import Case
from ui.lesson.steps import (
    ambiguity,
    attention,
    both,
    instances,
    labels,
    losses,
    picture,
    scores,
    sparsity,
    weights,
)

Facts = Mapping[str, Any]

STEPS: Mapping[str, Callable[[Case], Facts]] = {
    "picture": picture.show,
    "instances": instances.show,
    "labels": labels.show,
    "both": both.show,
    "attention": attention.show,
    "scores": scores.show,
    "losses": losses.show,
    "sparsity": sparsity.show,
    "weights": weights.show,
    "ambiguity": ambiguity.show,
}
