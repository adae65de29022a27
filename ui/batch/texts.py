"""Every text of the Batch page."""

from elimipl.labels import LabelSpace
from ui.frame.markdown import escape
from ui.frame.texts import EXPECTED_SCALE

INTRO = (
    "Classify many pictures at once. Every file gets a row: an answer, or the reason why there is none. "
    f"{EXPECTED_SCALE} The whole picture is read, as “elimipl predict” does."
)
UPLOAD_LABEL = "Pictures"
FOLDER_LABEL = "Choose a folder"
FOLDER_HELP = "All pictures in a folder and the folders inside it. Folders named after classes are compared with."
SCALE_LABEL = "µm per pixel of all files"
SCALE_HELP = "Leave it empty to take what each file says, else what its nuclei tell, else 0.5; the table says which."
EMPTY = "Choose one or more pictures to begin."
KEPT = "The files of this visit, classified before."
FORGET = "Forget them"
OPEN_LABEL = "Open in Explore"
OPEN_HELP = "Choose a row by the box at its left end. Explore then shows the same answer with its map."
COLUMNS = {
    "thumbnail": "picture",
    "true_label": "label by name",
    "label_set": "possible at 90 %",
    "scale": "scale (µm per pixel)",
    "why": "notes, and what speaks against it",
}
COMPARISON_HEADING = "Answers against the labels in the names"


def answers_from(labels: LabelSpace) -> str:
    """Which classes the chosen model knows."""
    classes = escape(", ".join(labels.titles))
    return (
        f"The model chosen in the sidebar answers with one of {len(labels)} classes ({classes}) or with none of them. "
        "Other label spaces are there, too."
    )


def summary(files: int, refused: int, doubtful: int, unchecked: int = 0, trusted: int = 0) -> str:
    """What became of the files, in a sentence."""
    summary = f"**{files - refused} of {files}** files classified, {trusted} of them with every check passed"
    summary += f", {doubtful} outside what the model knows" if doubtful else ""
    summary += f", {unchecked} not checked for that" if unchecked else ""
    return summary + (f"; {refused} refused, with the reason in the table." if refused else ".")


def opened_title(sha256: str) -> str:
    """What a picture of a batch is called in Explore; never the name of its file."""
    return f"From Batch ({sha256[:8]})"


def comparison(files: int, right: int, trusted: int, trusted_right: int) -> str:
    """How often the answers agree with the names, all of them and those with every check passed."""
    sentence = f"The names of {files} files carry a label: **{right}** answers agree with it ({right / files:.0%})."
    if trusted:
        sentence += f" Of the {trusted} with every check passed, {trusted_right} agree ({trusted_right / trusted:.0%})."
    return f"{sentence} Rows are the labels in the names, columns the answers."
