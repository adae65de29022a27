"""Pictures for a class: drawn, composed, from the samples, or the teacher's own, as they are shown and learned from."""

import io

import numpy as np
from PIL import Image

from bag_generators import InputError, TissueImage
from bag_generators.base.errors import printable
from bag_generators.scale import TILE, first_field
from bag_generators.tissue.phantom import Phantom, draw
from bag_generators.tissue.samples import Sample
from bag_generators.uploads import read_upload
from elimipl.candidates.labels import TISSUE7, LabelSpace, label_in
from elimipl.classroom.store.records import NewPicture

LONGEST_SIDE = 512  # px; larger pictures are made smaller
PATCH = 56  # px of a patch of a composed field
OF_THE_CLASS = (3, 7)  # patches of sixteen that carry the class of a composed field, at least and at most
LENT_SIDE, LENT_COVERAGE = 6 * PATCH, 0.3  # px and share of the class of the drawing that lends the patches


def drawn(tissue: str, seed: int) -> NewPicture:
    """A drawing, whose class is known."""
    pixels = draw(tissue, seed).pixels
    return NewPicture(as_png(pixels), f"{tissue} drawing {seed}", "drawn", TISSUE7.index(tissue))


def composed(tissue: str, seed: int) -> NewPicture:
    """A field of sixteen patches, some of which carry the class; the rest is tissue that all drawings share."""
    pixels, _ = compose_field(tissue, seed)
    return NewPicture(as_png(pixels), f"{tissue} composed field {seed}", "composed", TISSUE7.index(tissue))


def compose_field(tissue: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The pixels of a composed field, (224, 224, 3), and which of its patches carry the class, (16,) bool.

    All patches come from one large drawing, so that neither stain nor light gives the class away.
    """
    rng = np.random.default_rng(seed)
    patches, shares = _patches(draw(tissue, seed, LENT_SIDE, LENT_COVERAGE))
    carrying, neutral = np.flatnonzero(shares > 0.5), np.flatnonzero(shares == 0)
    count = min(int(rng.integers(OF_THE_CLASS[0], OF_THE_CLASS[1] + 1)), len(carrying))
    side = TILE // PATCH
    chosen = np.concatenate(
        [rng.permutation(carrying)[:count], rng.choice(neutral, side * side - count, replace=False)]
    )
    order = rng.permutation(side * side)
    rows = patches[chosen[order]].reshape(side, side, PATCH, PATCH, 3)
    return rows.transpose(0, 2, 1, 3, 4).reshape(TILE, TILE, 3), (np.arange(side * side) < count)[order]


def from_sample(sample: Sample, labels: LabelSpace) -> NewPicture:
    """One of the pictures that ship."""
    truth = None if sample.label is None or sample.label not in labels.names else labels.index(sample.label)
    image = sample.load()
    return _fitted(image, sample.title, "drawn" if sample.kind == "phantom" else "tissue", truth)


def from_upload(name: str, content: bytes, labels: LabelSpace) -> NewPicture:
    """A picture of the teacher's; its true label is the one in its name, as on the Batch page."""
    try:
        image = read_upload(content)
    except InputError as error:
        raise InputError(f"“{printable(name)[:60]}”: {error.what}", error.fix) from None
    label = label_in(name, labels.names)
    return _fitted(image, name, "tissue", labels.index(label) if label else None)


def as_png(pixels: np.ndarray) -> bytes:
    """The pixels, (H, W, 3) uint8, without loss."""
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


def _fitted(image: TissueImage, name: str, kind: str, truth: int | None) -> NewPicture:
    """The field of view that models read, small enough for a phone."""
    field = first_field(image)
    microns, pixels = field.microns_per_pixel, _middle(field.pixels)
    if (factor := LONGEST_SIDE / max(pixels.shape[:2])) < 1:
        size = round(pixels.shape[1] * factor), round(pixels.shape[0] * factor)
        pixels = np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.BOX))
        microns = None if microns is None else microns / factor
    return NewPicture(as_png(pixels), name, "drawn" if kind == "drawn" else "tissue", truth, microns)


def _middle(pixels: np.ndarray) -> np.ndarray:
    """The middle of a long strip: at most three times as long as wide."""
    height, width = pixels.shape[:2]
    rows, columns = min(height, 3 * width), min(width, 3 * height)
    top, left = (height - rows) // 2, (width - columns) // 2
    return np.ascontiguousarray(pixels[top : top + rows, left : left + columns])


def _patches(phantom: Phantom) -> tuple[np.ndarray, np.ndarray]:
    """A drawing cut into n patches, (n, 56, 56, 3), and how much of each carries the class, (n,)."""
    side = len(phantom.truth) // PATCH
    cut = phantom.pixels.reshape(side, PATCH, side, PATCH, 3).transpose(0, 2, 1, 3, 4).reshape(-1, PATCH, PATCH, 3)
    truth = phantom.truth.reshape(side, PATCH, side, PATCH).transpose(0, 2, 1, 3).reshape(-1, PATCH * PATCH)
    return cut, truth.mean(axis=1)
