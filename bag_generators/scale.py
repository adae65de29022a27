"""The scale at which a picture is read, decided once for commands and pages alike, and who says so.

Also the field of view: how much of a large picture a model reads at once, and where it looks first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from bag_generators.base.errors import InputError
from bag_generators.base.formats import MAX_PIXELS
from bag_generators.image import TissueImage
from bag_generators.tissue.nuclei import ScaleEstimate, estimate_scale

TILE = 224
"""Side of the tiles that models learned from, in pixels."""
MICRONS = 0.5
"""Micrometres per pixel of those tiles; what a picture of unknown scale is taken to have."""
SMALLEST = 64
LARGE_FROM = 1.5
"""A picture whose shorter side is this many times as long as a tile is looked at field by field."""

Origin: TypeAlias = Literal["file", "by hand", "estimated", "assumed"]
NEAR = 1.3
"""Models bear scales that differ from their own by this factor: they learned from tiles zoomed in and out."""
BY_HAND, ESTIMATED = "by hand", "estimated from nuclei"
"""Sources of a scale that no file states."""
UNSURE = 4.0
"""An estimate is unsure if the upper end of its interval is more than this many times the lower one."""
_DECIDED_BEFORE: dict[str, Origin] = {BY_HAND: "by hand", ESTIMATED: "estimated"}


@dataclass(frozen=True)
class ScaleDecision:
    """How large a pixel is taken to be."""

    microns_per_pixel: float
    origin: Origin
    source: str
    """Where it stands in the file, or one of the other origins."""
    estimate: ScaleEstimate | None
    """By the nuclei, where nobody says the scale and there are enough of them."""
    doubted: bool
    """Whether the nuclei speak against the scale that the picture is read at."""

    def apply_to(self, image: TissueImage) -> TissueImage:
        """The picture with its scale; one of assumed scale is read as it is."""
        return image if self.origin == "assumed" else image.at_scale(self.microns_per_pixel, self.source)

    @property
    def sentence(self) -> str:
        """For a person."""
        if self.origin in ("file", "by hand") or (self.origin == "estimated" and self.estimate is None):
            return f"The scale is {self.microns_per_pixel:.3g} µm per pixel ({self.source})."
        if self.estimate is None:
            return (
                f"The scale is not known and there are too few nuclei to estimate it: {MICRONS} µm per pixel assumed."
            )
        centre, low, high, _ = self.estimate
        seen = f"Scale by its nuclei: {centre:.2g} ({low:.2g} to {high:.2g}) µm"
        if self.origin == "estimated":
            return f"{seen} per pixel; the picture is read at that scale."
        if self.doubted:
            return (
                f"{seen} per pixel, too unsure to use: {MICRONS} assumed, which may be wrong. Give the scale by hand."
            )
        return f"{seen} per pixel; {MICRONS} assumed."

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        interval = None if self.estimate is None else [self.estimate.low, self.estimate.high]
        return {
            "microns_per_pixel": self.microns_per_pixel,
            "origin": self.origin,
            "source": self.source,
            "estimate": None if self.estimate is None else self.estimate.microns_per_pixel,
            "interval": interval,
            "sentence": self.sentence,
        }


def decide_scale(image: TissueImage, by_hand: float | None = None) -> ScaleDecision:
    """The scale by hand, else of the file, else by the nuclei where they clearly tell another than the models' own.

    Whatever the picture shows, there is a decision.
    """
    if by_hand is not None:
        return by_hand_only(by_hand)
    if image.microns_per_pixel is not None:
        origin = _DECIDED_BEFORE.get(image.scale_source, "file")
        return ScaleDecision(image.microns_per_pixel, origin, image.scale_source, None, doubted=False)
    estimate = estimate_scale(image.pixels)
    if estimate is None or (estimate.low <= MICRONS * NEAR and estimate.high >= MICRONS / NEAR):
        return ScaleDecision(MICRONS, "assumed", "assumed", estimate, doubted=False)
    width, height = (length * estimate.microns_per_pixel / MICRONS for length in (image.width, image.height))
    can_be_read = min(width, height) >= SMALLEST and width * height <= MAX_PIXELS
    if estimate.high > UNSURE * estimate.low or not can_be_read:
        return ScaleDecision(MICRONS, "assumed", "assumed", estimate, doubted=True)
    return ScaleDecision(estimate.microns_per_pixel, "estimated", ESTIMATED, estimate, doubted=False)


def by_hand_only(microns_per_pixel: float) -> ScaleDecision:
    """The scale that a person gives."""
    check_scale(microns_per_pixel)
    return ScaleDecision(microns_per_pixel, "by hand", BY_HAND, None, doubted=False)


def check_scale(microns_per_pixel: float) -> None:
    """Refuse what no pixel can have."""
    if not (math.isfinite(microns_per_pixel) and 0.01 <= microns_per_pixel <= 100):
        raise InputError(f"A pixel can't be {microns_per_pixel:g} µm large.", "Give 0.01 to 100, such as 0.5.")


def is_large(image: TissueImage) -> bool:
    """Whether a model reads only a part of the picture at once."""
    return min(image.width, image.height) >= LARGE_FROM * TILE


def field_size(image: TissueImage) -> int:
    """Side of the field of view in pixels of the picture: as much tissue as on a tile the models learned from."""
    wanted = round(TILE * MICRONS / (image.microns_per_pixel or MICRONS))
    return max(SMALLEST, min(wanted, image.width, image.height))


def first_field(image: TissueImage) -> TissueImage:
    """What is read of a picture until somebody moves the field: all of a small one, the middle of a large one."""
    if not is_large(image):
        return image
    size = field_size(image)
    return image.tile((image.width - size) // 2, (image.height - size) // 2, size)
