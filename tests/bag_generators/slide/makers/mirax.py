"""A slide as 3DHISTECH's MIRAX: a small picture that names it, and a folder of the same name with everything else."""

import struct
from pathlib import Path

from tests.bag_generators.slide import makers

_ID = "0123456789ABCDEF"
_LAYERS = {"ScanDataLayer_SlideThumbnail": "THUMBNAIL", "ScanDataLayer_SlideBarcode": "BARCODE"}


def write_mirax(path: Path) -> Path:
    """Write two levels, and the photograph of the glass and of its label; the file itself shows the label, too."""
    folder = path.with_suffix("")
    folder.mkdir(parents=True)
    path.write_bytes(makers.jpeg(makers.label()))
    whole, across = makers.pixels(), makers.WIDTH // makers.TILE
    data = bytearray(b"01.02" + _ID.encode())

    def add(picture: bytes) -> tuple[int, int]:
        data.extend(picture)
        return len(data) - len(picture), len(picture)

    levels = []
    for number, picture in enumerate((whole, whole[::2, ::2])):
        columns = picture.shape[1] // makers.TILE
        levels.append(
            [
                ((at // columns * across + at % columns) << number, *add(makers.jpeg(tile)), 0)
                for at, tile in enumerate(makers.tiles(picture))
            ]
        )
    others = [add(makers.jpeg(makers.label())) for _ in _LAYERS]
    (folder / "Data0000.dat").write_bytes(data)
    (folder / "Index.dat").write_bytes(_index(levels, others))
    (folder / "Slidedat.ini").write_text(_about(len(levels)), encoding="utf-8-sig")
    return path


def _index(levels: list[list[tuple[int, int, int, int]]], others: list[tuple[int, int]]) -> bytes:
    """Where everything is: two lists of pointers to pages, of levels and of other pictures."""
    start = len("01.02") + len(_ID)
    pages = [
        struct.pack("<ii", len(level), 0) + b"".join(struct.pack("<4i", *one) for one in level) for level in levels
    ]
    pages += [struct.pack("<7i", 1, 0, 0, 0, offset, size, 0) for offset, size in others]
    lists_at = start + 8
    heads_at = lists_at + 4 * len(pages)
    position = heads_at + 8 * len(pages)
    heads = b""
    for page in pages:
        heads += struct.pack("<ii", 0, position)
        position += len(page)
    pointers = b"".join(struct.pack("<i", heads_at + 8 * at) for at in range(len(pages)))
    roots = struct.pack("<ii", lists_at, lists_at + 4 * len(levels))
    return b"01.02" + _ID.encode() + roots + pointers + heads + b"".join(pages)


def _about(levels: int) -> str:
    across, down = makers.WIDTH // makers.TILE, makers.HEIGHT // makers.TILE
    lines = [
        "[GENERAL]",
        "SLIDE_VERSION=01.02",
        f"SLIDE_ID={_ID}",
        f"SLIDE_NAME={' '.join(makers.SECRETS)}",
        f"IMAGENUMBER_X={across}",
        f"IMAGENUMBER_Y={down}",
        "OBJECTIVE_MAGNIFICATION=40",
        "[HIERARCHICAL]",
        "HIER_COUNT=1",
        "NONHIER_COUNT=1",
        "INDEXFILE=Index.dat",
        "HIER_0_NAME=Slide zoom level",
        f"HIER_0_COUNT={levels}",
        *(f"HIER_0_VAL_{level}_SECTION=LEVEL_{level}" for level in range(levels)),
        "NONHIER_0_NAME=Scan data layer",
        f"NONHIER_0_COUNT={len(_LAYERS)}",
    ]
    for number, (layer, kind) in enumerate(_LAYERS.items()):
        lines += [f"NONHIER_0_VAL_{number}={layer}", f"NONHIER_0_VAL_{number}_SECTION={kind}"]
    for level in range(levels):
        lines += [
            f"[LEVEL_{level}]",
            "OVERLAP_X=0",
            "OVERLAP_Y=0",
            f"MICROMETER_PER_PIXEL_X={makers.MICRONS * 2**level}",
            f"MICROMETER_PER_PIXEL_Y={makers.MICRONS * 2**level}",
            "IMAGE_FORMAT=JPEG",
            "IMAGE_FILL_COLOR_BGR=16777215",
            f"DIGITIZER_WIDTH={makers.TILE}",
            f"DIGITIZER_HEIGHT={makers.TILE}",
            f"IMAGE_CONCAT_FACTOR={min(level, 1)}",
        ]
    for kind in _LAYERS.values():
        lines += [f"[{kind}]", f"{kind}_IMAGE_TYPE=JPEG"]
    return "\n".join([*lines, "[DATAFILE]", "FILE_COUNT=1", "FILE_0=Data0000.dat", ""])
