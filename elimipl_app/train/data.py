"""Which bags to learn from: sets that ship, or a visitor's own."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import streamlit as st

from bag_generators import GENERATORS, InputError
from bag_generators.base.errors import shown_name
from bag_generators.base.formats import MOST_ZIP_CLASSES
from elimipl.datasets.dataset import UNLABELLED, BagDataset
from elimipl.datasets.shipped import bag_sets
from elimipl.datasets.tiles import bags_from_zip
from elimipl_app.inputs import picker
from elimipl_app.server.visitor import KeptForVisitors, visitor
from elimipl_app.shell import choices
from elimipl_app.shell.cached import named_bags
from elimipl_app.shell.markdown import escape
from elimipl_app.train import texts

OWN = "own"
LONGEST_NAME = 40
MOST_CLASSES = 12  # that a sentence names
MOST_UPLOAD_BYTES = 256_000_000  # of all visitors together
_UPLOAD = "train_kept_upload"


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


@dataclass(frozen=True, eq=False)
class Upload:
    """A file as it came, and the data made of it by the generator that was chosen last."""

    name: str
    content: bytes
    made: dict[str, Data] = field(default_factory=dict)


def choose_data() -> Data | None:
    """The bags, before candidate sets are given to them; None while nothing is uploaded."""
    st.subheader("Bags", divider="gray")
    kind = choices.one_of(
        "Learn from",
        list(texts.DATA_TITLES),
        "train_data",
        "phantoms",
        texts.DATA_TITLES.__getitem__,
        label_hidden=True,
    )
    st.caption(texts.DATA_ABOUT[kind])
    if kind == "digits":
        return Data(texts.DATA_NAMES[kind], named_bags(kind), has_own_candidates=False)
    if kind == OWN:
        return _own()
    generator = _choose_generator([name for name in GENERATORS if f"{kind}-{name}" in bag_sets()])
    title = f"{texts.DATA_NAMES[kind]}, {GENERATORS[generator].title}"
    return Data(title, named_bags(f"{kind}-{generator}"), has_own_candidates=False)


def _choose_generator(among: Sequence[str] | None = None) -> str:
    return picker.choose_generator("train_generator", "Bag generator", among)


def _own() -> Data | None:
    """The bags of an upload, which stays for a visitor who looks at another page or loads this one again."""
    given = st.file_uploader(
        "Class folders (.zip) or bags (.safetensors)",
        type=["zip", "safetensors"],
        help=(
            "At most 50 MB and 1,000 pictures; kept in memory for this browser, up to ten "
            "minutes after you last looked at it."
        ),
        key="train_upload",
        on_change=_forget,  # a person chose another file or took this one away; leaving the page changes nothing
    )
    upload = _upload()
    if given is not None and (upload is None or upload.content != given.getvalue()):
        upload = Upload(shown_name(given.name, LONGEST_NAME), given.getvalue())
    if upload is None:
        return None
    if given is None:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"**{escape(upload.name)}** is still here.")
            st.button("Forget it", icon=":material/delete:", key="train_forget", on_click=_forget)
    is_zip = upload.content.startswith(b"PK")
    generator = _choose_generator() if is_zip else ""
    if generator not in upload.made:
        upload.made.clear()
        upload.made[generator] = _from_zip(upload, generator) if is_zip else _from_bag_file(upload)
    st.session_state[_UPLOAD] = upload  # only what could be read
    _kept_uploads().keep(visitor(), upload)
    return upload.made[generator]


def _upload() -> Upload | None:
    """What was uploaded in this visit, or by this browser in the one before."""
    kept: Upload | None = st.session_state.get(_UPLOAD) or _kept_uploads().of(visitor())
    return kept


@st.cache_resource(show_spinner=False)
def _kept_uploads() -> KeptForVisitors[Upload]:
    return KeptForVisitors(MOST_UPLOAD_BYTES, lambda upload: len(upload.content))


def _forget() -> None:
    st.session_state.pop(_UPLOAD, None)
    _kept_uploads().forget(visitor())


def _from_zip(upload: Upload, generator: str) -> Data:
    bar = st.progress(0.0, texts.MAKING_BAGS)

    def show(done: int, total: int) -> None:
        bar.progress(done / total, texts.MAKING_BAGS)

    try:
        made = bags_from_zip(upload.content, generator, show)
    finally:
        bar.empty()
    notes: tuple[str, ...] = ()
    if made.refused:
        name, error = made.refused[0]
        count = len(made.refused)
        notes = (f"{count} picture{'s' if count > 1 else ''} left out. {name}: {error.what}",)
    title = f"{upload.name}, {GENERATORS[generator].title}"
    return Data(title, made.dataset, has_own_candidates=False, notes=notes, qualities=made.qualities)


def _from_bag_file(upload: Upload) -> Data:
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "bags.safetensors"
            path.write_bytes(upload.content)
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
    return Data(upload.name, dataset, bool((dataset.candidates.sum(axis=1) > 1).any()))


def show_data(data: Data) -> None:
    """What was chosen, in a sentence, and what was left out of it."""
    sizes, dataset = data.dataset.sizes, data.dataset
    least, most = sizes.min(), sizes.max()
    titles = dataset.label_space.titles
    named = ", ".join(map(escape, titles[:MOST_CLASSES]))
    more = f" and {len(titles) - MOST_CLASSES} more" if len(titles) > MOST_CLASSES else ""
    st.caption(
        f"{len(dataset)} bags of {least if least == most else f'{least} to {most}'} instances × {dataset.dim} "
        f"features, {len(titles)} classes: {named}{more}."
    )
    for note in data.notes:
        st.warning(escape(note), icon=":material/warning:")
