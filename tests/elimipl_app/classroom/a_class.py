"""A small class to test with."""

from pathlib import Path

import numpy as np

from elimipl.candidates.labels import TISSUE7
from elimipl.classroom.outcome import ClassOutcome, Fit, Learned
from elimipl.classroom.pictures import as_png, drawn
from elimipl.classroom.store.classes import ClassStore
from elimipl.classroom.store.records import ClassSession, NewPicture
from elimipl.classroom.tally import tally
from elimipl_app.classroom.worker import ClassTraining, begin

TEACHER, HERE = "the teacher's browser", "192.168.1.7"
OUTCOME = ClassOutcome(
    generator="row", pictures=(1,), copies=2, held_out_bags=9, held_out_source="drawings", epochs=1, seeds=(0,),
    fits=(Fit(method="elimipl", arm="class", held_out=(0.5,), disambiguation=(1.0,)),),
    learned=(Learned(picture=1, weights=(1.0, *[0.0] * 6)),), seconds=0.0,
)  # fmt: skip


def small_pictures(count: int = 3) -> list[NewPicture]:
    """Drawings of the first tissues in order."""
    return [drawn(TISSUE7.names[number % 7], number) for number in range(count)]


def flat_pictures(count: int) -> list[NewPicture]:
    """Pictures that cost nothing to make."""
    png = as_png(np.full((8, 8, 3), 200, dtype=np.uint8))
    return [NewPicture(png, f"flat {number}", "tissue", number % 7) for number in range(count)]


def opened(path: Path, pictures: int = 3, clock=None) -> tuple[ClassStore, ClassSession, str]:
    """A store with one class, and the key to come back."""
    store = ClassStore(path) if clock is None else ClassStore(path, clock)
    _, key = store.open_session(TEACHER, TISSUE7, flat_pictures(pictures), HERE)
    session = store.session_of(TEACHER)
    assert session is not None
    return store, session, key


def begun(path: Path, tries: int = 1) -> tuple[ClassStore, ClassTraining]:
    """A server with that file, in which the teacher of the class trains."""
    store = ClassStore(path)
    session = store.session_of(TEACHER)
    assert session is not None
    counted = tally(store.votes(session.id, TEACHER), len(session.pictures), len(session.label_space))
    return store, begin(store, session, TEACHER, counted, "row", tries)
