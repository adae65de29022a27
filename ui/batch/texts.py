"""Every text of the Batch page."""

from ui.frame.texts import EXPECTED_SCALE

INTRO = (
    f"Classify many tiles at once. Every file gets a row: an answer, or the reason why there is none. {EXPECTED_SCALE}"
)
UPLOAD_LABEL = "Pictures"
EMPTY = "Choose one or more pictures to begin."


def summary(files: int, refused: int, doubtful: int, unchecked: int = 0) -> str:
    """What became of the files, in a sentence."""
    summary = f"**{files - refused} of {files}** files classified"
    summary += f", {doubtful} of them outside what the model knows" if doubtful else ""
    summary += f", {unchecked} not checked for that" if unchecked else ""
    return summary + (f"; {refused} refused, with the reason in the table." if refused else ".")
