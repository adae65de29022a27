"""A small archive of tiles, as a server would hold it."""

import io
import zipfile

import numpy as np

from elimipl.candidates.labels import TISSUE7

NAME = "CRC-VAL-HE-7K"
CLASSES = (*TISSUE7.names, "ADI", "BACK")
TILES = 40
FILE_PATH = f"/api/records/1214456/files/{NAME}.zip/content"


def tile(name, i):
    """3,000 bytes that deflate can't make smaller, so that sizes are like those of real tiles."""
    return np.random.default_rng([CLASSES.index(name), i]).bytes(3000)


def tile_name(name, i):
    return f"{name}-TCGA-{i:03d}.tif"


def make_zip(extra=(), compression=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name in CLASSES:
            archive.mkdir(f"{NAME}/{name}")
            for i in range(TILES):
                archive.writestr(f"{NAME}/{name}/{tile_name(name, i)}", tile(name, i))
        for member, content in extra:
            archive.writestr(member, content)
    return buffer.getvalue()


ZIP = make_zip()


def content_of(path):
    name, i = path.parent.name, int(path.stem.rsplit("-", 1)[1])
    return tile(name, i)
