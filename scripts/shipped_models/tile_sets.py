"""The two sets of real tiles the shipped models learn from."""

import sys
from pathlib import Path

from elimipl.labels import LESION5, TISSUE7
from scripts.shipped_models.tiles import TileSet


def tile_sets(data: Path) -> tuple[TileSet, TileSet]:
    """lesion5 and tissue7 in a data folder; where they are missing, a sentence and the end."""
    lesion5 = TileSet(data / "lesion5" / "train", LESION5, LESION5.source, "GPL-3.0 repository; origin not stated")
    tissue7 = TileSet(data / "tissue7" / "train", TISSUE7, TISSUE7.source, "CC BY 4.0")
    for tiles in (lesion5, tissue7):
        if not tiles.folder.is_dir():
            sys.exit(
                f"There are no tiles in {tiles.folder}. Give the folder that holds lesion5/ and tissue7/ as --data."
            )
    return lesion5, tissue7


def validation_tiles(data: Path) -> TileSet:
    """The lesion tiles of other slides: for reporting, never for choosing."""
    return TileSet(data / "lesion5" / "val", LESION5, LESION5.source, "GPL-3.0 repository; origin not stated")
