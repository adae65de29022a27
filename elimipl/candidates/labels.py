"""What the classes of a task are called, how they look and where they come from.

A label space travels as data with every bag data set and every model card, so that nothing in the project
has to know how many classes there are.
"""

from __future__ import annotations

import colorsys
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bag_generators.base.errors import InputError
from bag_generators.base.validation import STRICT, plain, validated

# Okabe & Ito's colours: told apart with every common form of colour blindness.
OKABE_ITO = ("#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7")

_SLUG = re.compile(r"[a-z0-9_]+")
_HEX_COLOUR = re.compile(r"#[0-9A-Fa-f]{6}")
_LONGEST_TEXT = 1000
_SHORT = 4  # characters that fit on a map


@dataclass(frozen=True)
class LabelSpace:
    """The k classes of a task, in the order of the columns of every (…, k) array.

    `names` stand in files, JSON and addresses; `titles` are what people read (the names unless given), `codes` what a
    map has room for. `id` is short and safe in a file name, `colours` are hex codes, `source` says where the classes
    come from.

    >>> TISSUE7.index("MUC"), len(TISSUE7), TISSUE7.names[6]
    (2, 7, 'TUM')
    >>> COLON.names[0], COLON.titles[0], COLON.codes[0]
    ('normal', 'normal or non-neoplastic mucosa', 'N')
    """

    __pydantic_config__ = STRICT

    id: str
    names: tuple[str, ...]
    colours: tuple[str, ...]
    descriptions: tuple[str, ...]
    source: str = ""
    titles: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.titles:
            object.__setattr__(self, "titles", tuple(str(name).replace("_", " ") for name in self.names))
        for field in ("names", "colours", "descriptions", "titles"):
            object.__setattr__(self, field, tuple(str(value) for value in getattr(self, field)))
        if not _SLUG.fullmatch(self.id):
            raise InputError(
                f"“{self.id}” can't name a label space.", "Use lower-case letters, digits and underscores."
            )
        if len(self.names) < 2:
            raise InputError(
                f"The label space “{self.id}” has {len(self.names)} class(es).", "Give at least two classes."
            )
        if len(set(self.names)) < len(self.names) or not all(name.strip() for name in self.names):
            raise InputError(
                f"The class names of “{self.id}” are not all different and filled: {', '.join(self.names)}.",
                "Give every class its own name.",
            )
        texts = (*self.names, *self.descriptions, *self.titles)
        if any(len(text) > _LONGEST_TEXT or not text.isprintable() for text in texts):
            raise InputError(
                f"A name or description of “{self.id}” can't be shown: it is long or holds control characters.",
                f"Use plain text of at most {_LONGEST_TEXT:,} characters.",
            )
        if not len(self.names) == len(self.colours) == len(self.descriptions) == len(self.titles):
            raise InputError(
                f"The label space “{self.id}” has {len(self.names)} names, {len(self.colours)} colours, "
                f"{len(self.descriptions)} descriptions and {len(self.titles)} titles.",
                "Give one colour and one description for each class, and one title each or none.",
            )
        for colour in self.colours:
            if not _HEX_COLOUR.fullmatch(colour):
                raise InputError(f"“{colour}” is not a colour.", "Write colours like #0072B2.")

    def __len__(self) -> int:
        return len(self.names)

    def index(self, name: str) -> int:
        """Column of the class called `name`."""
        if name not in self.names:
            raise InputError(f"“{name}” is not a class of “{self.id}”.", f"Choose one of: {', '.join(self.names)}.")
        return self.names.index(name)

    def title(self, name: str) -> str:
        """What people read for the class called `name`; a name of other classes stays as it is."""
        return self.titles[self.names.index(name)] if name in self.names else name

    @cached_property
    def codes(self) -> tuple[str, ...]:
        """A few letters per class for maps and legends, so that no class is known by its colour alone.

        Short names as they are, else the shortest beginnings that differ from each other.

        >>> COLON.codes
        ('N', 'Lo', 'H', 'Se', 'C', 'St', 'Mus', 'Ly', 'Muc', 'D', 'F', 'G')
        """
        if max(map(len, self.names)) <= _SHORT:
            return self.names
        lower = [name.lower() for name in self.names]
        return tuple(
            next(
                (name[:n].capitalize() if name.islower() else name[:n])
                for n in range(1, len(name) + 1)
                if n == len(name) or sum(other.startswith(name[:n].lower()) for other in lower) == 1
            )
            for name in self.names
        )

    def legend_text(self, index: int) -> str:
        """Code and title of a class, for the legend of a map that shows the codes.

        >>> TISSUE7.legend_text(2), COLON.legend_text(8)
        ('MUC', 'Muc · mucus')
        """
        code, title = self.codes[index], self.titles[index]
        return title if code == title else f"{code} · {title}"

    def to_dict(self) -> dict[str, Any]:
        """The label space as plain JSON values."""
        values: dict[str, Any] = plain(self)
        return values

    @classmethod
    def from_dict(cls, values: Any) -> LabelSpace:
        """The label space that `to_dict` wrote; unknown, missing and ill-typed entries are refused by name."""
        return validated(cls, values, "The label space")

    @classmethod
    def of(
        cls,
        names: Iterable[str],
        id: str = "custom",  # noqa: A002 - the field is called id
        descriptions: Iterable[str] | None = None,
        source: str = "",
    ) -> LabelSpace:
        """A label space of any classes, in the given order, with colours chosen for them.

        >>> LabelSpace.of(["cat", "dog"]).colours
        ('#E69F00', '#56B4E9')
        """
        names = tuple(names)
        described = names if descriptions is None else tuple(descriptions)
        return cls(id, names, tuple(_colour(i) for i in range(len(names))), described, source)


def as_label_space(given: LabelSpace | Iterable[str]) -> LabelSpace:
    """A label space as it is; names of classes become one.

    >>> as_label_space(["cat", "dog"]).names
    ('cat', 'dog')
    """
    if isinstance(given, LabelSpace):
        return given
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"{given!r} is not a label space.", "Give a LabelSpace, or a list of class names.")
    return LabelSpace.of(given)


def _colour(i: int) -> str:
    """Colour of class i: Okabe-Ito while they last, then hues a golden angle apart (distinct, not ideal)."""
    if i < len(OKABE_ITO):
        return OKABE_ITO[i]
    lightness = (0.35, 0.55, 0.72)[i % 3]
    rgb = colorsys.hls_to_rgb(i * 0.61803398875 % 1.0, lightness, 0.55)
    return "#" + "".join(f"{round(255 * channel):02X}" for channel in rgb)


TISSUE7 = LabelSpace(
    id="tissue7",
    names=("DEB", "LYM", "MUC", "MUS", "NORM", "STR", "TUM"),
    colours=("#E69F00", "#0072B2", "#56B4E9", "#CC79A7", "#009E73", "#F0E442", "#D55E00"),
    descriptions=(
        "Debris: dead cells and necrotic remains.",
        "Lymphocytes: dense crowds of small, dark, round nuclei.",
        "Mucus: pale, stringy secretion with few cells.",
        "Smooth muscle: parallel, wavy pink fibres with elongated nuclei.",
        "Normal colon mucosa: regular round glands with goblet cells.",
        "Cancer-associated stroma: loose connective tissue around a tumour.",
        "Colorectal adenocarcinoma epithelium: crowded, irregular tumour glands.",
    ),
    source="NCT-CRC-HE (Kather, Halama and Marx 2018), Zenodo record 1214456, CC BY 4.0",
)

LESION5 = LabelSpace(
    id="lesion5",
    names=("adenocarcinoma", "healthy", "serrated_adenoma", "tubular_adenoma", "villous_adenoma"),
    colours=("#D55E00", "#009E73", "#CC79A7", "#0072B2", "#E69F00"),
    descriptions=(
        "Adenocarcinoma: malignant glands that invade the wall of the colon.",
        "Healthy mucosa: straight, evenly spaced glands.",
        "Serrated adenoma: glands with a saw-toothed lumen.",
        "Tubular adenoma: crowded tube-shaped glands with dark, elongated nuclei.",
        "Villous adenoma: long finger-like fronds with dark, elongated nuclei.",
    ),
    source="Colorectal lesion tiles of Flagy/Colorectal_Carcinoma_Classifier (GPL-3.0 repository)",
)

COLON = LabelSpace(
    id="colon",
    names=(
        *("normal", "low_grade", "high_grade", "serrated", "carcinoma"),
        *("stroma", "muscle", "lymphocytes", "mucus", "debris", "fat", "glass"),
    ),
    titles=(
        "normal or non-neoplastic mucosa",
        "low-grade neoplasia",
        "high-grade neoplasia",
        "serrated adenoma",
        "adenocarcinoma",
        "stroma",
        "smooth muscle",
        "lymphocytes",
        "mucus",
        "debris",
        "fat",
        "glass without tissue",
    ),
    # Those of tissue7 where the class is the same (on its maps), and five more that are seen on tissue: at least 10.8
    # apart (CIEDE2000) for people with any one form of colour blindness, 20 for others.
    colours=(
        *("#009E73", "#0000BB", "#BB3377", "#00FFFF", "#D55E00"),
        *("#F0E442", "#5B2A00", "#0072B2", "#56B4E9", "#E69F00", "#BBBB99", "#335533"),
    ),
    descriptions=(
        "Normal or non-neoplastic mucosa: regular glands with goblet cells, and polyps without dysplasia.",
        "Low-grade neoplasia: crowded glands with dark, elongated nuclei in one layer at the base.",
        "High-grade neoplasia: irregular glands with round, layered nuclei, not yet invasive.",
        "Serrated adenoma: glands with a saw-toothed lumen.",
        "Adenocarcinoma: crowded, irregular malignant glands that invade the wall of the colon.",
        "Stroma: loose connective tissue, often around a tumour.",
        "Smooth muscle: parallel, wavy pink fibres with elongated nuclei.",
        "Lymphocytes: dense crowds of small, dark, round nuclei.",
        "Mucus: pale, stringy secretion with few cells.",
        "Debris: dead cells, necrosis and blood.",
        "Fat: large empty cells with thin walls.",
        "Glass without tissue: nothing but the slide.",
    ),
    source="Four public sets joined by candidate sets (elimipl.datasets.colon): the most advanced epithelium present; "
    "tissue classes only where there is no epithelium",
)


def label_in(name: str, labels: Sequence[str]) -> str:
    """The one class a path names, nearest folder first; empty where it names none, or several at once.

    >>> label_in("tiles/TUM/0001.png", ["STR", "TUM"]), label_in("str-TUM.png", ["STR", "TUM"])
    ('TUM', '')
    """
    by_words = {_words(label): label for label in labels}
    *folders, file = re.split(r"[/\\]", name)
    for part in (*reversed(folders), file.rpartition(".")[0] or file):
        words = _words(part)
        found = {label for own, label in by_words.items() if own and _contains(words, own)}
        if found:
            return found.pop() if len(found) == 1 else ""
    return ""


def _words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"[^\W\d_]+", text.lower()))


def _contains(words: tuple[str, ...], own: tuple[str, ...]) -> bool:
    return any(words[start : start + len(own)] == own for start in range(len(words) - len(own) + 1))
