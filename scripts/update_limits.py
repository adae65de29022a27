"""Derive the pixel limits of the shipped models' scope checks again, from the pictures they learned from.

Weights, calibration and the limits for bags and answers stay as they are; only the cards are written.

    python scripts/update_limits.py --data ../shared/data
"""

import argparse
from dataclasses import replace
from pathlib import Path

from bag_generators.tissue.quality import kept_scale
from elimipl.cards.card import Card
from elimipl.cards.files import SHIPPED, list_models, weights_path, write_model
from elimipl.cards.limits import with_pixel_limits
from elimipl.data.phantoms import phantom_names, phantom_quality
from elimipl.data.pictures import PHANTOMS
from scripts.shipped_models.tile_sets import tile_sets
from scripts.shipped_models.tiles import tile_qualities

PHANTOMS_PER_CLASS = 10


def qualities_for(card: Card, data: Path) -> list[dict[str, float]]:
    """The pixel measures of a model's training pictures as its generator sees them."""
    if card.pictures == PHANTOMS:
        return [phantom_quality(name, card.generator) for name in phantom_names(PHANTOMS_PER_CLASS, seed=0)]
    (tiles,) = (tiles for tiles in tile_sets(data) if tiles.label_space.id == card.label_space.id)
    return tile_qualities(tiles, card.generator)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    data = parser.parse_args().data
    measured: dict[tuple[str | None, str, float | None], list[dict[str, float]]] = {}
    for card in list_models():
        pictures = card.pictures, card.label_space.id, kept_scale(card.generator)
        if pictures not in measured:
            measured[pictures] = qualities_for(card, data)
        updated = replace(card, checks=with_pixel_limits(card.checks, measured[pictures]))
        write_model(updated, weights_path(card).read_bytes(), SHIPPED)
        print(card.id, flush=True)


if __name__ == "__main__":
    main()
