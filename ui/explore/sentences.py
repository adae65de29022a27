"""The sentences of the Explore page that say what was found: answer, map, region, field, what if."""

import numpy as np

from bag_generators import TissueImage
from bag_generators.scale import ScaleDecision
from elimipl.answer import ACCEPTANCE, WITHOUT_CHECKS, Answer
from elimipl.cards.card import Card
from elimipl.cards.wording import kept_sentence
from elimipl.cards.wording import map_sentence as map_sentence_of_card
from elimipl.labels import LabelSpace
from elimipl.trust import FlippingCurve
from ui.explore import texts
from ui.explore.analysis import Analysis, View
from ui.explore.region import RegionNumbers
from ui.explore.texts import NEIGHBOURS_SAW, SCALE_UNKNOWN
from ui.figures.plain_text import plain
from ui.frame.texts import EXPECTED_SCALE


def in_words(labels: LabelSpace, index: int) -> str:
    """A class spelled out, with its title where that is another: what its description says before the colon.

    >>> from elimipl.labels import TISSUE7
    >>> in_words(TISSUE7, 2)
    'Mucus (MUC)'
    """
    title, (words, colon, _) = labels.titles[index], labels.descriptions[index].partition(":")
    if not colon or words.casefold() == title.casefold():
        return words if colon else title
    return f"{words} ({title})"


def beside_bar(labels: LabelSpace, index: int) -> str:
    """A class spelled out with its code, which stands on the maps."""
    words, code = in_words(labels, index), labels.codes[index]
    return words if code in (labels.titles[index], words) else f"{code} · {words}"


def certainty(answer: Answer) -> list[str]:
    """How often such answers are right where the card knows, else whether another label is possible; how that went."""
    counted = [check.reason for check in answer.checks if check.name == ACCEPTANCE]
    if answer.label_set is not None and (len(answer.label_set) > 1 or not counted):
        counted.append(possible(answer.label_set, answer.label_space, answer.label_space.index(answer.label)))
    return [*counted, *([answer.reliability] if answer.reliability else [])]


def possible(label_set: tuple[str, ...], labels: LabelSpace, index: int) -> str:
    """Which labels the model's set at 90 % holds; `index` is the class that was answered."""
    words = [in_words(labels, labels.index(name)) for name in label_set]
    if label_set == (labels.names[index],):
        return "The model's own 90 % set holds no other label."
    return f"The model's own 90 % set: {', '.join(words)}."


def would_say(words: str, probability: float) -> str:
    """What a declined answer would have been."""
    return f"{WITHOUT_CHECKS} {words}, {probability:.0%}. Map and bars are there to look at."


def truth_sentence(labels: LabelSpace, index: int, true_index: int | None) -> list[str]:
    """Whether the answer is right, where somebody knows."""
    if true_index is None:
        return []
    if true_index == index:
        return ["The answer is right: that is the true label."]
    return [f"The answer is wrong: the true label is {in_words(labels, true_index)}."]


def removed_sentence(removed: tuple[int, ...], blocks: np.ndarray) -> str:
    """How much was taken out; `blocks` (n,) says which instances go together."""
    in_blocks = blocks.max() + 1 < len(blocks)
    what = "cells" if in_blocks else "patches"
    seen = f" {NEIGHBOURS_SAW}" if in_blocks else ""
    return f"**{len(removed)} of {len(blocks)} {what} removed.** The outlined bars are the answer before.{seen}"


def flip_sentence(found: tuple[int, ...] | None, blocks: np.ndarray) -> str:
    """What the button found; `blocks` (n,) says which instances go together."""
    what = "blocks" if blocks.max() + 1 < len(blocks) else "patches"
    if found is None:
        return f"No set of {what} changes this answer: whatever goes, the label stays."
    gone = sorted(set(blocks[list(found)].tolist()))
    numbers = ", ".join(map(str, gone[:12])) + (", …" if len(gone) > 12 else "")
    return f"Smallest set found: {len(gone)} of {blocks.max() + 1} {what} ({numbers}). Without them the label changes."


def upload_title(sha256: str) -> str:
    """An upload is called by its first digits, never by the name of its file."""
    return f"upload {sha256[:6]}"


def fetched_title(label: str, licence: str) -> str:
    """What a fetched tile is called."""
    return f"{label} tile of CRC-VAL-HE-7K ({licence})"


def own_picture(title: str) -> str:
    """Said below the gallery while a picture of the visit is shown."""
    return f"Shown: {title}. Choose a sample to return to it; your picture stays in the gallery."


def field_caption(size: int) -> str:
    """How large the field of view is."""
    return f"{EXPECTED_SCALE} Here that is a tile of {size} × {size} px. Click beside it in the picture to move it."


def field_line(view: View, scale: ScaleDecision) -> str:
    """What the model sees and at which scale, below the picture."""
    moved = "" if view.whole is None else f" at {view.x}, {view.y}; click beside it to move it"
    return f"{view.image.width} × {view.image.height} px{moved} · {scale.sentence}"


def link_waits(digits: str) -> str:
    """Said in a fresh browser of a link to a view of somebody's own picture."""
    return (
        f"This link was made with a picture you don't have (sha256 {digits}…). Open it at the left, and the view is "
        "restored."
    )


def link_had_other(digits: str) -> str:
    """Said when another picture than the link's was opened."""
    return f"The link was made with another picture (sha256 {digits}…); its view is used as far as it fits this one."


def scale_sentence(image: TissueImage) -> str:
    """How large a pixel is, and who says so."""
    if image.microns_per_pixel is None:
        return f"{SCALE_UNKNOWN[:1].upper()}{SCALE_UNKNOWN[1:]}."
    return f"{image.microns_per_pixel:.3g} µm per pixel; source: {image.scale_source}."


def candidates_sentence(analysis: Analysis) -> str:
    """The candidate labels of the picture, and who named them."""
    source = None if analysis.candidates is None else analysis.candidates.source
    return texts.candidates_sentence(tuple(map(analysis.labels.title, analysis.candidate_names)), source)


def vote_sentence(names: tuple[str, ...], shares: np.ndarray) -> str:
    """How much of the area each class wins."""
    order = [index for index in np.argsort(-shares) if shares[index] >= 0.005]
    listed = ", ".join(f"{names[index]} {shares[index]:.0%}" for index in order)
    return f"Each patch in the colour of the class it would choose alone: {listed} of the area."


def vote_legend(name: str, share: float) -> str:
    """One entry of the legend."""
    return f"{plain(name)} {share:.0%}" if share >= 0.005 else f"{plain(name)} < 1%"


def contribution_sentence(name: str, contributions: np.ndarray) -> str:
    """How the patches add up to the score of a class."""
    up, down = contributions[contributions > 0].sum(), contributions[contributions < 0].sum()
    return f"For {name}: {up:+.2f} from patches for it, {down:+.2f} from patches against it; score {up + down:+.2f}."


def map_sentence(kind: str, name: str, scores: np.ndarray) -> str:
    """The range of a map about one class."""
    what = {
        "leave_one_out": "Removing one patch changes the probability of {} by {:+.1%} to {:+.1%}.",
        "single": "Alone, the patches give {} a probability of {:.1%} to {:.1%}.",
        "integrated_gradients": "Single patches account for {1:+.1%} to {2:+.1%} of the probability of {0}.",
    }[kind]
    low, high = float(scores.min()), float(scores.max())
    return what.format(name, *((-high, -low) if kind == "leave_one_out" else (low, high)))


def region_sentence(numbers: RegionNumbers, title: str) -> str:
    """What a drawn region holds."""
    times = f", {numbers.attention / numbers.area:.1f} times its share" if numbers.area > 0 else ""
    found = (
        "" if numbers.auroc is None else f" {title} finds its {numbers.patches} patches with AUROC {numbers.auroc:.2f}."
    )
    return (
        f"**{numbers.attention:.0%} of the attention** lies in the region, which is {numbers.area:.0%} of the area"
        f"{times}.{found}"
    )


def trust_line(card: Card, kind: str) -> str:
    """What was measured of maps of this kind."""
    found = map_sentence_of_card(card, kind) or (kept_sentence(card) if kind == "attention" else None)
    return found or "Not measured for this model. The tab “Is the map right?” looks at this picture."


def flipping_sentence(curve: FlippingCurve, title: str, name: str) -> str:
    """What the curve comes to."""
    if curve.times_faster is None:
        return (
            f"Taking patches away hardly lowers {name}, in whatever order: no map can be told from chance by it here."
        )
    return (
        f"Taking away the patches that “{title}” names first lowers {name} {curve.times_faster:.1f} times as fast as "
        "chance does (mean of 20 random orders)."
    )


def flipping_alt(curve: FlippingCurve, name: str) -> str:
    """Screen reader text of the flipping curve."""
    half = len(curve.removed) // 2
    return (
        f"Probability of {name}: {curve.by_score[0]:.0%} at first; with {curve.removed[half]} patches gone "
        f"{curve.by_score[half]:.0%} by the map's order and {curve.by_chance[half]:.0%} by chance."
    )
