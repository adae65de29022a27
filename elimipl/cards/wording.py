"""What was measured of a model, in sentences that say on what and of how many: the same for commands and pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from elimipl.cards.card import Card, MethodTrust

_OF_A_SOURCE = {"n", "right", "trusted", "trusted_and_wrong"}
_MAPS = {"attention": "attention", "contribution": "contribution", "single": "vote", "vote": "vote"}
"""What the maps of a page are called where the first map was chosen."""
EVEN = 0.99
"""Attention whose evenness is above this tells hardly any instances apart."""


def accuracy_sentence(card: Card) -> str:
    """How often the model is right, on what."""
    measured = card.accuracy
    if measured is None:
        return "The accuracy of this model was not measured."
    spread = "" if measured.std is None else f" ± {measured.std:.3f}"
    return f"Accuracy {measured.value:.3f}{spread} (n = {measured.n:,}, {measured.split})."


def by_source(card: Card) -> dict[str, Mapping[str, Any]]:
    """What was measured on the held-back pictures of each source; nothing on cards that don't have it."""
    return {
        source: found
        for source, found in card.measured.items()
        if isinstance(found, Mapping) and found.keys() >= _OF_A_SOURCE
    }


def source_sentences(card: Card) -> tuple[str, ...]:
    """A sentence for the held-back pictures of each source."""
    return tuple(_of_source(source, found) for source, found in by_source(card).items())


def trust_summary(card: Card) -> str:
    """How much is trusted and how much of that is wrong, over all sources; nothing where that was not measured."""
    kept = {source: (found["trusted"], found["trusted_and_wrong"]) for source, found in by_source(card).items()}
    rule = card.acceptance
    out = {} if rule is None else {source: (one.trusted, one.trusted_wrong) for source, one in rule.left_out.items()}
    said = [
        f"{called}: {_shares(trusted)} trusted, {_shares(wrong)} trusted and wrong"
        for called, found in (("Held-back pictures", kept), ("sources left out", out))
        if found
        for trusted, wrong in [zip(*found.values(), strict=True)]
    ]
    return f"{'; '.join(said)}." if said else ""


def acceptance_sentences(card: Card) -> tuple[str, ...]:
    """When an answer is trusted, and what that rule did on sources that the models behind it had never seen."""
    rule = card.acceptance
    if rule is None:
        return ()
    when = f"An answer is trusted where answers like it are right in at least {100 * rule.limit:.0f} of 100 cases"
    return (
        f"{when}, by signs fitted on {rule.fitted_on}.",
        *(
            f"{source}, left out of all learning (n = {kept.n:,}): {kept.right:.0%} right, {kept.trusted:.0%} trusted, "
            f"{kept.trusted_wrong:.1%} trusted and wrong."
            for source, kept in rule.left_out.items()
        ),
    )


def measured_map_sentence(card: Card, kind: str) -> str | None:
    """How well maps of this kind find what carries the class, in the pictures that was measured on; None: nowhere."""
    first, trust = card.first_map, card.trust
    name = _MAPS.get(kind, kind)
    if first is not None and name == first.name:
        return (
            f"Against {first.on} (n = {first.n:,}): {first.auroc:.2f}; how dark a place is has {first.darkness:.2f}, "
            f"an untrained network {first.untrained:.2f}."
        )
    if first is not None and name in first.others:
        found = f"pixel AUROC {first.others[name]:.2f}"
        return f"Against {first.chosen_on}, which chose {first.name} as the first map: {found}."
    method = None if trust is None else trust.methods.get("single" if kind == "vote" else kind)
    if trust is None or method is None:
        return None
    return f"On {trust.on}:{_found(method, trust.located)} {_lowers(method, trust.bags)}"


def evenness_sentence(card: Card) -> str | None:
    """That the model looks at all instances alike, where it does."""
    if card.trust is None or card.trust.evenness < EVEN:
        return None
    return (
        f"Attention of this model is nearly even (evenness {card.trust.evenness:.3f} of 1 on {card.trust.bags:,} bags, "
        f"{card.trust.on}): it tells hardly any instances apart."
    )


def kept_sentence(card: Card) -> str | None:
    """What the quarter with most and the one with least attention are worth alone."""
    found = {source: one["kept_alone"] for source, one in by_source(card).items() if "kept_alone" in one}
    if not found:
        return None
    n = sum(int(by_source(card)[source]["n"]) for source in found)
    most, least = ([100 * one[part] for one in found.values()] for part in ("most", "least"))
    return (
        f"Kept alone, the quarter with most attention changes the answer's probability by {_range(most)} points on "
        f"average, the quarter with least by {_range(least)} (held-back pictures of {', '.join(found)}; n = {n:,})."
    )


def all_sentences(card: Card) -> tuple[str, ...]:
    """Everything, in the order of what a person asks first."""
    first = None if card.first_map is None else card.first_map.name
    found = measured_map_sentence(card, first or "attention")
    return (
        accuracy_sentence(card),
        *source_sentences(card),
        *acceptance_sentences(card),
        *([] if found is None else [f"The map “{first or 'attention'}”. {found}"]),
        *(said for said in (evenness_sentence(card), kept_sentence(card)) if said),
        f"Learned from {card.training_data.source} ({card.training_data.licence}).",
    )


def _of_source(source: str, found: Mapping[str, Any]) -> str:
    interval = found.get("interval")
    spread = "" if interval is None else f" ({interval[0]:.0%} to {interval[1]:.0%})"
    said = (
        f"{source}, held back (n = {found['n']:,}): {found['right']:.0%} right{spread}, {found['trusted']:.0%} "
        f"trusted, {found['trusted_and_wrong']:.1%} trusted and wrong"
    )
    if "calibration_error" in found:
        said += f"; calibration error {found['calibration_error']:.3f}"
    if {"sets_cover", "set_size"} <= found.keys():
        said += f"; 90 % sets hold the label in {found['sets_cover']:.0%}, {found['set_size']:.1f} labels on average"
    return f"{said}."


def _found(method: MethodTrust, located: int) -> str:
    if method.auroc is None:
        return ""
    return f" AUROC {method.auroc:.2f} against the instances that carry the label (n = {located:,});"


def _lowers(method: MethodTrust, bags: int) -> str:
    return (
        f"removing its top instances lowers the answer {100 * method.gain:.0f} points more than chance (n = {bags:,})."
    )


def _shares(values: tuple[float, ...]) -> str:
    low, high = (f"{end:.0%}" for end in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _range(values: list[float]) -> str:
    low, high = (f"{end:+.0f}" for end in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"
