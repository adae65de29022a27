"""Classify pictures, or the bags of bag files, in the order given: label, what else is possible, whether to trust it.

A bag file gives a line for each of its bags. It holds no pictures, so what is checked of a picture is not checked.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from bag_generators import Bag
from bag_generators.base import shards
from bag_generators.base.errors import InputError, printable
from bag_generators.base.formats import formats_in_words
from bag_generators.parallel import Wanted, generate_with_notes
from bag_generators.scale import ScaleDecision, check_scale
from elimipl.answers.answer import answer
from elimipl.answers.predictor import FeatureBag, Instances, Prediction, Predictor
from elimipl.commands import arguments
from elimipl.datasets.dataset import BagDataset
from elimipl.datasets.matlab import load_bags

_BAG_FILES = (".safetensors", shards.SUFFIX, ".mat")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `predict` asks for."""
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help=f"pictures ({formats_in_words()}) or bags (.safetensors, …)"
    )
    arguments.add_model(parser, "the pictures")
    parser.add_argument("--text", action="store_true", help="print sentences instead of one JSON line per bag")
    arguments.add_quiet(parser)


class _Predicted(NamedTuple):
    bag: Instances
    prediction: Prediction
    quality: Mapping[str, float] = {}
    """The pixel measures of the picture, where there is one."""
    notes: tuple[str, ...] = ()
    name: str = ""
    """Of a bag that is one of several in its file."""
    scale: ScaleDecision | None = None
    """The scale its picture was read at."""


def run(args: argparse.Namespace) -> int:
    """Predict each file; one that can't be used gives a line with its error, and the exit code is 1."""
    predictor = Predictor.load(args.model, args.folder)
    failed = False
    with arguments.progress_bar(args, len(args.files), "predict", "file") as bar:
        for are_bags, files in groupby(args.files, lambda file: Path(file).suffix.lower() in _BAG_FILES):
            read = _of_bag_files if are_bags else _of_pictures
            for file, found in read(predictor, list(files), args):
                failed |= isinstance(found, InputError)
                bar.update()
                name = str(file).encode("utf-8", "replace").decode()
                for one in [found] if isinstance(found, InputError) else found:
                    _print(predictor, name, one, args.text)
    return 1 if failed else 0


def _of_pictures(
    predictor: Predictor, files: list[str], args: argparse.Namespace
) -> Iterator[tuple[str, list[_Predicted] | InputError]]:
    card = predictor.card
    if args.microns_per_pixel is not None:
        check_scale(args.microns_per_pixel)
    wanted = Wanted(quality=True, scale=True, microns_per_pixel=args.microns_per_pixel)
    outcomes = generate_with_notes(card.generator, files, args.workers, wanted=wanted, **card.generator_params)
    for file, (bag, notes, quality, scale) in outcomes:
        if isinstance(bag, Bag) and quality is not None:
            yield str(file), [_Predicted(bag, predictor.predict(bag), quality.numbers(), notes, scale=scale)]
        elif isinstance(bag, InputError):
            yield str(file), bag


def _of_bag_files(
    predictor: Predictor, files: list[str], args: argparse.Namespace
) -> Iterator[tuple[str, list[_Predicted] | InputError]]:
    for file in files:
        try:
            bags = load_bags(file) if Path(file).suffix.lower() == ".mat" else BagDataset.load(file)
            predictions = predictor.predict_dataset(bags)
        except InputError as error:
            yield file, error
            continue
        yield (
            file,
            [
                _Predicted(FeatureBag(bags.bag(i), bags.generator, bags.params), prediction, name=bags.names[i])
                for i, prediction in enumerate(predictions)
            ],
        )


def _print(predictor: Predictor, file: str, found: _Predicted | InputError, text: bool) -> None:
    """What is said about one picture or bag: sentences for a person, or a JSON line for a program."""
    name = file
    sentences: tuple[str, ...]
    line: dict[str, Any]
    if isinstance(found, InputError):
        sentences, line = (str(found),), {"error": str(found)}
    else:
        given = answer(found.quality, predictor, found.bag, found.prediction).read_at(found.scale)
        name = f"{file}: {found.name}" if found.name else file
        scale = () if found.scale is None else (found.scale.sentence,)
        sentences = (*given.sentences(), *scale, *found.notes)
        labels = found.prediction.label_space.names
        line = {
            **({"bag": found.name} if found.name else {}),
            **given.to_dict(),
            "probabilities": dict(zip(labels, found.prediction.probabilities.tolist(), strict=True)),
            "attention": found.prediction.attention.tolist(),
            "notes": list(found.notes),
        }
    if text:
        print("\n  ".join([printable(name), *sentences]), flush=True)
    else:
        spelled_out = (sys.stdout.encoding or "").lower() not in ("utf-8", "utf8")  # as a C locale needs it
        print(json.dumps({"file": file, "model": predictor.card.id, **line}, ensure_ascii=spelled_out), flush=True)
