"""Every text of the Explore page but for those it shares with others (`elimipl_app.shell.texts`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bag_generators import TissueImage
from elimipl.answers.answer import ACCEPTANCE, DRAWINGS_ONLY, Answer, Verdict
from elimipl.answers.explain import KeptAlone
from elimipl.answers.trust import FlippingCurve
from elimipl.candidates.labels import LabelSpace
from elimipl.cards.card import Card
from elimipl.datasets.pictures import PHANTOMS
from elimipl_app.shell.texts import NOT_CHECKED, sureness

if TYPE_CHECKING:
    from elimipl_app.explore.analysis import Analysis
    from elimipl_app.explore.maps import RegionNumbers


SCALE_UNKNOWN = "scale unknown, 0.5 µm per pixel assumed"

CANDIDATES_HEADING = "Candidate labels"
CANDIDATES_HELP = (
    "What people find possible in the picture. The model answers without them; they tell candidate from non-candidate."
)
CANDIDATE_SOURCES = {"sample": "With the sample", "crowd": "Three simulated annotators", "hand": "By hand"}
CANDIDATES_FROM = {
    "sample": "that come with the sample, as annotators might name them (simulated)",
    "crowd": "of three simulated annotators",
    "hand": "ticked by hand",
}
CANDIDATE_GROUPS = {
    "sample": ("candidate (simulated)", "non-candidate (simulated)"),
    "crowd": ("candidate (simulated)", "non-candidate (simulated)"),
    "hand": ("candidate", "non-candidate"),
}
OWN_SET_GROUPS = ("in the model's own 90 % set", "not in it")

RAW_LABEL = "Raw output of the network"
RAW_HELP = "Off: calibrated probabilities. On: what the network's head gives, as in the paper's figures."
OUTSIDE_CAPTION = (
    "of the probability lies outside the candidate set. Click a bar to switch its label between candidate and "
    "non-candidate."
)
OUTSIDE_HELP = "What the model gives to labels that the candidate set rules out. ELIMIPL learns to keep it small."

OWN_SET_HINT = "Bars are coloured by the model's own 90 % set. Click the bars of the labels that you find possible."
NO_SET_HINT = "This model has no 90 % set of its own. Click the bars of the labels that you find possible."
WHAT_IF_TAB, TRUST_TAB = "What if", "Is the map right?"
SUM_TAB, BAG_TAB = "How the score adds up", "The bag"
WHAT_IF_HELP = "The model predicts again from the patches that stay. Outlined ghost bars show the answer before."
BLOCKS_HELP = (
    "Cells are taken out in blocks of 4 × 4 (56 px), numbered from the upper left corner row by row. The tool Remove "
    "takes out a block by a click, and exactly what you draw around."
)
NEIGHBOURS_SAW = (
    "The cells that stay have seen the removed region from beside it: some of it is still in their numbers."
)
WHAT_ATTENTION_IS = (
    "Attention says how much each patch weighs in the bag's average. It is not a segmentation and not proof of "
    "influence; removing a patch and predicting again is the more faithful test."
)

HOLDS, WEAK, DOES_NOT_HOLD = "holds", "weak", "does not hold"
VERDICT_ICONS = {HOLDS: "check_circle", WEAK: "help", DOES_NOT_HOLD: "cancel"}
ENOUGH, LESS, NOT_ENOUGH = 0.06, 0.12, 0.5
"""A quarter is enough where the answer's probability loses at most the first, worth less where it loses the second, and
not enough where it falls below the third."""
OF_ANOTHER_CLASS = "This map is about {}, which is not the answer; only maps of the answer are put to the test."

SOURCE_TITLES = {
    "attention": "Attention",
    "vote": "Vote",
    "contribution": "For a class",
    "leave_one_out": "Leave-one-out",
    "single": "Single",
    "integrated_gradients": "Gradients",
}
SOURCE_HELP = (
    "Attention: how many times an even share each patch weighs. Vote: the class each patch would choose alone. "
    "For a class: what each patch adds to the class or takes from it; together they are its score. "
    "Leave-one-out: what the class loses without the patch. Single: the class's probability from the patch alone. "
    "Gradients: integrated gradients, how much of the class's probability the patch accounts for."
)
MEASUREMENT_TITLES = {
    "contribution": "Contribution",
    "leave_one_out": "Leave-one-out",
    "single": "Single",
    "integrated_gradients": "Integrated gradients",
}
TIMES_EVEN_TITLE = "times an even share"
TIMES_EVEN = ((1 / 8, "⅛"), (1 / 4, "¼"), (1 / 2, "½"), (1, "1"), (2, "2"), (4, "4"), (8, "8"))
CLASS_CHOICES = {"first": "first choice", "second": "second choice"}
PAINTED_TITLES = {"contours": "Contours", "filled": "Filled"}
PAINTED_HELP = (
    "Contours go around the quarter that the map points at; islands below 0.2 % of the picture have none. The vote is "
    "always filled."
)
NO_CONTOURS = "No line is drawn: no part of the picture stands out on this map. “Filled” in the settings shows it all."
PANELS_TITLES = {"one": "Map", "original": "Original beside it", "classes": "First and second choice"}
ORIGINAL_TITLE = "original"
TOOL_TITLES = {"look": "Look", "region": "Lens", "remove": "Remove"}
TOOL_HELP = (
    "Look: click a patch to read about it. Lens: draw around a part for its own answer, and to compare the map with "
    "it. Remove: click patches to take them out (cells go in blocks of 56 px), or draw around them. The buttons on the "
    "picture choose what a drag does: box, free shape, or moving the picture. A click beside the field of view moves "
    "it, where only a field is read."
)
REGION_HINT = (
    "Draw a box in the picture, or a free shape (lasso button): its own answer is said here, from the cells that were "
    "read already. Click on it, and it can be dragged."
)
NO_DETAIL = "Flat or out of focus: nothing can be said of the tissue."
EMPTY_LENS = "No patch that was not removed lies in the lens for the most part: draw a larger one."


CHECK_TITLES = {
    "size": "size",
    "tissue": "tissue",
    "blur": "focus",
    "colour": "stain",
    "distance": "likeness to the training pictures",
    "entropy": "certainty",
    "label_set": "possible labels",
    "scale": "scale",
    "acceptance": "chance of being right",
}

ABOUT_PNG = "The figure: map as it is set here, original, bars, scale bar, legend and caption."
ABOUT_SVG = "The same figure with letters and bars that stay sharp at any size."
ABOUT_REPORT = "A page to print: picture, map, bars, instances, provenance."
ABOUT_JSON = "The result with everything needed to get it again."
ABOUT_GEOJSON = "The instances as polygons; drag the file onto the picture in QuPath."


def scope_sentence(verdict: Verdict) -> str:
    """Said when no check failed: which ones the picture passed, and which ones the model has no limits for."""
    good = ", ".join(CHECK_TITLES[item.name] for item in verdict.checks)
    unknown = ", ".join(CHECK_TITLES[name] for name in verdict.not_checked)
    sentences = [f"The picture passed{'' if unknown else ' all checks'}: {good}."] if good else []
    if unknown:
        sentences = [NOT_CHECKED, *sentences, f"This model came without limits for: {unknown}."]
    if verdict.trained_on == PHANTOMS:
        sentences.append(DRAWINGS_ONLY)
    return " ".join(sentences)


def bars_alt(names: tuple[str, ...], probabilities: np.ndarray, group: str, members: np.ndarray) -> str:
    """Screen reader text of the class bars; `group` is what the `members` are called, nothing where all are alike."""
    shares = ", ".join(f"{name} {value:.0%}" for name, value in zip(names, probabilities, strict=True))
    listed = ", ".join(name for name, member in zip(names, members, strict=True) if member)
    return f"Class probabilities: {shares}." + (f" {group[:1].upper()}{group[1:]}: {listed}." if group else "")


def three_bars_alt(probabilities: np.ndarray, candidates: np.ndarray, true_index: int | None) -> str:
    """Screen reader text of the three bars of Figure 2."""
    parts = [] if true_index is None else [f"true label {probabilities[true_index]:.0%}"]
    for name, members in (("candidates", candidates), ("non-candidates", ~candidates)):
        if members.any():
            parts.append(f"average over {name} {probabilities[members].mean():.0%}")
    return f"Probabilities: {', '.join(parts)}."


def left_and_right(left: str, right: str) -> str:
    """The classes of two maps side by side."""
    return f"{left} (left) and {right} (right)"


def map_title(kind: str, name: str) -> str:
    """What stands beside the colour bar of a map about the class `name`."""
    return {
        "contribution": f"added to the score of {name}",
        "leave_one_out": f"{name} lost without the patch",
        "single": f"{name} from the patch alone",
        "integrated_gradients": f"share of {name} accounted for",
    }[kind]


def contour_names(kind: str, name: str) -> tuple[str, str]:
    """What lies in the line around the map's highest quarter, and in the dashed one around its lowest."""
    if kind == "attention":
        return "most attention", "least attention"
    return f"most for {name}", f"most against {name}"


def evenness(attention: np.ndarray, even: bool, painted: bool = True) -> str:
    """How the attention is spread, in a sentence; where it is the map that is `painted`, even means nothing is."""
    times = len(attention) * attention
    if even:
        return (
            f"Attention is even here: every patch weighs {times.min():.2f} to {times.max():.2f} times an even share"
            f"{', so nothing is painted' if painted else ''}."
        )
    top = np.sort(attention)[::-1][: max(1, len(attention) // 4)]
    return (
        f"Attention is uneven: the strongest patch weighs {times.max():.1f} times an even share, the strongest quarter "
        f"of the patches holds {top.sum():.0%} of it."
    )


def agreement_sentence(agreement: float | None) -> str:
    """Rank agreement of attention and leave-one-out, in words."""
    if agreement is None:
        return "Attention and leave-one-out can't be compared here: all instances score the same."
    strength = (
        "agree well"
        if agreement > 0.6
        else "agree partly"
        if agreement > 0.2
        else "hardly agree"
        if agreement > -0.2
        else "contradict each other"
    )
    return f"Attention and leave-one-out {strength} here: rank correlation {agreement:+.2f}."


def class_in_words(labels: LabelSpace, index: int) -> str:
    """A class spelled out, with its title where that is another: what its description says before the colon.

    >>> from elimipl.candidates.labels import TISSUE7
    >>> in_words(TISSUE7, 2)
    'Mucus (MUC)'
    """
    title, (words, colon, _) = labels.titles[index], labels.descriptions[index].partition(":")
    if not colon or words.casefold() == title.casefold():
        return words if colon else title
    return f"{words} ({title})"


def beside_bar(labels: LabelSpace, index: int) -> str:
    """A class spelled out with its code, which stands on the maps."""
    words, code = class_in_words(labels, index), labels.codes[index]
    return words if code in (labels.titles[index], words) else f"{code} · {words}"


FEWEST_COUNTED = 30
"""Answers; of fewer nobody can say how often they are right."""


def certainty(answer: Answer, card: Card) -> list[str]:
    """How often such answers are right, by what the card has counted; and what else it could be."""
    said = []
    chance = next((check for check in answer.checks if check.name == ACCEPTANCE), None)
    if chance is not None:
        said.append(
            f"About {min(99, 100 * chance.value):.0f} of 100 such answers are expected to be right, by signs fitted on "
            f"left-out pictures and sources; from {100 * chance.limit:.0f} on an answer is trusted."
        )
    if answer.label_set is not None and (len(answer.label_set) > 1 or chance is None):
        said.append(possible(answer.label_set, answer.label_space, answer.label_space.index(answer.label)))
    return [*said, *counted_sentence(answer.probability, card)]


def counted_sentence(probability: float, card: Card) -> list[str]:
    """How many of the answers that were as sure as this one were right, on held-back pictures."""
    if card.reliability is None:
        return []
    found = card.reliability.bin_of(probability)
    if found is None or found.n < FEWEST_COUNTED:
        count = found.n if found else 0
        counted = "1 answer was" if count == 1 else f"{count} answers were"
        return [f"On {card.reliability.on} {counted} this sure: too few to tell."]
    right = 100 * found.right / found.n
    return [f"On {card.reliability.on} {right:.0f} of 100 answers this sure were right (n = {found.n:,})."]


def possible(label_set: tuple[str, ...], labels: LabelSpace, index: int) -> str:
    """What else the model's set at 90 % holds; `index` is the class that was answered."""
    others = [class_in_words(labels, labels.index(name)) for name in label_set if name != labels.names[index]]
    if not others:
        return "Nothing else is in the model's own 90 % set."
    return f"Could also be: {', '.join(others)} (the model's own 90 % set)."


REASONS = {
    "tissue": "There is hardly any tissue in it.",
    "blur": "It is not sharp at this scale.",
    "colour": "It is not stained like the H&E this model knows.",
    "distance": "It is not like the slides this model knows.",
    "size": "It is not a field this model can read.",
    "scale": "Its scale is in doubt.",
}
"""What a colleague would say first, by the check that failed; the first of them that did is said."""
UNDECIDED = "The classes can't be told apart in it."


def first_reason(answer: Answer) -> str:
    """Why there is no answer, or none to rely on, in a few words."""
    failed = {check.name for check in answer.checks if not check.passed}
    return next((words for name, words in REASONS.items() if name in failed), UNDECIDED)


def truth_sentence(labels: LabelSpace, index: int, true_index: int | None) -> list[str]:
    """Whether the answer is right, where somebody knows."""
    if true_index is None:
        return []
    if true_index == index:
        return ["The answer is right: that is the true label."]
    return [f"The answer is wrong: the true label is {class_in_words(labels, true_index)}."]


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


def scale_sentence(image: TissueImage) -> str:
    """How large a pixel is, and who says so."""
    if image.microns_per_pixel is None:
        return f"{SCALE_UNKNOWN[:1].upper()}{SCALE_UNKNOWN[1:]}."
    return f"{image.microns_per_pixel:.3g} µm per pixel; source: {image.scale_source}."


def candidates_sentence(analysis: Analysis) -> str:
    """The candidate labels of the picture, and who named them."""
    if analysis.candidates is None:
        return "No candidate labels: nobody has ticked any for this picture."
    names = ", ".join(map(analysis.labels.title, analysis.candidate_names))
    return f"Candidate labels {CANDIDATES_FROM[analysis.candidates.source]}: {names}."


def vote_sentence(names: tuple[str, ...], shares: np.ndarray) -> str:
    """How much of the area each class wins."""
    order = [index for index in np.argsort(-shares) if shares[index] >= 0.005]
    listed = ", ".join(f"{names[index]} {shares[index]:.0%}" for index in order)
    return f"Each patch in the colour of the class it would choose alone: {listed} of the area."


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


def lens_sentence(inside: str, whole: str, patches: int) -> str:
    """The answer of the lens and that of the whole picture, each named."""
    counted = "1 patch" if patches == 1 else f"{patches} patches"
    return f"**In the lens** ({counted}): **{inside}**. **The whole picture**: {whole}."


def answer_in_brief(answer: Answer) -> str:
    """Label and probability; where there is no answer, that, and what it would be."""
    words = class_in_words(answer.label_space, answer.label_space.index(answer.label))
    said = f"{words} · {sureness(answer.probability)}"
    return f"{answer.headline[:1].lower()}{answer.headline[1:]} (else {said})" if answer.declined else said


CHANCE = 0.1
"""An AUROC this near to a half is no better than chance."""


def found_sentence(auroc: float | None, title: str) -> str:
    """Whether a map finds what a person outlined, in words."""
    if auroc is None:
        return ""
    if auroc >= 0.5 + CHANCE:
        return f"“{title}” finds your region (AUROC {auroc:.2f})."
    if auroc <= 0.5 - CHANCE:
        return f"“{title}” points away from your region (AUROC {auroc:.2f})."
    return f"“{title}” finds your region no better than chance (AUROC {auroc:.2f})."


def region_sentence(numbers: RegionNumbers, title: str) -> str:
    """What a drawn region holds."""
    times = f", {numbers.attention / numbers.area:.1f} times its share" if numbers.area > 0 else ""
    found = f" {found_sentence(numbers.auroc, title)}".rstrip()
    return (
        f"**{numbers.attention:.0%} of the attention** lies in the region, which is {numbers.area:.0%} of the area"
        f"{times}.{found}"
    )


def kept_sentence(kept: KeptAlone, card: Card, kind: str) -> str:
    """Whether the map bears its test on this picture, with an icon and a word, and how such maps did elsewhere."""
    word = map_verdict(kept)
    found = measured_verdict(card, kind)
    most = "is enough" if kept.most >= kept.whole - ENOUGH else "is not enough"
    least = "is worth less" if kept.least < kept.whole - LESS else "is enough, too"
    least = "is not" if _is_not_enough(kept.least, kept.whole) else least
    return (
        f":material/{VERDICT_ICONS[word]}: **{word[:1].upper()}{word[1:]}.** The quarter of the picture that the map "
        f"points at {most} for the answer: {sureness(kept.most)}; the quarter it points away from {least}: "
        f"{sureness(kept.least)}.{f' {found}' if found else ''}"
    )


def map_verdict(kept: KeptAlone) -> str:
    """In a word: what the map points at carries the answer and the rest does not, or the reverse, or neither."""
    if kept.most >= kept.whole - ENOUGH and _is_not_enough(kept.least, kept.whole):
        return HOLDS
    return WEAK if kept.most >= kept.least else DOES_NOT_HOLD


def _is_not_enough(least: float, whole: float) -> bool:
    return least < min(whole - LESS, NOT_ENOUGH)


def measured_verdict(card: Card, kind: str) -> str | None:
    """How the map that was measured best did on many pictures; None for other maps and models without a measurement."""
    first = card.first_map
    if first is None or kind != first.name:
        return None
    did = "find glands better than" if first.auroc > first.darkness else "find glands no better than"
    return f"Over {first.n:,} other pictures such maps {did} looking for dark places does."


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
