"""The words that several pages share: the app's name, its pages, uploads, the choice of generator and model."""

from bag_generators.base.formats import formats_in_words

APP_TITLE = "ELIMIPL pathology explorer"
NOT_A_DEVICE = "For teaching and research. Not a medical device: never use it for a diagnosis."

PAGES = (
    ("app.py", "Explore", ":material/biotech:"),
    ("pages/slide.py", "Slide", ":material/zoom_in_map:"),
    ("pages/batch.py", "Batch", ":material/stacks:"),
    ("pages/generators.py", "Bag generators", ":material/grid_view:"),
    ("pages/lesson.py", "Lesson", ":material/school:"),
    ("pages/class.py", "Class", ":material/groups:"),
    ("pages/compare.py", "Compare models", ":material/compare:"),
    ("pages/results.py", "Results", ":material/leaderboard:"),
    ("pages/train.py", "Train", ":material/model_training:"),
    ("pages/doctor.py", "Doctor", ":material/stethoscope:"),
)

UPLOAD_HELP = f"{formats_in_words()} of colorectal H&E tissue. The picture stays on this machine."
EXPECTED_SCALE = "The models expect about 0.5 µm per pixel on a tile of 224 × 224 pixels."
UPLOADS_RELEASED = (
    "The server needed room for others: files you uploaded and did not use for a while were released. "
    "Upload them again."
)
CLASSIFYING = "Classifying tiles…"

GENERATOR_HEADING = "Bag generator"

NO_MODEL = "No model for this generator is installed. Restore assets/models or choose another generator."
SPACE_HELP = (
    "Colon: the most advanced epithelium in the picture, from normal mucosa to adenocarcinoma, or the tissue where "
    "there is none. Tissues: the seven of the paper. Drawn phantoms: drawings only."
)
SPACE_TITLES = {"colon": "12 classes of the colon", "tissue7": "7 tissues", "phantoms": "7 drawn phantoms"}
OLD_SPACE_TITLES = {"5 lesions": "colon"}
"""What links held before they held ids, and the label space that took the place."""
METHOD_HELP = "ELIMIPL uses candidate and non-candidate labels; DEMIPL, its predecessor, only the candidates."
NOT_CHECKED = "Not checked whether the model knows pictures like this one."

NOT_HERE = "which this version does not have here"


def in_line(place: int, waiting: int) -> str:
    """Where a job stands that waits for others; nothing while it is its turn."""
    return f"others go first: place {place} of {waiting} in line" if place else ""


def sureness(probability: float) -> str:
    """A probability in per cent; one that is never quite none or all is not rounded to it.

    >>> sureness(0.874), sureness(0.9977), sureness(0.001)
    ('87%', '>99%', '<1%')
    """
    if probability > 0.99:
        return ">99%"
    return "<1%" if probability < 0.01 else f"{probability:.0%}"


def duration(seconds: float | None) -> str:
    """A length of time as people say it.

    >>> duration(None), duration(4.16), duration(41.6), duration(150)
    ('…', '4.2 s', '42 s', '2.5 min')
    """
    if seconds is None:
        return "…"
    if seconds < 120:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 600 else f"{seconds / 60:.0f} min"


def other_weights(model: str) -> str:
    """What is said of the digest in a link to a model that has been trained again since."""
    return f"but “{model}” has been trained again since, so numbers differ"


def succeeded_by(successor: str) -> str:
    """What is said of a label space in a link whose models no longer ship."""
    return f"whose models no longer ship (their successors are those of “{successor}”)"


def link_asks(label: str, asked: str, why_not: str, instead: str) -> str:
    """Said when a link asks for something the page does not have; `asked` is empty where the link leaves it empty."""
    if not asked:
        return f"The link leaves “{label}” empty; {instead} is shown."
    return f"The link asks for {asked} under “{label}”, {why_not}; {instead} is shown."


def link_sets(named: str, keys: int, unnamed: int) -> str:
    """Said when a link carries keys the page never reads; `unnamed` is how many of them are not in `named`."""
    more = f" and {unnamed} more" if unnamed > 0 else ""
    left_out = "it is left out" if keys == 1 else "they are left out"
    return f"The link also sets {named}{more}, which this page does not know; {left_out}."
