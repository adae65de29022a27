"""How a model lies on disk: `<id>.safetensors` (weights and feature scaling) beside `<id>.json` (its card).

safetensors holds numbers only, so opening a model somebody sent can't run code. The card carries the sha256
of the weights: a file that is cut short, swapped or not what it says it is is refused before it is used.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load

from bag_generators.base.assets import asset_sha256, assets
from bag_generators.base.errors import InputError
from bag_generators.base.storage import write_together
from elimipl.cards.card import Card

SHIPPED = assets("models")
DEFAULT = "colon-deep-elimipl"
"""The model that answers where nobody names one."""
SUCCESSORS = {"lesion5": "colon"}
"""Label spaces whose models no longer ship, and those whose models took their place: lesion5-X-Y became colon-X-Y."""
_RESTORE = "Restore it with “git checkout -- assets/models”, or train the model again."
# What files of torch.save (a zip of pickles) and of plain pickle begin with.
_PICKLES = (b"PK\x03\x04", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")


def weights_path(card: Card, folder: Path | None = None) -> Path:
    """Where the weights of a card lie; its id is safe in a path."""
    return (folder or SHIPPED) / f"{card.id}.safetensors"


def card_paths(folder: Path | None = None) -> dict[str, Path]:
    """The cards of a folder (default: the models that ship) by model id, in order of their ids."""
    models = folder or SHIPPED
    if folder is None and not models.is_dir():
        raise InputError("The folder of the models that ship, assets/models, is missing.", _RESTORE)
    if not models.is_dir():
        raise InputError(f"There is no folder of models “{models}”.", "Check the name.")
    return {path.stem: path for path in sorted(models.glob("*.json")) if path.is_file()}


def find_card(model_id: str, folder: Path | None = None) -> Path:
    """The card of a model. The id is looked up among the files there are, never made into a path."""
    paths = card_paths(folder)
    if model_id not in paths:
        space, _, rest = model_id.partition("-")
        if (successor := f"{SUCCESSORS.get(space)}-{rest}") in paths:
            raise InputError(
                f"The model “{model_id}” no longer ships; its successor is “{successor}”.", "Choose that one."
            )
        raise InputError(
            f"There is no model called “{model_id}”.",
            f"Choose one of: {', '.join(paths)}." if paths else f"The folder “{folder or SHIPPED}” holds none.",
        )
    return paths[model_id]


def list_models(folder: Path | None = None) -> tuple[Card, ...]:
    """The cards of all models in `folder` (default: the ones that ship), ordered by id."""
    return tuple(Card.read(path) for path in card_paths(folder).values())


def usable_models(folder: Path | None = None) -> tuple[tuple[Card, ...], tuple[InputError, ...]]:
    """The cards that can be read, and what is wrong with each of the others: one bad file spoils no good one."""
    cards, problems = [], []
    for path in card_paths(folder).values():
        try:
            cards.append(Card.read(path))
        except InputError as error:
            problems.append(error)
    return tuple(cards), tuple(problems)


def sha256_of(weights: bytes) -> str:
    """What a card knows its weights by."""
    return hashlib.sha256(weights).hexdigest()


def model_files(card: Card, weights: bytes) -> dict[str, bytes]:
    """The two files of a model by their names, weights first."""
    text = json.dumps(card.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    return {f"{card.id}.safetensors": weights, f"{card.id}.json": text.encode()}


def write_model(card: Card, weights: bytes, folder: Path) -> Path:
    """Write weights and card (in this order: a card never lies there without its weights); the card's path."""
    write_together({folder / name: content for name, content in model_files(card, weights).items()}, "The model")
    return folder / f"{card.id}.json"


def check_generator_files(card: Card) -> None:
    """Refuse a model whose generator would compute with other files than those it has learned from."""
    for name, expected in card.generator_files.items():
        if asset_sha256(name) != expected:
            file = name.rpartition("/")[2]
            raise InputError(
                f"The model “{card.id}” has learned from the numbers of another “{file}” than the one that is here.",
                f"Restore assets/{name}, or choose another model.",
            )


def read_weights(card: Card, path: Path) -> dict[str, np.ndarray]:
    """The arrays of a weights file that is exactly the one its card describes."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"The weights “{path.name}” of the model “{card.id}” are missing.", _RESTORE) from None
    except OSError as error:
        raise InputError(
            f"The weights “{path.name}” can't be read ({error.strerror}).", "Check the rights of the file."
        ) from None
    found = sha256_of(content)
    if found != card.sha256:
        raise InputError(
            f"{_diagnosis(content, path.name)}; the card “{card.id}.json” expects sha256 {card.sha256[:12]}…, "
            f"the file has {found[:12]}….",
            _RESTORE,
        )
    try:
        return dict(load(content))
    except (SafetensorError, KeyError, ValueError, TypeError):
        raise InputError(f"“{path.name}” is not a safetensors file of numbers.", _RESTORE) from None


def _diagnosis(content: bytes, name: str) -> str:
    """What is the matter with a weights file that has the wrong sum, as the start of a sentence."""
    if content.startswith(_PICKLES):
        return f"“{name}” is a pickle in disguise, which could run code, so it was not opened"
    header = int.from_bytes(content[:8], "little")
    if len(content) < 8 or header > len(content):
        return f"“{name}” is cut short or not a safetensors file ({len(content):,} bytes)"
    try:
        entries = json.loads(content[8 : 8 + header])
        ends = [entry["data_offsets"][1] for key, entry in entries.items() if key != "__metadata__"]
        missing = 8 + header + max(ends) - len(content)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return f"“{name}” is not a safetensors file"
    if missing > 0:
        return f"“{name}” is cut short ({missing:,} bytes are missing)"
    return f"“{name}” holds other weights than the ones this model was saved with (swapped or changed)"
