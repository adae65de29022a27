"""The Batch page's widgets: files in, a table, its downloads and a way to Explore out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from bag_generators import InputError
from bag_generators.base.formats import MOST_BATCH_BYTES, MOST_BATCH_FILES, extensions
from bag_generators.scale import by_hand_only
from elimipl.answers.predictor import Predictor
from elimipl.candidates.labels import LabelSpace
from elimipl_app.batch.rows import BatchRow, Comparison, batch_csv, batch_json, batch_table, classify_files, compared
from elimipl_app.server.log import model_name
from elimipl_app.server.pixels import read_upload
from elimipl_app.shell import choices
from elimipl_app.shell import texts as shared
from elimipl_app.shell.download import download_button
from elimipl_app.shell.handover import open_in_explore
from elimipl_app.shell.markdown import escape
from elimipl_app.shell.page import show_error
from elimipl_app.shell.texts import EXPECTED_SCALE

INTRO = (
    "Classify many pictures at once. Every file gets a row: an answer, or the reason why there is none. "
    f"{EXPECTED_SCALE} The whole picture is read, as “elimipl predict” does."
)
FOLDER_HELP = "All pictures in a folder and the folders inside it. Folders named after classes are compared with."
SCALE_LABEL = "µm per pixel of all files"
SCALE_HELP = "Leave it empty to take what each file says, else what its nuclei tell, else 0.5; the table says which."
OPEN_HELP = "Choose a row by the box at its left end. Explore then shows the same answer with its map."
COLUMNS = {
    "thumbnail": "picture",
    "true_label": "label by name",
    "label_set": "possible at 90 %",
    "scale": "µm per px",
    "why": "notes, and what speaks against it",
}
WIDTHS = {
    "thumbnail": 64,
    "file": 120,
    "true_label": 100,
    "answer": 150,
    "probability": 84,
    "label_set": 130,
    "scale": 90,
    "why": 330,
}
"""Of the columns in screen px; together as wide as the page of a small laptop, so that none is cut."""
COMPARISON_HEADING = "Answers against the labels in the names"


def summary(files: int, refused: int, doubtful: int, unchecked: int = 0, trusted: int = 0) -> str:
    """What became of the files, in a sentence."""
    summary = f"**{files - refused} of {files}** files classified, {trusted} of them with every check passed"
    summary += f", {doubtful} outside what the model knows" if doubtful else ""
    summary += f", {unchecked} not checked for that" if unchecked else ""
    return summary + (f"; {refused} refused, with the reason in the table." if refused else ".")


def comparison(found: Comparison) -> str:
    """How often the answers agree with the names, all of them and those with every check passed."""
    sentence = f"The names of {found.files} files carry a label. "
    if not found.answered:
        return f"{sentence}None of them got an answer."
    share = found.right / found.answered
    sentence += f"{found.answered} got an answer: **{found.right}** agree with the name ({share:.0%})."
    if unanswered := found.files - found.answered:
        sentence += f" {unanswered} got none, which counts as neither right nor wrong."
    if found.trusted:
        share = found.trusted_right / found.trusted
        sentence += f" Of the {found.trusted} with every check passed, {found.trusted_right} agree ({share:.0%})."
    return f"{sentence} Rows are the labels in the names, columns the answers."


MOST_BYTES = 64_000_000
"""Of files; a larger batch keeps its rows only, and its files as long as they are chosen on the page."""
_KEPT = "batch_kept"


@dataclass(frozen=True, eq=False)
class Batch:
    """What was classified, by which model, and the files by the number of their row, as far as they are kept."""

    how: tuple[str, ...]
    """The model and the scale."""
    ids: tuple[str, ...]
    """Of the files."""
    files: tuple[tuple[str, bytes], ...]
    rows: tuple[BatchRow, ...]


def how(predictor: Predictor, microns_per_pixel: float | None) -> tuple[str, ...]:
    """What tells one way of classifying files from another."""
    return (predictor.card.fingerprint, str(microns_per_pixel))


def kept_batch() -> Batch | None:
    """The batch of this visit."""
    kept: Batch | None = st.session_state.get(_KEPT)
    return kept


def classified(
    ids: Sequence[str],
    files: Sequence[tuple[str, bytes]],
    predictor: Predictor,
    microns_per_pixel: float | None,
    progress: Callable[[int], object],
) -> Batch:
    """The batch of these files, model and scale, made once; `ids` tell one choice of files from another."""
    kept, wanted = kept_batch(), (how(predictor, microns_per_pixel), tuple(ids))
    if kept is None or (kept.how, kept.ids) != wanted:
        rows = classify_files(files, predictor, progress, microns_per_pixel)
        few = sum(len(data) for _, data in files) <= MOST_BYTES
        kept = Batch(*wanted, tuple(files) if few else (), tuple(rows))
        st.session_state[_KEPT] = kept
    return kept


def choose_files() -> list[UploadedFile]:
    """The chosen files, as far as they stay within the limits."""
    folder = choices.switch("Choose a folder", "folder", help=FOLDER_HELP)
    uploads = st.file_uploader(
        "Pictures",
        type=list(extensions()),
        accept_multiple_files="directory" if folder else True,
        help=shared.UPLOAD_HELP,
        key="batch-folder" if folder else "batch",
    )
    sizes = accumulate(upload.size for upload in uploads[:MOST_BATCH_FILES])
    within = sum(size <= MOST_BATCH_BYTES for size in sizes)
    if within < len(uploads):
        st.warning(
            f"Only the first {within} of {len(uploads)} files are classified: at most {MOST_BATCH_FILES} files and "
            f"{MOST_BATCH_BYTES // 2**20} MB in all.",
            icon=":material/warning:",
        )
    return uploads[:within]


def show_batch(uploads: Sequence[UploadedFile], predictor: Predictor) -> None:
    """Classify once per set of files, model and scale, and show what became of each; without files, of those before."""
    titles = predictor.card.label_space.titles
    st.caption(
        f"The model chosen in the sidebar answers with one of {len(titles)} classes ({escape(', '.join(titles))}) or "
        "with none of them. Other label spaces are there, too."
    )
    microns = st.number_input(SCALE_LABEL, 0.05, 20.0, None, 0.05, help=SCALE_HELP, key="batch_scale", width=260)
    kept = kept_batch()
    if uploads:
        files = [(upload.name, upload.getvalue()) for upload in uploads]
        batch = _with_progress([upload.file_id for upload in uploads], files, predictor, microns)
    elif kept is not None and kept.files and kept.how != how(predictor, microns):
        files = list(kept.files)
        batch = _with_progress(kept.ids, files, predictor, microns)
    elif kept is not None:
        batch, files = kept, list(kept.files)
    else:
        st.info("Choose one or more pictures to begin.", icon=":material/upload_file:")
        return
    _show_rows(batch, files, predictor, still_chosen=bool(uploads))


def _with_progress(
    ids: Sequence[str], files: list[tuple[str, bytes]], predictor: Predictor, microns: float | None
) -> Batch:
    bar = st.progress(0.0, text=shared.CLASSIFYING)
    batch = classified(
        ids,
        files,
        predictor,
        microns,
        lambda done: bar.progress(done / len(files), text=f"{done} of {len(files)} files"),
    )
    bar.empty()
    return batch


def _show_rows(batch: Batch, files: list[tuple[str, bytes]], predictor: Predictor, still_chosen: bool) -> None:
    rows = batch.rows
    refused = sum(bool(row.refused) for row in rows)
    doubtful = sum(row.in_scope is False for row in rows)
    unchecked = sum(row.in_scope is None and not row.refused for row in rows)
    st.markdown(summary(len(rows), refused, doubtful, unchecked, sum(bool(row.trusted) for row in rows)))
    if not still_chosen:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption("The files of this visit, classified before.")
            st.button(
                "Forget them", key="forget-batch", on_click=st.session_state.pop, args=(_KEPT, None), type="tertiary"
            )
    labels = predictor.card.label_space
    chosen = _show_table(batch, labels)
    with st.container(horizontal=True):
        _offer_explore(batch, files, chosen)
        facts = model_name(predictor.card)
        download_button("CSV", lambda: batch_csv(rows), "elimipl-batch.csv", "text/csv", facts)
        download_button("JSON", lambda: batch_json(rows), "elimipl-batch.json", "application/json", facts)
    _show_comparison(batch, labels)


def _show_table(batch: Batch, labels: LabelSpace) -> int | None:
    """The table; the number of the row that a person chose."""
    columns = {name: st.column_config.Column(COLUMNS.get(name), width=width) for name, width in WIDTHS.items()} | {
        "thumbnail": st.column_config.ImageColumn(COLUMNS["thumbnail"], width=WIDTHS["thumbnail"]),
        "probability": st.column_config.NumberColumn(format="percent", width=WIDTHS["probability"]),
    }
    event = st.dataframe(
        batch_table(batch.rows, labels),
        hide_index=True,
        key="rows",
        row_height=78,
        on_select="rerun",
        selection_mode="single-row",
        column_config=columns,
        alt=f"What became of {len(batch.rows)} files.",
    )
    rows = event["selection"]["rows"]
    return rows[0] if rows and rows[0] < len(batch.rows) else None


def _offer_explore(batch: Batch, files: list[tuple[str, bytes]], chosen: int | None) -> None:
    usable = chosen is not None and bool(files) and not batch.rows[chosen].refused
    opened = st.button("Open in Explore", icon=":material/biotech:", key="open", disabled=not usable, help=OPEN_HELP)
    if not opened or chosen is None or not usable:
        return
    try:
        image = read_upload(files[chosen][1], batch.rows[chosen].sha256)
    except InputError as error:  # it was read once, but the computer may have run out of memory since
        show_error(error)
        return
    row = batch.rows[chosen]
    if row.scale_origin == "by hand" and row.microns_per_pixel is not None:
        image = by_hand_only(row.microns_per_pixel).apply_to(image)
    open_in_explore(image, f"From Batch ({image.sha256[:8]})", whole=True)  # never the name of its file


def _show_comparison(batch: Batch, labels: LabelSpace) -> None:
    found = compared(batch.rows, labels)
    if found is None:
        return
    st.subheader(COMPARISON_HEADING, divider="gray")
    st.markdown(comparison(found))
    st.dataframe(found.matrix, width="content", key="confusion", alt=COMPARISON_HEADING)
