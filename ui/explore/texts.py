"""Every text of the Explore page but for those it shares with others (`ui.frame.texts`)."""

from collections.abc import Sequence

import numpy as np

from elimipl.data.pictures import PHANTOMS
from elimipl.scope import DRAWINGS_ONLY, Verdict
from ui.frame.texts import NOT_CHECKED

PICTURE_HEADING = "Picture"
SAMPLE_LABEL = "or take a sample"
SAMPLE_HELP = "Ready pictures that ship with the app. Phantoms are drawn, so we know which parts carry the class."
UPLOAD_LABEL = "Upload a picture"
STILL_SHOWN = "The picture before is still shown."

NOT_PAINTED = "The map is hidden."
LINK_PICTURE_LABEL = "Picture"
NOT_A_HASH = "which is not the sha256 of a picture"
A_SAMPLE = "a sample"
STOP_WAITING = "Show a sample instead"
OUTLINE_LABEL = "Outline the instances"
BAG_HEADING = "The bag as a table"

GALLERY_OWN = "Yours in this visit"
GALLERY_GROUPS = {
    "real": "Real tissue, H&E",
    "restained": "Real colon tissue, re-stained",
    "phantom": "Drawings with known truth",
}
FORGET_LABEL = "Forget mine"
FORGET_HELP = "Drops the pictures you brought to this visit from the server's memory."
MORE_LABEL = "More real samples"
MORE_HELP = "Fetches four tiles of CRC-VAL-HE-7K (CC BY 4.0) from Zenodo, about a megabyte. Nothing of yours is sent."
MORE_WAIT = "Fetching four tiles from Zenodo…"
MORE_FAILED = "The tiles could not be fetched from Zenodo."

FIELD_HEADING = "Field and scale"
WHOLE_LABEL = "Whole picture"
WHOLE_HELP = (
    "Deep reads all of it in cells at its own scale, however long that takes; the other generators shrink it to one "
    "tile. “elimipl predict” and Batch do so, too."
)
PART_LABEL = "One field only"
PART_HELP = (
    "Off: the whole picture is read, as “elimipl predict” and Batch do. On: a field as large as the tiles that the "
    "models learned from; a click beside it moves it. The two may differ: each answers for what it has read."
)
SCALE_LABEL = "µm per pixel"
SCALE_HELP = "Usually 0.25 for a 40× and 0.5 for a 20× scan. The field of view is sized so that the scale fits."
SET_SCALE = f"You can set the scale under “{FIELD_HEADING}”."
LEFT_LABEL = "Left edge (px)"
TOP_LABEL = "Top edge (px)"
SCALE_UNKNOWN = "scale unknown, 0.5 µm per pixel assumed"
OVERVIEW_HINT = "Click in the picture to move the field of view."

CANDIDATES_HEADING = "Candidate labels"
CANDIDATES_HELP = (
    "What people find possible in the picture. The model answers without them; they tell candidate from non-candidate."
)
CANDIDATE_SOURCES = {"sample": "With the sample", "crowd": "Three simulated annotators", "hand": "By hand"}
CANDIDATES_FROM = {
    "sample": "that come with the sample, as annotators might name them (simulated)",
    "crowd": "of three simulated annotators",
    "hand": "ticked by hand",
}
CANDIDATE_GROUPS = {
    "sample": ("candidate (simulated)", "non-candidate (simulated)"),
    "crowd": ("candidate (simulated)", "non-candidate (simulated)"),
    "hand": ("candidate", "non-candidate"),
}
OWN_SET_GROUPS = ("in the model's own 90 % set", "not in it")
ANY_LABEL = "label"
NO_CANDIDATES = "No candidate labels: nobody has ticked any for this picture."
TICK_LABEL = "Tick what you find possible"
CROWD_SEED_LABEL = "Seed of the simulated annotators"

BARS_HEADING = "Class probabilities"
RAW_LABEL = "Raw output of the network"
RAW_HELP = "Off: calibrated probabilities. On: what the network's head gives, as in the paper's figures."
OUTSIDE_LABEL = "of the probability lies outside the candidate set."
OUTSIDE_HELP = "What the model gives to labels that the candidate set rules out. ELIMIPL learns to keep it small."

SWITCH_HINT = "Click a bar to switch its label between candidate and non-candidate."
OWN_SET_HINT = "Bars are coloured by the model's own 90 % set. Click the bars of the labels that you find possible."
NO_SET_HINT = "This model has no 90 % set of its own. Click the bars of the labels that you find possible."
TRUSTED, NOT_TRUSTED = "**Trusted**: every check passed.", "**Not to be trusted as it is.**"
PUT_BACK = "Put all back"
PATCHES_TAB, WHAT_IF_TAB, TRUST_TAB = "Patches", "What if", "Is the map right?"
SUM_TAB, TILES_TAB, BAG_TAB = "How the score adds up", "All tiles", "The bag"
FLIP_LABEL = "Smallest set that flips the answer"
WHAT_IF_LABEL, BLOCKS_LABEL = "Removed patches", "Removed blocks"
WHAT_IF_HELP = "The model predicts again from the patches that stay. Outlined ghost bars show the answer before."
BLOCKS_HELP = (
    "Cells are taken out in blocks of 4 × 4 (56 px), numbered from the upper left corner row by row. The tool Remove "
    "takes out a block by a click, and exactly what you draw around."
)
NEIGHBOURS_SAW = (
    "The cells that stay have seen the removed region from beside it: some of it is still in their numbers."
)
ALL_REMOVED = "At least one patch has to stay, so nothing is removed."
WHAT_ATTENTION_IS = (
    "Attention says how much each patch weighs in the bag's average. It is not a segmentation and not proof of "
    "influence; removing a patch and predicting again is the more faithful test."
)

SOURCE_LABEL = "Painted on the picture"
SOURCE_TITLES = {
    "attention": "Attention",
    "vote": "Vote",
    "contribution": "For a class",
    "leave_one_out": "Leave-one-out",
    "single": "Single",
    "integrated_gradients": "Gradients",
}
SOURCE_HELP = (
    "Attention: how many times an even share each patch weighs. Vote: the class each patch would choose alone. "
    "For a class: what each patch adds to the class or takes from it; together they are its score. "
    "Leave-one-out: what the class loses without the patch. Single: the class's probability from the patch alone. "
    "Gradients: integrated gradients, how much of the class's probability the patch accounts for."
)
MEASUREMENT_TITLES = {
    "contribution": "Contribution",
    "leave_one_out": "Leave-one-out",
    "single": "Single",
    "integrated_gradients": "Integrated gradients",
}
TIMES_EVEN_TITLE = "times an even share"
TIMES_EVEN = ((1 / 8, "⅛"), (1 / 4, "¼"), (1 / 2, "½"), (1, "1"), (2, "2"), (4, "4"), (8, "8"))
MAP_SETTINGS = "Settings"
CLASS_CHOICES = {"first": "first choice", "second": "second choice"}
MAP_CLASS_LABEL = "For which class"
MAP_CLASS_HELP = "Attention is the same for all classes; the other maps are about one."
OPACITY_LABEL = "Opacity"
COLOURS_LABEL = "Colours"
THRESHOLD_LABEL = "Hide below"
THRESHOLD_HELP = "As a share of the colour scale from its middle."
PANELS_LABEL = "Panels"
PANELS_TITLES = {"one": "Map", "original": "Original beside it", "classes": "First and second choice"}
ORIGINAL_TITLE = "original"
TOOL_LABEL = "What the mouse does"
TOOL_TITLES = {"look": "Look", "region": "Region", "remove": "Remove"}
TOOL_HELP = (
    "Look: click a patch to read about it, or beside the field of view to move it. "
    "Region: draw around a part and compare the map with it. Remove: click patches to take them out (cells go in "
    "blocks of 56 px), or draw around them. The buttons on the picture choose what a drag does: box, free shape, or "
    "moving the picture."
)
HIDE_MAP, SHOW_MAP = "Hide", "Show"
HIDE_HELP = "Hides the map, or shows it again. The key H does the same."
MAP_HIDDEN = "The map is hidden; H shows it again."
REGION_HINT = "Draw a box in the picture, or a free shape (lasso button): its share of the attention is said here."


CHECK_TITLES = {
    "size": "size",
    "tissue": "tissue",
    "blur": "focus",
    "colour": "stain",
    "distance": "likeness to the training pictures",
    "entropy": "certainty",
    "label_set": "possible labels",
    "scale": "scale",
    "acceptance": "chance of being right",
}

TAKE_AWAY_HEADING = "Take away"
TAKE_AWAY_LABELS = {"png": "PNG", "report": "Report", "csv": "CSV", "json": "JSON", "geojson": "GeoJSON"}
TAKE_AWAY_HELP = {
    "png": "The picture with the map as it is set here, in original pixels.",
    "report": "A page to print: picture, map, bars, instances, provenance.",
    "csv": "One row per instance: place, scores, features.",
    "json": "The result with everything needed to get it again.",
    "geojson": "The instances as polygons; drag the file onto the picture in QuPath.",
}

REMOVE_LABEL, REMOVE_BLOCK_LABEL = "Remove", "Remove its block"


def scope_sentence(verdict: Verdict) -> str:
    """Said when no check failed: which ones the picture passed, and which ones the model has no limits for."""
    good = ", ".join(CHECK_TITLES[item.name] for item in verdict.checks)
    unknown = ", ".join(CHECK_TITLES[name] for name in verdict.not_checked)
    sentences = [f"The picture passed{'' if unknown else ' all checks'}: {good}."] if good else []
    if unknown:
        sentences = [NOT_CHECKED, *sentences, f"This model came without limits for: {unknown}."]
    if verdict.trained_on == PHANTOMS:
        sentences.append(DRAWINGS_ONLY)
    return " ".join(sentences)


def outlined_alt(instances: int) -> str:
    """Screen reader text of the picture with its instances outlined."""
    return f"The picture with its {instances} instances outlined."


def candidates_sentence(names: Sequence[str], source: str | None) -> str:
    """The candidate labels, and who named them."""
    return NO_CANDIDATES if source is None else f"Candidate labels {CANDIDATES_FROM[source]}: {', '.join(names)}."


def overview_alt(width: int, height: int, classified: int) -> str:
    """Screen reader text of the overview."""
    classes = f", {classified} tiles coloured by their class" if classified else ""
    return f"Overview of the picture, {width} by {height} pixels, with the field of view framed{classes}."


def bars_alt(names: tuple[str, ...], probabilities: np.ndarray, group: str, members: np.ndarray) -> str:
    """Screen reader text of the class bars; `group` is what the `members` are called, nothing where all are alike."""
    shares = ", ".join(f"{name} {value:.0%}" for name, value in zip(names, probabilities, strict=True))
    listed = ", ".join(name for name, member in zip(names, members, strict=True) if member)
    return f"Class probabilities: {shares}." + (f" {group[:1].upper()}{group[1:]}: {listed}." if group else "")


def three_bars_alt(probabilities: np.ndarray, candidates: np.ndarray, true_index: int | None) -> str:
    """Screen reader text of the three bars of Figure 2."""
    parts = [] if true_index is None else [f"true label {probabilities[true_index]:.0%}"]
    for name, members in (("candidates", candidates), ("non-candidates", ~candidates)):
        if members.any():
            parts.append(f"average over {name} {probabilities[members].mean():.0%}")
    return f"Probabilities: {', '.join(parts)}."


def map_alt(title: str, scores: np.ndarray) -> str:
    """Screen reader text of the map on the picture."""
    return f"{title} painted on the picture; highest at patch {int(scores.argmax())} with {scores.max():.3f}."


def left_and_right(left: str, right: str) -> str:
    """The classes of two maps side by side."""
    return f"{left} (left) and {right} (right)"


def map_title(kind: str, name: str) -> str:
    """What stands beside the colour bar of a map about the class `name`."""
    return {
        "contribution": f"added to the score of {name}",
        "leave_one_out": f"{name} lost without the patch",
        "single": f"{name} from the patch alone",
        "integrated_gradients": f"share of {name} accounted for",
    }[kind]


def evenness(attention: np.ndarray, even: bool, painted: bool = True) -> str:
    """How the attention is spread, in a sentence; where it is the map that is `painted`, even means nothing is."""
    times = len(attention) * attention
    if even:
        return (
            f"Attention is even here: every patch weighs {times.min():.2f} to {times.max():.2f} times an even share"
            f"{', so nothing is painted' if painted else ''}."
        )
    top = np.sort(attention)[::-1][: max(1, len(attention) // 4)]
    return (
        f"Attention is uneven: the strongest patch weighs {times.max():.1f} times an even share, the strongest quarter "
        f"of the patches holds {top.sum():.0%} of it."
    )


def instances_alt(title: str, scores: np.ndarray) -> str:
    """Screen reader text of the bars over the instances."""
    return f"{title} of patches 0 to {len(scores) - 1}, from {scores.min():.3f} to {scores.max():.3f}."


def agreement_sentence(agreement: float | None) -> str:
    """Rank agreement of attention and leave-one-out, in words."""
    if agreement is None:
        return "Attention and leave-one-out can't be compared here: all instances score the same."
    strength = (
        "well" if agreement > 0.6 else "partly" if agreement > 0.2 else "hardly" if agreement > -0.2 else "inversely"
    )
    return f"Attention and leave-one-out agree {strength} here: rank correlation {agreement:+.2f}."
