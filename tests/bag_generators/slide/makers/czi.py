"""A slide as Zeiss's CZI: segments with tiles, a list of them, texts, and files inside the file."""

import struct
from pathlib import Path

import numpy as np

from tests.bag_generators.slide import makers

_BGR = 3
_NOT_SHRUNKEN, _SHRUNKEN = 0, 2


def write_czi(path: Path) -> Path:
    """Write two levels of uncompressed tiles, and a label and a preview, which are CZI files themselves."""
    secret = _czi([(makers.label(), 1)], ())
    whole = makers.pixels()
    path.write_bytes(_czi([(whole, 1), (whole[::2, ::2], 2)], (("Label", secret), ("SlidePreview", secret))))
    return path


def _czi(levels: list[tuple[np.ndarray, int]], inside: tuple[tuple[str, bytes], ...]) -> bytes:
    content = bytearray(32 + 512)
    entries = b""
    for picture, shrunken in levels:
        height, width = picture.shape[:2]
        side = makers.TILE if height % makers.TILE == 0 else max(height, width)
        for y in range(0, height, side):
            for x in range(0, width, side):
                tile = picture[y : y + side, x : x + side]
                entry = _tile_entry(tile, x * shrunken, y * shrunken, shrunken, len(content))
                entries += entry
                head = (struct.pack("<iiq", 0, 0, tile.size) + entry).ljust(256, b"\0")
                content += _segment("ZISRAWSUBBLOCK", head + tile[:, :, ::-1].tobytes())
    count = sum(1 for _ in range(0, len(entries), len(entry)))
    directory = len(content)
    content += _segment("ZISRAWDIRECTORY", struct.pack("<i", count).ljust(128, b"\0") + entries)
    texts = _texts(levels[0][0]).encode()
    metadata = len(content)
    content += _segment("ZISRAWMETADATA", struct.pack("<ii", len(texts), 0).ljust(256, b"\0") + texts)
    listed = b""
    for name, file in inside:
        described = struct.pack("<2s10xqi16x8s80s", b"A1", len(content), 0, b"CZI", name.encode())
        listed += described
        content += _segment("ZISRAWATTACH", struct.pack("<i12x", len(file)) + described + bytes(112) + file)
    attachments = len(content)
    content += _segment("ZISRAWATTDIR", struct.pack("<i", len(inside)).ljust(256, b"\0") + listed)
    about = struct.pack("<ii8x32xiqqiq", 1, 0, 0, directory, metadata, 0, attachments).ljust(512, b"\0")
    content[: 32 + 512] = _segment("ZISRAWFILE", about)
    return bytes(content)


def _tile_entry(tile: np.ndarray, x: int, y: int, shrunken: int, position: int) -> bytes:
    """Where a tile lies on the slide and in the file; two of its dimensions are X and Y, in pixels of level 0."""
    height, width = tile.shape[:2]
    kind = _SHRUNKEN if shrunken > 1 else _NOT_SHRUNKEN
    dimensions = (
        (b"X", x, width * shrunken, width),
        (b"Y", y, height * shrunken, height),
        (b"C", 0, 1, 1),
        (b"S", 0, 1, 1),
        (b"M", 0, 1, 1),
    )
    packed = b"".join(struct.pack("<4siifi", name, start, size, 0.0, kept) for name, start, size, kept in dimensions)
    return struct.pack("<2siqiiB5xi", b"DV", _BGR, position, 0, 0, kind, len(dimensions)) + packed


def _texts(picture: np.ndarray) -> str:
    metres = makers.MICRONS * 1e-6
    scale = "".join(f'<Distance Id="{axis}"><Value>{metres}</Value></Distance>' for axis in "XY")
    height, width = picture.shape[:2]
    return (
        "<ImageDocument><Metadata><Information>"
        f"<User><DisplayName>{makers.SECRETS[0]}</DisplayName></User>"
        f"<Document><Name>{makers.SECRETS[1]}</Name></Document>"
        f"<Image><SizeX>{width}</SizeX><SizeY>{height}</SizeY><SizeC>1</SizeC><SizeS>1</SizeS>"
        "<PixelType>Bgr24</PixelType><Dimensions><S><Scenes><Scene Index='0'/></Scenes></S></Dimensions></Image>"
        f"</Information><Scaling><Items>{scale}</Items></Scaling></Metadata></ImageDocument>"
    )


def _segment(name: str, content: bytes) -> bytes:
    allocated = -(-len(content) // 32) * 32
    return struct.pack("<16sqq", name.encode(), allocated, len(content)) + content.ljust(allocated, b"\0")
