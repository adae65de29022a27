"""Every text of the Batch page."""

from ui.frame.texts import EXPECTED_SCALE

INTRO = (
    "Classify many pictures at once. Every file gets a row: an answer, or the reason why there is none. "
    f"{EXPECTED_SCALE} Of a larger picture the middle is read, as Explore does at first."
)
UPLOAD_LABEL = "Pictures"
FOLDER_LABEL = "Choose a folder"
FOLDER_HELP = "All pictures in a folder and the folders inside it. Folders named after classes are compared with."
EMPTY = "Choose one or more pictures to begin."
KEPT = "The files of this visit, classified before."
FORGET = "Forget them"
OPEN_LABEL = "Open in Explore"
OPEN_HELP = "Choose a row by the box at its left end. Explore then shows the same answer with its map."
COLUMNS = {
    "thumbnail": "picture",
    "true_label": "label by name",
    "label_set": "possible at 90 %",
    "why": "notes, and what speaks against it",
}
COMPARISON_HEADING = "Answers against the labels in the names"


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
