"""The words of the Class page."""

import time
from collections.abc import Sequence

from elimipl.labels import LabelSpace
from ui.classroom.outcome import Outcome
from ui.frame.markdown import escape

TITLE = "Class"
INTRO = (
    "A class labels pictures, each student on a phone. Where students doubt, several labels stay possible: the paper's "
    "**candidate sets**, made by people you know. Two models learn from them at once, and you see what the doubt cost."
)
LABELS_ABOUT = (
    "The paper's seven tissues come with drawings whose class is known. With the twelve classes of the colon, or "
    "labels of your own, the class labels samples of unknown truth and pictures that you upload."
)

JOIN_HEADING = "Join a class"
CODE_LABEL = "Code on the teacher's screen"
CODE_HELP = "Eight letters and digits, such as ABCD-2345. Scanning the square there does the same."
JOIN_LABEL = "Join"
NO_ACCOUNT = "No account and no name: you are a number to the class. Everything is deleted after a day."

OPEN_HEADING = "Open a class"
LABELS_LABEL = "Labels to choose from"
LABELS_TITLES = {"tissue7": "7 tissues", "colon": "12 classes of the colon", "own": "Of my own"}
OWN_LABELS_LABEL = "Labels, one in each line"
DRAWN_LABEL = "Drawings of each tissue"
DRAWN_HELP = "Phantoms, whose class is known. Other drawings are kept back to measure the models on."
COMPOSED_LABEL = "Composed fields of each tissue"
COMPOSED_HELP = "Sixteen patches, some of which carry the class; the rest is tissue that all drawings share."
SAMPLES_LABEL = "Samples"
UPLOAD_LABEL = "Pictures of your own"
UPLOAD_HELP = (
    "A label in the name of a file (TUM-0001.png) is its truth; without one the class can vote on it, and what the "
    "doubt cost stays unknown. Do not use pictures with patients' names."
)
OPEN_LABEL = "Open the class"
MAKING = "Preparing the pictures…"
BACK_HEADING = "Come back from another browser"
BACK_LABEL = "Key from the file you saved"
BACK_BUTTON = "Go on as the teacher"

INVITE_HEADING = "Join here"
JOINED_METRIC, ANSWERS_METRIC, DONE_METRIC = "Students", "Answers", "Finished"
LIVE_HEADING = "The votes, live"
SHOW_VOTES_LABEL = "Show the votes on this screen"
SHOW_VOTES_HELP = "Students who see the screen see them, too. What a phone shows does not change."
PICTURE_LABEL = "Picture"
OPEN_VOTES_LABEL = "End voting and open the votes"
GO_ON_LABEL = "Go on voting"
LET_JOIN_LABEL = "Others may join"
KEY_LABEL = "Save the key to come back"
NEW_KEY_LABEL = "Make a key to come back"
KEY_HELP = (
    "This browser is the teacher's. With the key you go on in another one. Nobody should see it: who has it is the "
    "teacher."
)
DELETE_LABEL = "Delete the class"
DELETE_SURE_LABEL = "Delete it for everybody, now"
DELETED = "The class was deleted: pictures, votes and results."
NAMED_TRACE, FIRST_TRACE = "possible", "most likely"
TWO_THIRDS = "two thirds"

TOP_LABEL = "What is it most likely?"
ALSO_LABEL = "What else could it be?"
ALSO_HELP = "Tick every label you would not bet against."
SEND_LABEL = "Send"
NO_TOP = "Choose what it is most likely."
BACK_PICTURE, NEXT_PICTURE = "Back", "Next"
ALL_DONE = "You have answered every picture. Wait for the teacher to open the votes, or change an answer."
OPENED_HEADING = "What the class said"
MEANINGS_LABEL = "What the labels mean"

SETS_HEADING = "From votes to candidate sets"
RULE = (
    "The paper lets three people label a picture: a label that two of the three find possible enters the candidate set "
    "S; if that leaves one label or none, S is everybody's most likely label instead. With a class, a label enters S "
    "when at least two thirds of those who answered find it possible; if that leaves one or none, S is every label "
    "that is the most likely one for at least a tenth of them (with up to ten answers: for anybody)."
)
REVEAL_LABEL, HIDE_LABEL = "Reveal the true labels", "Hide the true labels"
REVEAL_HELP = "Here and on all phones. Figure 1 of the paper: Y = Y_F + Y_T + S̄; a learning machine sees S and S̄ only."
NO_ANSWERS = "Nobody has answered a picture yet."
CONFUSION_HEADING = "Who is taken for whom"
ALPHA_METRIC = "Agreement (Krippendorff's α)"
ALPHA_HELP = "Of the most likely labels: 1 where all agree, 0 where they agree as often as by chance."
PICTURES_LABEL = "Picture by picture"
PICTURE_COLUMNS = ("picture", "answers", "most likely", "for so many", "others said", "candidate set", "true label")
NOT_REVEALED = "Shown with the true labels, once they are revealed."
NO_TRUTH = "No true label is known, so nobody can say what was taken for what."
COST_HEADING = "What did the doubt cost?"
COST_INTRO = (
    "ELIMIPL and DEMIPL learn from the class's candidate sets, beside the same models that are given the true labels, "
    "three students only, the most frequent first choice, or no answer at all."
)
TRAIN_LABEL, STOP_LABEL = "Train on the class's answers", "Stop"
BEGUN_AGAIN = "The server was restarted during the training, so it was begun again from the start, with the same seeds."
CUT_OFF_TOO_OFTEN = (
    "The training was begun three times and the server ended each time before it was done. It is not begun again by "
    "itself; the button does so. With another generator it may need less memory."
)
ACCURACY_HEADING = "Right on pictures nobody voted on"
RIGHT_HEADING = "Right among the class's own candidates"
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
WINNERS_LABEL = "What ELIMIPL made of every picture"
FILES_HEADING = "Take along"
CSV_LABEL, JSON_LABEL, BAGS_LABEL = "Votes (CSV)", "Everything (JSON)", "Bags with candidate sets"
FILES_CAPTION = (
    "The bag file holds every answered picture and its copies; the Train page and `elimipl train` read it. "
    "Students are numbers; no file holds a code or a key."
)

SAFELY_HEADING = "Phones can't reach this address yet"
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


def codes_key(labels: LabelSpace) -> str:
    """What the codes in a figure stand for; empty where they are the titles."""
    if labels.codes == labels.titles:
        return ""
    return ", ".join(escape(labels.legend_text(index)) for index in range(len(labels)))


def picture_of(number: int, pictures: int, answered: int) -> str:
    """Where a student is."""
    return f"**Picture {number} of {pictures}** · {answered} answered"


def picture_alt(number: int) -> str:
    """For screen readers, before anybody may know what it is."""
    return f"Picture {number}: tissue to be labelled"


def votes_alt(number: int, named: Sequence[int], answers: int, labels: LabelSpace) -> str:
    """The bars of a picture in words."""
    said = ", ".join(f"{name} {count}" for name, count in zip(labels.titles, named, strict=True) if count)
    return f"Picture {number}: {answers} answers. Labels named: {said or 'none'}."


def answers_alt(answers: Sequence[int], students: int) -> str:
    """The bars of answered pictures in words."""
    return f"Answers to each picture, of {students} students: {', '.join(map(str, answers)) or 'none'}."


def you_are(number: int) -> str:
    """What a student is to the class."""
    return f"You are student {number}. Nobody sees your answers before the teacher opens all of them."


def kept_answer(top: str, named: str) -> str:
    """What the server has of a student."""
    return f"Kept: most likely {top}; possible {named}. Send again to change it."


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


def square_alt(link: str) -> str:
    """The QR code in words."""
    return f"QR code of {link}"


def ends(expires: float) -> str:
    """When everything is forgotten."""
    return f"Everything is deleted on {time.strftime('%d %B at %H:%M', time.localtime(expires))}, or when you say so."


def key_file(code: str, key: str) -> str:
    """What the teacher saves."""
    return f"Key to come back to the class {code} as its teacher. Keep it to yourself.\n\n{key}\n"


def row_name(number: int) -> str:
    """A row of Figure 1."""
    return f"picture {number}"


def sets_alt(pictures: int, size: float) -> str:
    """Figure 1 in words."""
    return f"Candidate sets of {pictures} pictures, {size:.2f} labels on average."


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


def taken_for(true: str, other: str, share: float) -> str:
    """One common mistake."""
    return f"**{share:.0%}** of the answers to {true} find **{other}** possible."


def confusion_alt() -> str:
    """The table in words."""
    return "Share of the answers that find each label possible, a row for every true label."


def cost_alt(outcome: Outcome, of: str) -> str:
    """The bars in words."""
    said = [
        f"{fit.method.upper()} from {ARM_TITLES[fit.arm]} {sum(getattr(fit, of)) / len(getattr(fit, of)):.0%}"
        for fit in outcome.fits
        if getattr(fit, of)
    ]
    return "; ".join(said)


def cost_sentences(outcome: Outcome) -> list[str]:
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


def how_trained(outcome: Outcome) -> str:
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
