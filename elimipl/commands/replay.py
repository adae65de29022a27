"""Get a result again: the JSON file that Explore gave, and the picture it is about. Says which numbers differ."""

from __future__ import annotations

import argparse
from pathlib import Path

from bag_generators import TissueImage, generate, load
from bag_generators.base.errors import InputError
from elimipl.answers.explain import without_instances
from elimipl.answers.predictor import Predictor
from elimipl.result_file import TOLERANCE, Numbers, Result, SavedPicture, differences

MOST_SHOWN = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `replay` asks for."""
    parser.add_argument("result", type=Path, metavar="RESULT", help="the JSON file taken away from Explore")
    parser.add_argument("picture", metavar="PICTURE", help="the picture the result is about, the same file")
    parser.add_argument("--folder", type=Path, help="folder of models (default: the models that ship)")
    parser.add_argument(
        "--tolerance", type=float, default=TOLERANCE, help="largest difference that counts as the same (%(default)g)"
    )


def run(args: argparse.Namespace) -> int:
    """Exit code 0 where all numbers are the same, 1 where some differ: a line for each of them."""
    recorded = Result.read(args.result)
    predictor = _model(recorded, args.folder)
    bag = generate(recorded.bag.generator, _field(recorded.picture, load(args.picture)), **recorded.bag.params)
    pairs = [(recorded.prediction, Numbers.of(predictor.predict(bag)))]
    if recorded.without_removed is not None:
        found = without_instances(predictor, bag, recorded.bag.removed)
        pairs.append((recorded.without_removed, Numbers.of(found)))
    lines = [line for before, now in pairs for line in differences(before, now, args.tolerance)]
    for line in lines[:MOST_SHOWN]:
        print(line)
    if lines:
        print(f"{len(lines)} values differ from the file.")
        return 1
    shown = pairs[-1][1]
    count = sum(len(list(before.by_name())) for before, _ in pairs)
    title = predictor.card.label_space.title(shown.label)
    print(f"The same result: {title}, {shown.probabilities[shown.label]:.1%}; {count} numbers compared.")
    return 0


def _model(recorded: Result, folder: Path | None) -> Predictor:
    predictor = Predictor.load(recorded.model.id, folder)
    if predictor.card.sha256 != recorded.model.sha256:
        raise InputError(
            f"The weights of “{predictor.card.id}” have changed: sha256 {predictor.card.sha256[:12]}… here, the result "
            f"is of {recorded.model.sha256[:12]}….",
            "Give the folder of those weights with --folder, or make the result again.",
        )
    return predictor


def _field(recorded: SavedPicture, image: TissueImage) -> TissueImage:
    """The part of the picture that the model saw, at the scale that was believed then."""
    if image.sha256 != recorded.sha256:
        raise InputError(
            f"This is not the picture of the result: its sha256 is {image.sha256[:12]}…, the result names "
            f"{recorded.sha256[:12]}….",
            "Give the file that the result was made with.",
        )
    field = recorded.field
    if (field.x, field.y, field.width, field.height) != (0, 0, image.width, image.height):
        image = image.tile(field.x, field.y, field.width)
    return image.at_scale(recorded.microns_per_pixel, recorded.scale_source)
