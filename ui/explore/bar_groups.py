"""What the bars are coloured by: candidate labels that somebody named, or else the model's own 90 % set."""

import numpy as np

from elimipl.answer import Answer
from ui.explore import texts
from ui.explore.analysis import Analysis
from ui.figures.bars import BarGroup
from ui.frame.palette import Palette


def bar_groups(analysis: Analysis, answer: Answer, palette: Palette) -> tuple[BarGroup, ...]:
    """The groups of labels with what each is called and its colour; one group where there is nothing to tell apart."""
    if analysis.candidates is not None:
        members = analysis.candidates.members
        titles, colours = texts.CANDIDATE_GROUPS[analysis.candidates.source], (palette.candidate, palette.non_candidate)
    elif answer.label_set is not None:
        members = np.isin(np.array(analysis.labels.names), answer.label_set)
        titles, colours = texts.OWN_SET_GROUPS, (palette.in_set, palette.outside_set)
    else:
        return (BarGroup(texts.ANY_LABEL, np.ones(len(analysis.labels), dtype=bool), palette.outside_set),)
    return tuple(map(BarGroup, titles, (members, ~members), colours))
