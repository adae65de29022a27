"""The steps by id. A step shows its controls and figures and reports the facts that `done_when` asks about."""

from collections.abc import Callable, Mapping
from typing import Any

from elimipl_app.lesson.case import Case
from elimipl_app.lesson.steps.attention import show_attention, show_scores
from elimipl_app.lesson.steps.losses import show_losses, show_sparsity
from elimipl_app.lesson.steps.supervision import show_both, show_instances, show_labels, show_picture
from elimipl_app.lesson.steps.training import show_ambiguity, show_weights

STEPS: Mapping[str, Callable[[Case], Mapping[str, Any]]] = {
    "picture": show_picture,
    "instances": show_instances,
    "labels": show_labels,
    "both": show_both,
    "attention": show_attention,
    "scores": show_scores,
    "losses": show_losses,
    "sparsity": show_sparsity,
    "weights": show_weights,
    "ambiguity": show_ambiguity,
}
