"""The votes and what became of them: candidate sets as Figure 1, who is taken for whom, and the files to download."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from elimipl.classroom.store.records import Ballot, ClassSession
from elimipl.classroom.tally import Tally, tally
from elimipl.csv_cells import defused
from elimipl_app.charts.drawing import plain
from elimipl_app.charts.figure_one import label_matrices
from elimipl_app.classroom import texts
from elimipl_app.classroom.exports import class_bag_file, class_json, votes_csv
from elimipl_app.classroom.figures import confusion_map, vote_bars
from elimipl_app.classroom.kept import class_store
from elimipl_app.shell import charts
from elimipl_app.shell.download import download_button
from elimipl_app.shell.markdown import escape
from elimipl_app.shell.palette import current_palette


def show_votes(session: ClassSession, ballots: Sequence[Ballot], key: str) -> None:
    """The votes on one picture; the candidate set once voting is over, the true label once it is revealed."""
    numbers = [picture.number for picture in session.pictures]
    chosen = st.pills("Picture", numbers, default=numbers[0], required=True, wrap=True, key=f"class_seen_{key}")
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


def show_sets(session: ClassSession, counted: Tally) -> None:
    """Figure 1 of the pictures that somebody answered: as a machine sees it, or with the truth once it is revealed."""
    st.subheader("From votes to candidate sets", anchor=False)
    st.markdown(texts.RULE)
    answered = np.flatnonzero(counted.answers)
    truths = np.array([-1 if truth is None else truth for truth in session.shown_truths()])
    held = np.array([at for at in answered if truths[at] >= 0 and counted.candidates[at, truths[at]]], dtype=int)
    missed = [session.pictures[at].number for at in answered if truths[at] >= 0 and at not in held]
    shown = held if len(held) else answered
    if not len(shown):
        st.info("Nobody has answered a picture yet.", icon=":material/hourglass_empty:")
        return
    charts.show(
        label_matrices(
            np.maximum(truths[shown], 0),
            counted.candidates[shown],
            [plain(code) for code in session.label_space.codes],
            [f"picture {session.pictures[at].number}" for at in shown],
            current_palette(),
            as_machine=not len(held),
        ),
        "class-figure1",
        f"Candidate sets of {len(shown)} pictures, {counted.candidates[shown].sum() / len(shown):.2f} labels each.",
    )
    labels = session.label_space
    if labels.codes != labels.titles:
        st.caption(", ".join(escape(labels.legend_text(index)) for index in range(len(labels))))
    st.caption(texts.sets_caption(float(counted.candidates[answered].sum(axis=1).mean()), len(held), missed))


def show_confusions(session: ClassSession, counted: Tally) -> None:
    """Which labels the class finds possible where another one is true, and how far it agrees."""
    st.subheader("Who is taken for whom", anchor=False)
    names = session.label_space.titles
    truths = session.shown_truths()
    shares = counted.taken_for(truths)
    left, right = st.columns([1.5, 1], gap="large")
    with right:
        st.metric(
            "Agreement (Krippendorff's α)",
            "–" if counted.alpha is None else f"{counted.alpha:.2f}",
            help="Of the most likely labels: 1 where all agree, 0 where they agree as often as by chance.",
        )
        st.markdown(texts.agreement(counted.alpha))
        for true, other, share in counted.confusions(truths):
            said = f"**{share:.0%}** of the answers to {escape(names[true])} find **{escape(names[other])}** possible."
            st.markdown(said)
    with left:
        if np.isnan(shares).all():
            st.info(
                "No true label is known, so nobody can say what was taken for what."
                if session.revealed
                else "Shown with the true labels, once they are revealed.",
                icon=":material/help:",
            )
        else:
            labels = session.label_space
            legend = [labels.legend_text(index) for index in range(len(labels))]
            figure = confusion_map(shares, legend, current_palette(), labels.codes)
            charts.show(
                figure,
                "class-confusion",
                "Share of the answers that find each label possible, a row for every true label.",
            )
    with st.expander("Picture by picture"):
        st.dataframe(pd.DataFrame(picture_rows(session, counted), columns=texts.PICTURE_COLUMNS), hide_index=True)


def picture_rows(session: ClassSession, counted: Tally) -> Sequence[tuple[object, ...]]:
    """Every picture: what most find most likely, what the others say, the candidate set, the truth once revealed."""
    names = list(map(defused, session.label_space.titles))  # a table has a button of its own that saves it as CSV
    truths, rows = session.shown_truths(), []
    for at, picture in enumerate(session.pictures):
        first = counted.first[at]
        order = [int(label) for label in np.argsort(-first, kind="stable") if first[label]]
        rows.append(
            (
                picture.number,
                int(counted.answers[at]),
                names[order[0]] if order else "",
                int(first[order[0]]) if order else 0,
                ", ".join(f"{names[label]} {first[label]}" for label in order[1:]),
                ", ".join(name for name, member in zip(names, counted.candidates[at], strict=True) if member),
                "" if (truth := truths[at]) is None else names[truth],
            )
        )
    return rows


def show_files(session: ClassSession, ballots: Sequence[Ballot], counted: Tally, generator: str) -> None:
    """The answers as CSV, everything as JSON, the bags as a bag file."""
    st.subheader("Take along", anchor=False)
    facts: dict[str, str] = {}
    with st.container(horizontal=True):
        download_button(
            "Votes (CSV)", lambda: votes_csv(session, ballots), "class-votes.csv", "text/csv", facts, key="class-csv"
        )
        download_button(
            "Everything (JSON)",
            lambda: class_json(session, ballots, counted),
            "class.json",
            "application/json",
            facts,
            key="class-json",
        )
        if counted.answers.any():
            store = class_store()
            download_button(
                "Bags with candidate sets",
                lambda: class_bag_file(store, session, counted, generator),
                f"class-{generator}.safetensors",
                "application/octet-stream",
                facts,
                key="class-bags",
            )
    st.caption(texts.FILES_CAPTION)
