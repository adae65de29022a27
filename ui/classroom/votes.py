"""One picture beside what was said of it, with a choice of pictures; the same for teacher and students."""

from collections.abc import Sequence

import streamlit as st

from ui.classroom import texts
from ui.classroom.figures.bars import vote_bars
from ui.classroom.kept import class_store
from ui.classroom.store.records import Ballot, ClassSession
from ui.classroom.tally import tally
from ui.frame import charts
from ui.frame.markdown import escape
from ui.frame.palette import current_palette


def show_votes(session: ClassSession, ballots: Sequence[Ballot], key: str) -> None:
    """The votes on one picture; the candidate set once voting is over, the true label once it is revealed."""
    numbers = [picture.number for picture in session.pictures]
    chosen = st.pills(
        texts.PICTURE_LABEL, numbers, default=numbers[0], required=True, wrap=True, key=f"class_seen_{key}"
    )
    at = numbers.index(chosen) if chosen in numbers else 0
    counted = tally(ballots, len(numbers), len(session.label_space))
    truth = session.shown_truths()[at]
    left, right = st.columns([1, 1.7], gap="medium")
    left.image(class_store().picture(session.id, numbers[at]), width="stretch", alt=texts.picture_alt(numbers[at]))
    with right:
        charts.show(
            vote_bars(
                counted.named[at].tolist(),
                counted.first[at].tolist(),
                int(counted.answers[at]),
                session.label_space.titles,
                current_palette(),
                -1 if truth is None else truth,
            ),
            f"class-votes-{key}",
            texts.votes_alt(numbers[at], counted.named[at].tolist(), int(counted.answers[at]), session.label_space),
        )
        if session.opened:
            names = session.label_space.titles
            members = [escape(name) for name, member in zip(names, counted.candidates[at], strict=True) if member]
            true_label = None if truth is None else escape(names[truth])
            st.markdown(texts.candidate_set(members, true_label, session.revealed))
