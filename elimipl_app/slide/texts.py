"""Every text of the Slide page."""

from collections.abc import Callable, Mapping
from datetime import datetime

from bag_generators.base.formats import MAX_BYTES
from elimipl_app.shell.texts import EXPECTED_SCALE, duration

INTRO = (
    "Zoom into a whole slide or a large picture, have a model map it, and measure regions of your own. "
    "A map shows what the model says about each place; it is not a segmentation."
)
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
FORGET_HELP = "Deletes what you uploaded here and the maps of it. Otherwise both stay until the server ends."
DEMO_TITLE = "Demo slide"

NOTHING_YET = (
    "There is no slide here yet: upload one, or start the app with a folder of slides. "
    "To look around first, make a small demo slide of drawn tissue."
)

SCALE_HELP = (
    "Leave it empty to take what the file says, else what its nuclei tell. Scanners have about 0.25 for 40×, 0.5 for "
    f"20×. {EXPECTED_SCALE}"
)

TAKE_AWAY_HELP = (
    "A zip with map.json, map.geojson for QuPath, map.csv, map.png and a report: what “elimipl map” writes."
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
STATES = {
    "waiting": "waiting",
    "running": "in the making",
    "done": "done",
    "stopped": "stopped",
    "failed": "not made",
}

REGIONS_HELP = (
    "Area in mm²; share of each class and of the slide's attention inside. AUROC: the chance that a place inside "
    "scores above one outside, for the attention and for the probability of the region's most frequent class."
)
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
HINT = (
    "Wheel or pinch zooms, dragging moves, a click chooses a field. Keys: arrows, + and −, 0 for everything, H hides "
    "the map. Polygon: click the corners; a double click or Enter closes it, Escape gives up."
)


def own_title(number: int) -> str:
    """What an uploaded slide is called in the list; its name stays out of the address."""
    return f"Your slide {number}"


def facts(width: int, height: int, microns: float | None) -> str:
    """Size and scale of a slide in a line."""
    size = f"{width:,} × {height:,} px"
    if microns is None:
        return size
    return f"{size} · {width * microns / 1000:.2f} × {height * microns / 1000:.2f} mm · {microns:.3g} µm per pixel"


def start_with(model: str) -> str:
    """Which model a start would use."""
    return f"With {model}, in the background: you may leave this page or reload it."


def take_away(model: str) -> str:
    """The button for the files of a map."""
    return f"Files of the map of {model}"


def map_title(model: str, made: datetime) -> str:
    """A map among others of the same model."""
    return f"{model} · {made:%H:%M:%S} UTC"


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


def field_title(x_mm: float, y_mm: float) -> str:
    """What a field of a slide is called on Explore: where its middle lies, never the name of the file."""
    return f"field of a slide at {x_mm:.2f}, {y_mm:.2f} mm"


def even_attention(model: str) -> str:
    """Said of a map whose attention tells nothing apart."""
    return f"{model}: attention is even all over this slide, so its layer means nothing."
