"""Every text of the Batch page."""

from ui.frame.texts import EXPECTED_SCALE

INTRO = (
    f"Classify many tiles at once. Every file gets a row: an answer, or the reason why there is none. {EXPECTED_SCALE}"
)
UPLOAD_LABEL = "Pictures"
EMPTY = "Choose one or more pictures to begin."


def summary(files: int, refused: int, doubtful: int) -> str:
    """What became of the files, in a sentence."""
    told = f"**{files - refused} of {files}** files classified"
    told += f", {doubtful} of them outside what the model knows" if doubtful else ""
    return told + (f"; {refused} refused, with the reason in the table." if refused else ".")
