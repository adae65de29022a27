"""Pictures that broke on their way: cut off, changed, half there."""

from __future__ import annotations

from functools import partial

from scripts.bad_inputs.encodings import cut, encoded, flipped, png_claiming

_DAMAGED = "picture is incomplete or damaged. Export it again"
_ENDINGS = {"PNG": "png", "JPEG": "jpg", "TIFF": "tif", "BMP": "bmp", "WEBP": "webp"}


def _cut(format_: str, share: float) -> bytes:
    return cut(encoded(format_), share)


FILES = {
    **{
        f"cut-at-{share:.0%}.{ending}": (partial(_cut, format_, share), _DAMAGED)
        for format_, ending in _ENDINGS.items()
        for share in (0.02, 0.5, 0.98)
    },
    "cut-in-the-signature.png": (lambda: encoded("PNG")[:8], _DAMAGED),
    "cut-in-the-header.png": (lambda: encoded("PNG")[:20], _DAMAGED),
    "without-its-end.png": (lambda: encoded("PNG")[:-12], _DAMAGED),
    "one-flipped-byte.png": (lambda: flipped(encoded("PNG"), 0.5), _DAMAGED),
    "signature-and-noise.png": (lambda: encoded("PNG")[:8] + bytes(range(1, 250)), _DAMAGED),
    "signature-and-nothing.jpg": (lambda: b"\xff\xd8\xff\xe0" + bytes(200), _DAMAGED),
    "no-pixels-at-all.png": (lambda: png_claiming(64, 64), _DAMAGED),
    "unknown-colour-type.png": (lambda: png_claiming(64, 64, bytes(64 * 65), colour_type=5), _DAMAGED),
    "header-of-a-tiff.tif": (lambda: b"II*\0\x08\0\0\0", _DAMAGED),
    "chain-in-a-circle.tif": (lambda: b"II*\0\x08\0\0\0\0\0\x08\0\0\0", _DAMAGED),
}
