"""The words of the Class page."""

from collections.abc import Sequence

from elimipl.candidates.labels import LabelSpace
from elimipl.classroom.outcome import ClassOutcome
from elimipl_app.shell.markdown import escape

TITLE = "Class"
INTRO = (
    "A class labels pictures, each student on a phone. Where students doubt, several labels stay possible: the paper's "
    "**candidate sets**, made by people you know. Two models learn from them at once, and you see what the doubt cost."
)
LABELS_ABOUT = (
    "The paper's seven tissues come with drawings whose class is known. With the twelve classes of the colon, or "
    "labels of your own, the class labels samples of unknown truth and pictures that you upload."
)


LABELS_TITLES = {"tissue7": "7 tissues", "colon": "12 classes of the colon", "own": "Of my own"}
COMPOSED_HELP = "Sixteen patches, some of which carry the class; the rest is tissue that all drawings share."
UPLOAD_HELP = (
    "A label in the name of a file (TUM-0001.png) is its truth; without one the class can vote on it, and what the "
    "doubt cost stays unknown. Do not use pictures with patients' names."
)

KEY_HELP = (
    "This browser is the teacher's. With the key you go on in another one. Nobody should see it: who has it is the "
    "teacher."
)

REMOVE_ABOUT = (
    "Their answers go with them, and nobody else may join until you let others join again. Who was removed by mistake "
    "opens the link once more then."
)
ALL_DONE = "You have answered every picture. Wait for the teacher to open the votes, or change an answer."

RULE = (
    "The paper lets three people label a picture: a label that two of the three find possible enters the candidate set "
    "S; if that leaves one label or none, S is everybody's most likely label instead. With a class, a label enters S "
    "when at least two thirds of those who answered find it possible; if that leaves one or none, S is every label "
    "that is the most likely one for at least a tenth of them (with up to ten answers: for anybody)."
)
REVEAL_HELP = "Here and on all phones. Figure 1 of the paper: Y = Y_F + Y_T + S̄; a learning machine sees S and S̄ only."
PICTURE_COLUMNS = ("picture", "answers", "most likely", "for so many", "others said", "candidate set", "true label")
COST_INTRO = (
    "ELIMIPL and DEMIPL learn from the class's candidate sets, beside the same models that are given the true labels, "
    "three students only, the most frequent first choice, or no answer at all."
)
BEGUN_AGAIN = "The server was restarted during the training, so it was begun again from the start, with the same seeds."
CUT_OFF_TOO_OFTEN = (
    "The training was begun three times and the server ended each time before it was done. It is not begun again by "
    "itself; the button does so. With another generator it may need less memory."
)
NOT_MEASURED = {
    "held_out": "Nothing was kept back with these labels, so accuracy was not measured.",
    "disambiguation": "The true labels are not known, so nobody can say which candidate is right.",
}
ARM_TITLES = {
    "truth": "true labels",
    "class": "the class",
    "three": "three students",
    "tops": "first choices",
    "nothing": "no answer",
}
FILES_CAPTION = (
    "The bag file holds every answered picture and its copies; the Train page and `elimipl train` read it. "
    "Students are numbers; no file holds a code or a key."
)

SAFELY = (
    "The app listens to this computer only, and has no login: whoever can open its pages may use it. To open it to a "
    "network you trust for the time of the lesson, end it and start it with the address that the computer has there "
    "(here 192.168.1.20; `hostname -I`, `ipconfig` or the network settings say yours):\n\n"
    "```\n.venv/bin/python -m streamlit run app.py --server.address 192.168.1.20 --server.allowedHosts 192.168.1.20\n"
    "```\n\n"
    "Then open this page under http://192.168.1.20:8501/class; the square and the link follow, and the session is "
    "still there. Use a network with a password, or the hotspot of your phone; never a public one. The connection is "
    "not encrypted: others in the network could read along. In a larger network put a proxy with TLS before the app "
    "(docs/nginx.conf; SECURITY.md says how). End the app after the lesson."
)


def label_title(labels: LabelSpace, number: int) -> str:
    """A label in words with its title, or its title alone where there are no other words."""
    title, words = labels.titles[number], labels.descriptions[number].partition(":")
    return f"{words[0]} ({title})" if words[1] and words[0].lower() != title.lower() else title


def meanings(labels: LabelSpace) -> str:
    """What every label means, as a list; empty where nobody has said so."""
    if labels.descriptions == labels.names:
        return ""
    pairs = zip(labels.titles, labels.descriptions, strict=True)
    return "\n".join(f"- **{escape(name)}** {escape(description)}" for name, description in pairs)


def picture_alt(number: int) -> str:
    """For screen readers, before anybody may know what it is."""
    return f"Picture {number}: tissue to be labelled"


def votes_alt(number: int, named: Sequence[int], answers: int, labels: LabelSpace) -> str:
    """The bars of a picture in words."""
    said = ", ".join(f"{name} {count}" for name, count in zip(labels.titles, named, strict=True) if count)
    return f"Picture {number}: {answers} answers. Labels named: {said or 'none'}."


def candidate_set(members: Sequence[str], truth: str | None, revealed: bool) -> str:
    """S of a picture in words and, once the truth is revealed, whether the true label is in it."""
    if not members:
        return "Nobody has answered this picture."
    said = f"Candidate set **S = {{{', '.join(members)}}}**"
    if truth is None:
        return f"{said}. Its true label is not known." if revealed else f"{said}."
    return f"{said}, true label **{truth}**" + (
        "." if truth in members else ": **missing**. The paper assumes that this never happens."
    )


def sets_caption(size: float, held: int, missed: Sequence[int]) -> str:
    """How large the sets are, and where the paper's assumption fails."""
    said = f"{size:.2f} candidates on average; 2.08 in the paper's CRC-MIPL."
    if missed:
        numbers = ", ".join(map(str, missed))
        said += (
            f" The true label is missing from the set of picture {numbers}: the paper assumes that it never is, and "
            "such pictures are not in its Figure 1."
        )
    elif held:
        said += " Every true label that is known is in its set, as the paper assumes."
    return said


def agreement(alpha: float | None) -> str:
    """How far the class agrees, in words."""
    if alpha is None:
        return "There is nothing to agree on yet."
    if alpha >= 0.8:
        return "Almost everybody says the same."
    if alpha >= 0.4:
        return "The class often agrees, beyond chance."
    return "The class is divided." if alpha >= 0.1 else "The class agrees hardly more often than by chance."


def cost_alt(outcome: ClassOutcome, of: str) -> str:
    """The bars in words."""
    said = [
        f"{fit.method.upper()} from {ARM_TITLES[fit.arm]} {sum(getattr(fit, of)) / len(getattr(fit, of)):.0%}"
        for fit in outcome.fits
        if getattr(fit, of)
    ]
    return "; ".join(said)


def cost_sentences(outcome: ClassOutcome) -> list[str]:
    """What the doubt cost, a sentence for each method."""
    sentences = []
    for method in ("elimipl", "demipl"):
        true, own, three = (outcome.mean(method, arm) for arm in ("truth", "class", "three"))
        if true is None or own is None:
            continue
        said = f"**{method.upper()}**: the doubt of the class cost **{_points(true - own)}**"
        if three is not None:
            said += f"; with three students for each picture it would have cost {_points(true - three)}"
        sentences.append(f"{said}.")
    return sentences


def _points(lost: float) -> str:
    points = round(100 * lost)
    if points < 1:
        return "no accuracy"
    return f"{points} point{'s' if points > 1 else ''} of accuracy"


def winner(picture: int, label: str, weight: float, truth: str | None) -> str:
    """Which candidate a picture ended with."""
    right = "" if truth is None else " (right)" if truth == label else f" (wrong: it is {truth})"
    return f"Picture {picture}: **{label}** with weight {weight:.2f}{right}"


def how_trained(outcome: ClassOutcome) -> str:
    """Data, settings and seeds."""
    held = (
        f"measured on {outcome.held_out_bags} bags ({escape(outcome.held_out_source)})"
        if outcome.held_out_bags
        else "nothing kept back"
    )
    return (
        f"{len(outcome.pictures)} pictures with {outcome.copies} turned, zoomed and re-stained copies each, generator "
        f"{escape(outcome.generator)}, {outcome.epochs} epochs, seeds {', '.join(map(str, outcome.seeds))}; {held}. "
        f"{outcome.seconds:.0f} s. Bars are means over the seeds, lines single seeds. With so few pictures a single "
        "one can move accuracy by ten points: trust large differences only."
    )
