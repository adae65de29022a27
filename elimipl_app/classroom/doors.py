"""The two doors of the page: join a class with a code, or open one."""

import secrets
from dataclasses import dataclass

import streamlit as st

from bag_generators import InputError
from bag_generators.base.formats import extensions
from bag_generators.tissue.samples import list_samples
from elimipl.candidates.labels import COLON, TISSUE7, LabelSpace
from elimipl.classroom import pictures
from elimipl.classroom.store.records import ClassSession, NewPicture
from elimipl_app.classroom import texts
from elimipl_app.classroom.kept import class_store, network_address
from elimipl_app.server.visitor import visitor
from elimipl_app.shell import address
from elimipl_app.shell.page import show_error

RETURN_KEY = "class_return_key"
_SPACES = {"tissue7": TISSUE7, "colon": COLON}
_SEEDS = 10_000_000  # drawings of classes begin here, beyond those that ship and are measured on
_OWN_LABELS = "adenoma\nadenocarcinoma\nhealthy"


@dataclass(frozen=True)
class Role:
    """What this visitor is here for: a code or key to join with, or the class they opened."""

    joins: str
    teaches: ClassSession | None


def find_role() -> Role:
    """A link that joins makes a student of everybody, even of a teacher who wants to see what students see."""
    joins = address.everything().get("join", "")
    return Role(joins, None if joins else class_store().session_of(visitor()))


def show_start() -> None:
    """Both doors."""
    st.markdown(texts.INTRO)
    if st.session_state.pop("class_deleted", False):
        st.success("The class was deleted: pictures, votes and results.", icon=":material/delete:")
    left, right = st.columns([1, 1.6], gap="large")
    with left:
        st.subheader("Join a class", anchor=False)
        with st.form("join", border=False):
            code = st.text_input(
                "Code on the teacher's screen",
                max_chars=40,
                help="Eight letters and digits, such as ABCD-2345. Scanning the square there does the same.",
                key="class_code",
            )
            if st.form_submit_button("Join", type="primary", icon=":material/login:") and code.strip():
                _join(code)
        st.caption("No account and no name: you are a number to the class. Everything is deleted after a day.")
        with st.expander("Come back from another browser"):
            _show_way_back()
    with right:
        st.subheader("Open a class", anchor=False)
        _show_opening()


def _join(code: str) -> None:
    try:
        session, _ = class_store().join(code, visitor(), network_address())
    except InputError as error:
        show_error(error)
        return
    address.write("join", session.link_key)
    st.rerun()


def _show_way_back() -> None:
    key = st.text_input("Key from the file you saved", max_chars=200, type="password", key="class_key")
    if st.button("Go on as the teacher", key="class_back") and key.strip():
        try:
            class_store().come_back(key, visitor(), network_address())
        except InputError as error:
            show_error(error)
            return
        st.rerun()


def _show_opening() -> None:
    space = st.segmented_control(
        "Labels to choose from",
        list(texts.LABELS_TITLES),
        default="tissue7",
        required=True,
        format_func=texts.LABELS_TITLES.__getitem__,
        key="class_labels",
    )
    st.caption(texts.LABELS_ABOUT)
    own = (
        st.text_area("Labels, one in each line", _OWN_LABELS, max_chars=600, key="class_own") if space == "own" else ""
    )
    drawn = composed = 0
    samples = {sample.id: sample for sample in list_samples() if space == "tissue7" or sample.label is None}
    if space == "tissue7":
        left, right = st.columns(2)
        drawn = left.number_input(
            "Drawings of each tissue",
            0,
            3,
            2,
            help="Phantoms, whose class is known. Other drawings are kept back to measure the models on.",
            key="class_drawn",
        )
        composed = right.number_input(
            "Composed fields of each tissue", 0, 3, 0, help=texts.COMPOSED_HELP, key="class_composed"
        )
    chosen = st.multiselect(
        "Samples", list(samples), format_func=lambda name: samples[name].title, key=f"class_samples_{space}"
    )
    uploads = st.file_uploader(
        "Pictures of your own",
        list(extensions()),
        accept_multiple_files=True,
        help=texts.UPLOAD_HELP,
        key="class_uploads",
    )
    if not st.button("Open the class", type="primary", icon=":material/co_present:", key="class_open"):
        return
    try:
        labels = _SPACES[space] if space in _SPACES else own_labels(own)
        with st.spinner("Preparing the pictures…"):
            made = [
                *_drawn(int(drawn), int(composed)),
                *(pictures.from_sample(samples[name], labels) for name in chosen),
                *(pictures.from_upload(upload.name, upload.getvalue(), labels) for upload in uploads),
            ]
        secrets.SystemRandom().shuffle(made)  # an order would give labels away
        _, key = class_store().open_session(visitor(), labels, made, network_address())
    except InputError as error:
        show_error(error)
        return
    st.session_state[RETURN_KEY] = key
    st.rerun()


def own_labels(text: str) -> LabelSpace:
    """The label space of what a teacher typed, one label in each line."""
    names = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    if any(len(name) > 40 for name in names):
        raise InputError("A label is longer than 40 characters.", "Give short names, which fit on a phone.")
    if len(names) < 3:
        raise InputError(f"There are only {len(names)} labels.", "Give at least three, one in each line.")
    return LabelSpace.of(names, "own", source="labels of a class")


def _drawn(drawn: int, composed: int) -> list[NewPicture]:
    """New drawings for every class, which nobody has seen before."""
    first = _SEEDS + secrets.randbelow(1_000_000_000)
    made = [pictures.drawn(tissue, first + number) for number in range(drawn) for tissue in TISSUE7.names]
    fields = [pictures.composed(tissue, first + number) for number in range(composed) for tissue in TISSUE7.names]
    return made + fields
