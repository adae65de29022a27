"""Which bags to learn from: sets that ship, or a visitor's own."""

import hashlib
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from bag_generators import GENERATORS, InputError
from bag_generators.formats import MOST_ZIP_CLASSES
from elimipl.data.shipped import bag_sets, load_bag_set
from elimipl.data.sklearn_digits import build_digits
from elimipl.data.zips import bags_from_zip
from elimipl.dataset import UNLABELLED, BagDataset
from ui.frame import choices, picker
from ui.frame.markdown import escape
from ui.train import texts

OWN = "own"


@dataclass(frozen=True, eq=False)
class Data:
    """Bags and what to call them."""

    title: str
    dataset: BagDataset
    has_own_candidates: bool
    """Whether the file brings candidate sets that say more than the label."""
    notes: tuple[str, ...] = ()
    qualities: tuple[dict[str, float], ...] = ()
    """Pixel measures of the pictures, where they were at hand."""


def choose_data() -> Data | None:
    """The bags, before candidate sets are given to them; None while nothing is uploaded."""
    st.subheader(texts.DATA_HEADING, divider="gray")
    kind = choices.one_of(
        texts.DATA_LABEL,
        list(texts.DATA_TITLES),
        "train_data",
        "phantoms",
        texts.DATA_TITLES.__getitem__,
        label_hidden=True,
    )
    st.caption(texts.DATA_ABOUT[kind])
    if kind == "digits":
        return Data(texts.DATA_TITLES[kind], named_bags(kind), has_own_candidates=False)
    if kind == OWN:
        return _own()
    generator = _choose_generator([name for name in GENERATORS if f"{kind}-{name}" in bag_sets()])
    return Data(texts.DATA_TITLES[kind], named_bags(f"{kind}-{generator}"), has_own_candidates=False)


@st.cache_resource(max_entries=9, show_spinner=False)
def named_bags(name: str) -> BagDataset:
    """A bag set that ships, or “digits”, in which no picture comes twice; read-only, so all visitors share it."""
    return build_digits() if name == "digits" else load_bag_set(name)


def _choose_generator(among: Sequence[str] | None = None) -> str:
    return picker.choose_generator("train_generator", texts.GENERATOR_LABEL, among)


def _own() -> Data | None:
    upload = st.file_uploader(
        texts.UPLOAD_LABEL, type=["zip", "safetensors"], help=texts.UPLOAD_HELP, key="train_upload"
    )
    if upload is None:
        st.session_state.pop("train_own", None)
        return None
    content = upload.getvalue()
    is_zip = content.startswith(b"PK")
    generator = _choose_generator() if is_zip else ""
    # Kept with the visit: what one person uploads is never looked up by another.
    made_of = (hashlib.sha256(content).hexdigest(), generator)
    kept = st.session_state.get("train_own")
    if kept is None or kept[0] != made_of:
        kept = (made_of, _from_zip(content, generator) if is_zip else _from_bag_file(content))
        st.session_state["train_own"] = kept
    return kept[1]


def _from_zip(content: bytes, generator: str) -> Data:
    bar = st.progress(0.0, texts.MAKING_BAGS)

    def show(done: int, total: int) -> None:
        bar.progress(done / total, texts.MAKING_BAGS)

    try:
        made = bags_from_zip(content, generator, show)
    finally:
        bar.empty()
    notes: tuple[str, ...] = ()
    if made.refused:
        name, error = made.refused[0]
        notes = (texts.refused_pictures(len(made.refused), name, error.what),)
    return Data(texts.DATA_TITLES[OWN], made.dataset, has_own_candidates=False, notes=notes, qualities=made.qualities)


def _from_bag_file(content: bytes) -> Data:
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "bags.safetensors"
            path.write_bytes(content)
            dataset = BagDataset.load(path, "the uploaded file")
    except OSError as error:
        raise InputError(
            f"The server has no room to read the uploaded file ({error.strerror}).",
            "Try again later, or tell the person who runs it.",
        ) from None
    if dataset.label_space == UNLABELLED:
        raise InputError("Nobody has labelled the bags in this file.", "Send a zip of class folders instead.")
    if len(dataset.label_space) < 3:
        raise InputError("The bags are of two classes only.", "Candidate sets need at least three to leave one out.")
    if len(dataset.label_space) > MOST_ZIP_CLASSES:
        raise InputError(
            f"The bags are of {len(dataset.label_space):,} classes; this page shows up to {MOST_ZIP_CLASSES}.",
            "Use fewer classes here, or train with “python -m elimipl train”.",
        )
    return Data(texts.DATA_TITLES[OWN], dataset, bool((dataset.candidates.sum(axis=1) > 1).any()))


def show_data(data: Data) -> None:
    """What was chosen, in a sentence, and what was left out of it."""
    sizes, dataset = data.dataset.sizes, data.dataset
    st.caption(texts.bags_summary(len(dataset), sizes.min(), sizes.max(), dataset.dim, dataset.n_classes))
    for note in data.notes:
        st.warning(escape(note), icon=":material/warning:")
