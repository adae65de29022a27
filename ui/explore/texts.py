"""Every text of the Explore page but for those it shares with others (`ui.frame.texts`)."""

import numpy as np

from elimipl.data.pictures import PHANTOMS
from elimipl.scope import DRAWINGS_ONLY, Verdict
from ui.frame.texts import NOT_CHECKED

PICTURE_HEADING = "Picture"
SAMPLE_LABEL = "or take a sample"
SAMPLE_HELP = "Ready pictures that ship with the app. Phantoms are drawn, so we know which parts carry the class."
UPLOAD_LABEL = "Upload a picture"
UPLOAD_IN_USE = "Your upload is shown. Remove it above to return to the samples."
STILL_SHOWN = "The picture before is still shown."

OUTLINE_LABEL = "Outline the instances"
BAG_HEADING = "The bag as a table"

GALLERY_LABEL = "Gallery"

FIELD_HEADING = "Field of view"
WHOLE_LABEL = "Use the whole picture"
WHOLE_HELP = "Shrinks the whole picture to one tile. The models learned from single tiles, so expect less."
SCALE_LABEL = "Micrometres per pixel of this picture"
SCALE_HELP = "Usually 0.25 for a 40× and 0.5 for a 20× scan. The field of view is sized so that the scale fits."
LEFT_LABEL = "Left edge (px)"
TOP_LABEL = "Top edge (px)"
OVERVIEW_HINT = "Click in the picture to move the field of view."

CANDIDATES_HEADING = "Candidate labels"
CANDIDATES_HELP = (
    "What the crowd says the picture may show. The model answers without them; they tell candidate from non-candidate."
)
CANDIDATE_SOURCES = {"sample": "Sample", "crowd": "Crowd of three", "hand": "By hand"}
ASSUMED_LABEL = "Label the annotators should be shown"
ASSUMED_HELP = "The true label of this picture is unknown; the simulated annotators need one to be unsure about."
CROWD_SEED_LABEL = "Seed of the simulated annotators"
NO_CANDIDATE = "No label chosen: every label counts as a candidate."

RAW_LABEL = "Raw output of the network"
RAW_HELP = "Off: calibrated probabilities. On: what the network's head gives, as in the paper's figures."
OUTSIDE_LABEL = "of the probability lies outside the candidate set."
OUTSIDE_HELP = "What the model gives to labels that the candidate set rules out. ELIMIPL learns to keep it small."

WHAT_IF_HEADING = "What if some instances were not there?"
WHAT_IF_LABEL = "Remove instances"
WHAT_IF_HELP = "The model predicts again from the instances that stay. Outlined ghost bars show the answer before."
ALL_REMOVED = "At least one instance has to stay, so nothing is removed."
WHAT_ATTENTION_IS = (
    "Attention says how much each instance weighs in the bag's average. It is not a segmentation and not proof of "
    "influence; removing an instance and predicting again is the more faithful test."
)

SOURCE_LABEL = "Painted on the picture"
SOURCE_TITLES = {
    "attention": "Attention",
    "leave_one_out": "Leave-one-out",
    "integrated_gradients": "Integrated gradients",
}
SOURCE_HELP = (
    "Attention: the weight of each instance. Leave-one-out: how much the class loses without it. "
    "Integrated gradients: how much of the class's probability it accounts for."
)
MAP_SETTINGS = "Map settings"
PREDICTED_CLASS = "predicted class"
MAP_CLASS_LABEL = "For which class"
MAP_CLASS_HELP = "Attention is the same for all classes; the other maps are about one."
SCALE_KIND_LABEL = "Scale"
COLOURS_LABEL = "Colours"
THRESHOLD_LABEL = "Hide below"
THRESHOLD_HELP = "As a share of the colour scale."
FIXED_LABEL = "Same scale for every picture"
FIXED_HELP = "Colours run from 0 to 1 instead of to the highest score here, so that maps can be compared."
SIDE_BY_SIDE_LABEL = "Original beside the map"

UNRELIABLE = "Outside what the model knows: treat the result as unreliable."

SCOPE_BADGES = {
    True: "",
    False: " :orange-badge[:material/warning: unreliable]",
    None: " :gray-badge[:material/help: not checked]",
}
CHECK_TITLES = {
    "size": "size",
    "tissue": "tissue",
    "blur": "focus",
    "colour": "stain",
    "distance": "likeness to the training pictures",
    "entropy": "certainty",
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

FIGURE_FIVE_HEADING = "Scores of all instances"
REMOVE_LABEL = "Remove"
FEATURES_INTRO = "Stands out in:"


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


def recorded_candidates(names: list[str]) -> str:
    """The candidate set that comes with a sample."""
    return f"Recorded with the sample: {', '.join(names)}."


def overview_alt(width: int, height: int, classified: int) -> str:
    """Screen reader text of the overview."""
    classes = f", {classified} tiles coloured by their class" if classified else ""
    return f"Overview of the picture, {width} by {height} pixels, with the field of view framed{classes}."


def bars_alt(names: tuple[str, ...], probabilities: np.ndarray) -> str:
    """Screen reader text of the class bars."""
    shares = ", ".join(f"{name} {value:.0%}" for name, value in zip(names, probabilities, strict=True))
    return f"Class probabilities: {shares}."


def three_bars_alt(probabilities: np.ndarray, candidates: np.ndarray, true_index: int | None) -> str:
    """Screen reader text of the three bars of Figure 2."""
    parts = [] if true_index is None else [f"true label {probabilities[true_index]:.0%}"]
    for name, members in (("candidates", candidates), ("non-candidates", ~candidates)):
        if members.any():
            parts.append(f"average over {name} {probabilities[members].mean():.0%}")
    return f"Probabilities: {', '.join(parts)}."


def map_alt(title: str, scores: np.ndarray) -> str:
    """Screen reader text of the map on the picture."""
    return f"{title} painted on the picture; highest at instance {int(scores.argmax())} with {scores.max():.3f}."


def nearly_even(attention: np.ndarray) -> str:
    """Said when the map is almost one colour."""
    return (
        f"Attention is almost even here, {attention.min():.3f} to {attention.max():.3f} (an even share is "
        f"{1 / len(attention):.3f}): the model weighs all instances alike. "
        "The map shows the small differences; “linear” in the map settings shows them in proportion."
    )


def instances_alt(title: str, scores: np.ndarray) -> str:
    """Screen reader text of the bars over the instances."""
    return f"{title} of instances 0 to {len(scores) - 1}, from {scores.min():.3f} to {scores.max():.3f}."


def agreement_sentence(agreement: float | None) -> str:
    """Rank agreement of attention and leave-one-out, in words."""
    if agreement is None:
        return "Attention and leave-one-out can't be compared here: all instances score the same."
    strength = (
        "well" if agreement > 0.6 else "partly" if agreement > 0.2 else "hardly" if agreement > -0.2 else "inversely"
    )
    return f"Attention and leave-one-out agree {strength} here: rank correlation {agreement:+.2f}."
