"""Regions are kept for their visitor, and not without end."""

import pytest
import shapely

from bag_generators import InputError
from ui.slide.regions.region import MOST_REGIONS, KeptRegions, Region

REGION = Region(1, "Region 1", shapely.box(0, 0, 10, 10))


def test_everyone_has_their_own_and_may_forget_them():
    kept = KeptRegions()
    kept.keep("me", "slide", (REGION,))
    kept.keep("you", "slide", (REGION, REGION))
    assert kept.of("me", "slide") == (REGION,)
    assert kept.of("me", "other") == ()
    kept.forget("you")
    assert (kept.of("me", "slide"), kept.of("you", "slide")) == ((REGION,), ())


def test_what_is_too_much_is_refused_or_makes_room():
    kept = KeptRegions(most_kept=2)
    with pytest.raises(InputError, match="too many"):
        kept.keep("me", "a", (REGION,) * (MOST_REGIONS + 1))
    for slide in "abc":
        kept.keep("me", slide, (REGION,))
    assert [len(kept.of("me", slide)) for slide in "abc"] == [0, 1, 1]
