"""Many pictures at once: one answer or one reason for each, never a stop."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bag_generators import InputError, TissueImage, generate
from bag_generators.errors import printable
from bag_generators.scale import ScaleDecision, decide_scale
from bag_generators.tissue.quality import measure_for
from bag_generators.uploads import read_upload
from elimipl.answer import ACCEPTANCE, Answer, answer
from elimipl.data.pictures import PHANTOMS
from elimipl.predictor import Prediction, Predictor
from elimipl.scope import DRAWINGS_ONLY
from ui.batch.names import label_in
from ui.figures.tissue import display_copy
from ui.frame.log import model_name, picture_name, timed
from ui.frame.texts import NOT_CHECKED

SHOWN_NAME = 80
THUMBNAIL = 64  # px


@dataclass(frozen=True)
class BatchRow:
    """What became of one file; where it was refused, only the reason is there."""

    file: str
    sha256: str = ""
    model: str = ""
    true_label: str = ""
    """As the names of the file and its folders say; empty where they don't."""
    label: str = ""
    probability: float | None = None
    label_set: tuple[str, ...] | None = None
    """The labels that are possible; None where that was not calibrated."""
    declined: bool | None = None
    """Whether there is no answer: a check of the picture failed, or no label or all of them are possible."""
    headline: str = ""
    """The answer in a few words, also where there is none."""
    trusted: bool | None = None
    chance: float | None = None
    """How often answers like this one are right; None where the model's card has no numbers for it."""
    in_scope: bool | None = None
    """None for a file that was refused, and where the model came without limits to check by."""
    probabilities: dict[str, float] = field(default_factory=dict)
    microns_per_pixel: float | None = None
    """The scale that the picture was read at."""
    scale_origin: str = ""
    """“file”, “by hand”, “estimated” or “assumed”."""
    notes: str = ""
    refused: str = ""
    thumbnail: str = ""
    """A small picture as a data URI."""


def classify_files(
    files: Sequence[tuple[str, bytes]],
    predictor: Predictor,
    progress: Callable[[int], object],
    microns_per_pixel: float | None = None,
) -> list[BatchRow]:
    """One row per (name, bytes), in order; a file that can't be used becomes a row with the reason.

    `microns_per_pixel` is the scale of all pictures where a person gives it.
    """
    rows = []
    for number, (name, data) in enumerate(files, start=1):
        rows.append(_classify(name, data, predictor, microns_per_pixel))
        progress(number)
    return rows


def _classify(name: str, data: bytes, predictor: Predictor, microns_per_pixel: float | None) -> BatchRow:
    """The same answer as `elimipl predict` gives: the whole picture is read."""
    card = predictor.card
    sha256 = hashlib.sha256(data).hexdigest()
    try:
        with timed("predict", **picture_name(sha256), **model_name(card), bytes=len(data)):
            image = read_upload(data, sha256)
            scale = decide_scale(image, microns_per_pixel)
            image = scale.apply_to(image)
            bag = generate(card.generator, image, **card.generator_params)
            prediction = predictor.predict(bag)
        given = answer(measure_for(card.generator, image).numbers(), predictor, bag, prediction).read_at(scale)
    except InputError as error:
        return BatchRow(shown_name(name), sha256, card.id, refused=str(error))
    return _row(name, image, scale, prediction, given)


def _row(name: str, image: TissueImage, scale: ScaleDecision, prediction: Prediction, given: Answer) -> BatchRow:
    names = prediction.label_space.names
    said = () if scale.origin == "file" or scale.doubted else (scale.sentence,)
    notes = [*image.notes, *_doubts(given), *said]
    return BatchRow(
        file=shown_name(name),
        sha256=image.sha256,
        model=prediction.model_id,
        true_label=label_in(name, names),
        label=given.label,
        probability=given.probability,
        label_set=given.label_set,
        declined=given.declined,
        headline=given.headline,
        trusted=given.trusted,
        chance=given.verdict.chance,
        in_scope=given.verdict.in_scope,
        probabilities=dict(zip(names, prediction.probabilities.tolist(), strict=True)),
        microns_per_pixel=scale.microns_per_pixel,
        scale_origin=scale.origin,
        notes=" ".join(notes),
        thumbnail=display_copy(image, THUMBNAIL),
    )


def _doubts(given: Answer) -> tuple[str, ...]:
    """What speaks against the answer, and how often answers like it are right."""
    failed = tuple(check.reason for check in given.checks if not check.passed or check.name == ACCEPTANCE)
    if given.verdict.in_scope is None:
        return (*failed, NOT_CHECKED)
    return failed or ((DRAWINGS_ONLY,) if given.verdict.trained_on == PHANTOMS else ())


def shown_name(name: str) -> str:
    """A file name fit to be shown: no control or direction marks, not longer than a line."""
    plain = printable(name)
    return plain if len(plain) <= SHOWN_NAME else f"{plain[:50]}…{plain[-29:]}"
