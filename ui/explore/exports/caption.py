"""What a file that is taken away says about its map: the same words in the PNG and in the report."""

from dataclasses import dataclass

from elimipl.answer import WITHOUT_CHECKS
from ui.explore import sentences, texts
from ui.explore.analysis import Analysis
from ui.explore.exports.provenance import shown_answer
from ui.explore.maps import map_scores, panels_of, region_mask, vote_shares
from ui.explore.region import region_numbers
from ui.explore.view_state import OF_A_CLASS, TWO_CLASSES, ViewState
from ui.figures.evenness import is_even
from ui.figures.map_colours import class_colours
from ui.figures.map_layer import Layer

MOST_NUMBERED = 12  # removed patches that a sentence names


@dataclass(frozen=True)
class LegendEntry:
    """One class of the vote: its colour and its share of the area."""

    name: str
    colour: str
    share: float


def colour_bar(analysis: Analysis, view: ViewState) -> Layer | None:
    """The layer whose scale stands beside the picture; None where a legend does, or nothing is painted."""
    layers = [layer for panel in panels_of(analysis, view) for layer in panel.layers]
    return next((layer for layer in layers if layer.ticks and layer.painted), None)


def legend(analysis: Analysis, view: ViewState) -> tuple[LegendEntry, ...]:
    """The classes of the vote, largest share first; none for the other maps."""
    if view.kind != "vote" or view.hidden:
        return ()
    shares = vote_shares(analysis.bag, analysis.every_score("single"), analysis.labels)
    texts_of = map(analysis.labels.legend_text, range(len(analysis.labels)))
    entries = map(LegendEntry, texts_of, class_colours(analysis.labels), shares.tolist())
    return tuple(sorted((entry for entry in entries if entry.share > 0), key=lambda entry: -entry.share))


def headline(analysis: Analysis, view: ViewState) -> str:
    """The answer as the page gives it: none where a check failed or nothing was decided."""
    answer = shown_answer(analysis, view)
    if answer.declined:
        return answer.headline
    return f"{sentences.in_words(analysis.labels, analysis.labels.index(answer.label))}, {answer.probability:.0%}"


def map_sentence(analysis: Analysis, view: ViewState) -> str:
    """Which map is painted, and how."""
    if view.hidden:
        return texts.NOT_PAINTED
    title = texts.SOURCE_TITLES[view.kind]
    if view.panels == TWO_CLASSES:
        names = [panel.title for panel in panels_of(analysis, view)]
        title += f" ({texts.map_title(view.kind, texts.left_and_right(*names))})"
    elif view.kind in OF_A_CLASS:
        title += f" ({texts.map_title(view.kind, analysis.labels.titles[view.class_index])})"
    below = f", what lies below {view.threshold:.0%} of the scale is left clear" if view.threshold else ""
    return f"Map: {title}, opacity {view.opacity:.0%}{below}."


def removed_sentence(analysis: Analysis, view: ViewState) -> str:
    """Which patches were taken out, and what the answer was before; nothing where all stayed."""
    if not view.removed:
        return ""
    gone = sorted(set(analysis.blocks[list(view.removed)].tolist()))
    numbers = ", ".join(str(number) for number in gone[:MOST_NUMBERED])
    more = "" if len(gone) <= MOST_NUMBERED else f" and {len(gone) - MOST_NUMBERED} more"
    what, where, seen = (
        ("cells", "in the blocks ", f" {texts.NEIGHBOURS_SAW}") if analysis.in_blocks else ("patches", "", "")
    )
    whole = analysis.prediction
    return (
        f"{len(view.removed)} of {len(analysis.bag)} {what} were removed (crossed out): {where}{numbers}{more}. "
        f"With all of them the answer is {whole.title}, {whole.probability:.0%}.{seen}"
    )


def region_sentence(analysis: Analysis, view: ViewState) -> str:
    """What the region that was drawn holds; nothing where there is none."""
    if not view.region:
        return ""
    scores, mask = map_scores(analysis, view), region_mask(analysis, view)
    numbers = region_numbers(analysis.bag, analysis.prediction.attention, scores, mask)
    said = sentences.region_sentence(numbers, texts.SOURCE_TITLES[view.kind]).replace("**", "")
    return f"Outlined: a region drawn by hand. {said}"


def evenness_sentence(analysis: Analysis, view: ViewState) -> str:
    """How the attention is spread; that nothing is painted is said of its own map only."""
    attention = analysis.prediction.attention
    return texts.evenness(attention, is_even(attention), painted=view.kind == "attention")


def answer_sentences(analysis: Analysis, view: ViewState) -> tuple[str, ...]:
    """What else is possible, how reliable that is, and what speaks against the answer or which checks it passed."""
    answer, labels = shown_answer(analysis, view), analysis.labels
    index = labels.index(answer.label)
    words = sentences.in_words(labels, index)
    failed = tuple(check.reason for check in answer.checks if not check.passed)
    if answer.declined:
        return (*failed, f"{WITHOUT_CHECKS} {words}, {answer.probability:.0%}.")
    return (*sentences.certainty(answer), texts.scope_sentence(answer.verdict))


def all_sentences(analysis: Analysis, view: ViewState) -> tuple[str, ...]:
    """Everything there is to say below a picture, in order."""
    said = (
        map_sentence(analysis, view),
        evenness_sentence(analysis, view),
        region_sentence(analysis, view),
        removed_sentence(analysis, view),
        sentences.candidates_sentence(analysis),
        *answer_sentences(analysis, view),
        sentences.scale_sentence(analysis.image),
    )
    return tuple(sentence for sentence in said if sentence)
