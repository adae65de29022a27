"""Every text of the Slide page."""

from collections.abc import Callable, Mapping

from bag_generators.base.formats import MAX_BYTES
from elimipl_app.shell.texts import EXPECTED_SCALE, duration

_CAP = f"{MAX_BYTES // 2**20} MB"
UPLOAD_HELP = f"A slide in one file or a large picture, up to {_CAP}. It stays on the machine that runs the app."
LARGER = (
    f"Larger than {_CAP}? Put it into a folder and start the app with “python -m elimipl app --slides FOLDER”, "
    "or set ELIMIPL_SLIDES to that folder; its slides are listed here."
)
SEVERAL_FILES = (
    "A slide of this kind is several files, and a browser sends them without their folder.",
    "Put it with its folder into a folder of slides, as said below.",
)
DEMO_TITLE = "Demo slide"


SCALE_HELP = (
    "Leave it empty to take what the file says, else what its nuclei tell. Scanners have about 0.25 for 40×, 0.5 for "
    f"20×. {EXPECTED_SCALE}"
)

SLIDE_ALONE = "the slide without a map"
RESULTS_COLUMNS = {
    "made": "Made",
    "model": "Model",
    "slide": "Slide",
    "state": "State",
    "tiles": "Tiles",
    "shares": "Classes",
    "left_out": "Left out",
}

COLUMNS = {
    "name": "Name",
    "area": "mm²",
    "main": "Classes",
    "mapped": "Mapped",
    "attention": "Attention",
    "auroc_attention": "AUROC attention",
    "auroc_class": "AUROC class",
}

VIEWER_WORDS = {
    "zoomIn": "Zoom in",
    "zoomOut": "Zoom out",
    "fit": "Whole slide",
    "tools": "What a click does",
    "move": "Move",
    "box": "Box",
    "polygon": "Polygon",
    "layers": "Map",
    "none": "Off",
    "class": "Class",
    "probability": "Probability",
    "attention": "Attention",
    "opacity": "Opacity of the map",
    "keys": "Arrow keys move, + and − zoom, 0 shows everything, H hides the map, Enter chooses the middle.",
    "picked": "The field that was chosen",
    "open": "Open this field in Explore",
    "close": "Close",
    "leftOut": "no tissue mapped",
    "noScale": "no scale",
    "average": "of an average patch of the field",
    "labelSet": "90 % set",
    "gone": "Parts of the slide can't be read.",
}


def own_title(number: int) -> str:
    """What an uploaded slide is called in the list; its name stays out of the address."""
    return f"Your slide {number}"


def facts(width: int, height: int, microns: float | None) -> str:
    """Size and scale of a slide in a line."""
    size = f"{width:,} × {height:,} px"
    if microns is None:
        return size
    return f"{size} · {width * microns / 1000:.2f} × {height * microns / 1000:.2f} mm · {microns:.3g} µm per pixel"


def shares(by_class: Mapping[str, float], title: Callable[[str], str] = str) -> str:
    """The classes of a map or a region by the titles of their names, the largest first.

    >>> shares({"TUM": 0.25, "STR": 0.75, "MUC": 0.0})
    'STR 75%, TUM 25%'
    """
    largest = sorted(by_class.items(), key=lambda pair: -pair[1])
    return ", ".join(f"{title(name)} {share:.0%}" for name, share in largest if share > 0)


def left_out(counts: Mapping[str, int]) -> str:
    """How many tiles were left out, and why.

    >>> left_out({"background": 1200, "pen": 0, "blur": 3})
    '1,200 background, 3 blur'
    """
    return ", ".join(f"{count:,} {why}" for why, count in counts.items() if count)


def progress(model: str, done: int, total: int, seconds_left: float | None) -> str:
    """How far a map has come."""
    left = "" if seconds_left is None else f", about {duration(seconds_left)} left"
    return f"{model}: {done:,} of {total:,} tiles{left}"


def imported(regions: int, outside: int, not_areas: int) -> str:
    """What became of a file of annotations."""
    said = f"{regions} region{'' if regions == 1 else 's'} brought along."
    said += f" {outside} outside this slide left out." if outside else ""
    return said + (f" {not_areas} without an area left out." if not_areas else "")
