"""Stain normalisation: bring the colours of an H&E picture closer to those of a reference slide; and the reverse.

A method is a function from (H, W, 3) uint8 to the same; a new one is one function and one line in `_METHODS`.
Bare glass says nothing about the stain, so it is left out of every estimate.
`augmented` makes copies of a tile that keep its label: turned, zoomed, and stained as on another slide.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import cv2
import numpy as np

from bag_generators.base.errors import InputError

GLASS = 0.15
"""A pixel whose optical density is below this in every channel shows the bare glass."""
_FEWEST_TISSUE_PIXELS = 100
_STRONGEST_GAIN = 3.0
"""More would magnify noise rather than stain."""
DENSITY = -np.log((np.arange(256, dtype=np.float32) + 1) / 256)
"""Optical density of each 8-bit value; white is 0."""

# Tissue of CRC-VAL-HE-7K tiles (CC BY 4.0) in OpenCV's 8-bit L*a*b*: the mean and the spread inside a tile.
_LAB_MEAN = np.array((148, 162, 109))
_LAB_SPREAD = np.array((35, 7, 5))

_DENSE_TISSUE = np.array((0.9, 1.25, 0.8))
"""90th percentile of the optical density of well stained tissue in R, G, B."""


def _step(density: np.ndarray, middle: float, steepness: float) -> np.ndarray:
    """255 below the middle density, 0 above it, with a soft edge."""
    return 255 / (1 + np.exp((density.astype(np.float64) - middle) * steepness))


_TONES = np.rint(np.stack([_step(DENSITY, 0.2, 20), np.arange(256), _step(DENSITY, 0.6, 12)], axis=1)).astype(np.uint8)
_CALLED_IN_TONES = {
    "red": "paleness",
    "blue": "lightness",
    "blueness (Cb)": "lightness beside the other tones (Cb)",
    "redness (Cr)": "paleness beside the other tones (Cr)",
}

# Haematoxylin and eosin (rows) as unit optical densities, and the strongest of each, as in Macenko's own reference.
_REFERENCE_STAINS = np.array(((0.5626, 0.7201, 0.4062), (0.2159, 0.8012, 0.5581)))
_REFERENCE_STRENGTH = np.array((1.9705, 1.0308))
# Ruifrok's vectors, the ones of scikit-image: what to believe of a picture that does not tell.
USUAL_STAINS = np.array(((0.6798, 0.7321, 0.3033), (0.0701, 0.9912, 0.1101)))

_SMALLEST_CROP = 0.85
_STRENGTH, _OFFSET, _TURN = 0.2, 0.08, 0.06
"""How far stain strengths (factor), background stain (optical density) and stain vectors (factor) may move."""


def normalise(pixels: np.ndarray, method: str) -> np.ndarray:
    """The picture (H, W, 3) uint8 with its stain brought to the reference by `method`, one of `STAINS`."""
    if method not in STAINS:
        names = ", ".join(repr(name) for name in STAINS)
        raise InputError(f"There is no stain normalisation called {method!r}.", f"Choose one of {names}.")
    return _METHODS[method](pixels)


def channel_name(feature: str, method: str) -> str:
    """The name of a feature, such as “red, difference to the row above”, after `method`.

    >>> channel_name("red, difference to the row above", "tones")
    'paleness, difference to the row above'
    """
    channel, comma, rest = feature.partition(",")
    return (_CALLED_IN_TONES.get(channel, channel) if method == "tones" else channel) + comma + rest


def _reinhard(pixels: np.ndarray) -> np.ndarray:
    """Match mean and spread of the tissue in L*a*b* (Reinhard 2001); glass stays as it is."""
    density = _densest_channel(pixels)
    tissue = density > GLASS
    if np.count_nonzero(tissue) < _FEWEST_TISSUE_PIXELS:
        return pixels
    lab = cv2.cvtColor(pixels, cv2.COLOR_RGB2LAB)
    mean, spread = (moment.ravel() for moment in cv2.meanStdDev(lab, mask=tissue.view(np.uint8)))
    gain = _limited(_LAB_SPREAD / np.maximum(spread, 1e-3))
    matched = cv2.transform(lab.astype(np.float32), np.column_stack([np.diag(gain), _LAB_MEAN - gain * mean]))
    stained = np.minimum(density / (2 * GLASS), 1)[:, :, None]  # from glass to tissue without a seam
    blended = np.clip(np.rint(lab + stained * (matched - lab)), 0, 255).astype(np.uint8)
    return np.asarray(cv2.cvtColor(blended, cv2.COLOR_LAB2RGB))


def _macenko(pixels: np.ndarray) -> np.ndarray:
    """Replace the picture's two stains, the outermost directions of optical density, by the reference's (Macenko 2009).

    Where they can't be told (one stain only, no H&E) the picture is taken to have the usual ones.
    """
    density = cv2.LUT(pixels, DENSITY)
    tissue = density[_densest_channel(pixels) > GLASS].astype(np.float64)  # (pixels, 3)
    if len(tissue) < _FEWEST_TISSUE_PIXELS:
        return pixels
    unmix = np.linalg.pinv(_outermost_stains(tissue)).T  # (2, 3)
    strongest = [np.percentile(_along(tissue, stain), 99) for stain in unmix]
    gain = _limited(_REFERENCE_STRENGTH / np.maximum(strongest, 1e-3))
    restain = _REFERENCE_STAINS.T @ (gain[:, None] * unmix)  # (3, 3): from density to density
    transmitted = np.exp(-cv2.transform(density, restain))
    return np.clip(np.rint(256 * transmitted - 1), 0, 255).astype(np.uint8)


def _tones(pixels: np.ndarray) -> np.ndarray:
    """Leave out the hue, in which laboratories differ most: three tones of the green light, which both stains take.

    The channels become how pale a pixel is (lumen, mucus, glass), its green light, and how far from dark (nuclei).
    """
    return _TONES[pixels[:, :, 1]]


def _density(pixels: np.ndarray) -> np.ndarray:
    """Bring the dense end (90th percentile) of the tissue's optical density to the reference, channel by channel."""
    density = cv2.LUT(pixels, DENSITY)
    tissue = density[density.mean(axis=2) > GLASS]
    if len(tissue) < _FEWEST_TISSUE_PIXELS:
        return pixels
    gain = _limited(_DENSE_TISSUE / np.maximum(np.percentile(tissue, 90, axis=0), 1e-3))
    return np.clip(np.rint(256 * np.exp(-density * gain.astype(np.float32)) - 1), 0, 255).astype(np.uint8)


def _outermost_stains(tissue: np.ndarray) -> np.ndarray:
    """Unit optical densities of haematoxylin and eosin, (2, 3), in tissue of densities (pixels, 3)."""
    centred = tissue - tissue.mean(axis=0)
    _, vectors = np.linalg.eigh(np.einsum("ni,nj->ij", centred, centred))
    first, second = (axis if axis.sum() > 0 else -axis for axis in vectors.T[:0:-1])  # the two longest axes
    angle = np.arctan2(_along(tissue, second), _along(tissue, first))
    low, high = np.percentile(angle, (1, 99))
    stains = np.array([np.cos(turn) * first + np.sin(turn) * second for turn in (low, high)])
    stains = stains[np.argsort(-stains[:, 0])]  # haematoxylin takes more of the red light
    plausible = 0.1 < high - low < np.pi / 2 and stains.min() > -0.1
    return stains if plausible else USUAL_STAINS


def _densest_channel(pixels: np.ndarray) -> np.ndarray:
    """The highest optical density of each pixel's three, (H, W) float32."""
    red, green, blue = cv2.split(pixels)
    return np.asarray(cv2.LUT(cv2.min(cv2.min(red, green), blue), DENSITY))


def _along(tissue: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """Each density along an axis. Not a matrix product: those may differ in the last bit with more threads."""
    return tissue[:, 0] * axis[0] + tissue[:, 1] * axis[1] + tissue[:, 2] * axis[2]


def _limited(gain: np.ndarray) -> np.ndarray:
    return np.clip(gain, 1 / _STRONGEST_GAIN, _STRONGEST_GAIN)


_METHODS: Mapping[str, Callable[[np.ndarray], np.ndarray]] = MappingProxyType(
    {"none": lambda pixels: pixels, "reinhard": _reinhard, "macenko": _macenko, "density": _density, "tones": _tones}
)
STAINS: tuple[str, ...] = tuple(_METHODS)
"""The names `normalise` knows; "none" leaves the picture as it is."""


def augmented(pixels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One random copy of (H, W, 3) uint8, of the same shape for square tiles (turned otherwise)."""
    return restained(zoomed(symmetry(pixels, int(rng.integers(8))), rng), rng)


def symmetry(pixels: np.ndarray, number: int) -> np.ndarray:
    """One of the eight symmetries of the square, 0 to 7; 0 leaves the tile as it is."""
    turned = np.rot90(pixels, number % 4)
    return np.ascontiguousarray(turned[:, ::-1] if number >= 4 else turned)


def zoomed(pixels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A random part of at least 85 % of each side, brought back to the full size."""
    from torchvision.transforms.v2 import functional  # seconds to import, and most who normalise stains never zoom

    height, width = pixels.shape[:2]
    share = rng.uniform(_SMALLEST_CROP, 1.0)
    rows, columns = max(1, round(share * height)), max(1, round(share * width))
    top, left = int(rng.integers(height - rows + 1)), int(rng.integers(width - columns + 1))
    picture = functional.to_image(pixels.copy())
    part = functional.resized_crop(picture, top, left, rows, columns, [height, width], antialias=False)
    return np.ascontiguousarray(part.permute(1, 2, 0).numpy())


def restained(pixels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The tile as another laboratory might have stained it: haematoxylin and eosin jittered in optical density."""
    density = cv2.LUT(pixels, DENSITY)  # (H, W, 3)
    unmix = np.linalg.pinv(USUAL_STAINS)  # (3, 2)
    stains = cv2.transform(density, unmix.T)  # (H, W, 2)
    rest = density - cv2.transform(stains, USUAL_STAINS.T)
    gain = rng.uniform(1 - _STRENGTH, 1 + _STRENGTH, 2)
    offset = rng.uniform(-_OFFSET, _OFFSET, 2)
    turned = USUAL_STAINS * (1 + rng.normal(0, _TURN, USUAL_STAINS.shape))
    mixed = cv2.transform(stains * gain + offset, turned.T) + rest
    return np.clip(np.rint(256 * np.exp(-np.maximum(mixed, 0)) - 1), 0, 255).astype(np.uint8)
