"""The Batch page's widgets: files in, a table, its downloads and a way to Explore out."""

from collections.abc import Sequence
from itertools import accumulate

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from bag_generators import InputError
from bag_generators.formats import MOST_BATCH_BYTES, MOST_BATCH_FILES, extensions
from bag_generators.scale import by_hand_only
from bag_generators.uploads import read_upload
from elimipl.labels import LabelSpace
from elimipl.predictor import Predictor
from ui.batch import texts
from ui.batch.kept import Batch, classified, forget_batch, how, kept_batch
from ui.batch.tables import batch_csv, batch_json, batch_table, compared
from ui.frame import choices
from ui.frame import texts as shared
from ui.frame.download import download_button
from ui.frame.handover import open_in_explore
from ui.frame.log import model_name
from ui.frame.page import show_error


def choose_files() -> list[UploadedFile]:
    """The chosen files, as far as they stay within the limits."""
    folder = choices.switch(texts.FOLDER_LABEL, "folder", help=texts.FOLDER_HELP)
    uploads = st.file_uploader(
        texts.UPLOAD_LABEL,
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
    st.caption(texts.answers_from(predictor.card.label_space))
    microns = st.number_input(
        texts.SCALE_LABEL, 0.05, 20.0, None, 0.05, help=texts.SCALE_HELP, key="batch_scale", width=260
    )
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
        st.info(texts.EMPTY, icon=":material/upload_file:")
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
    st.markdown(texts.summary(len(rows), refused, doubtful, unchecked, sum(bool(row.trusted) for row in rows)))
    if not still_chosen:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(texts.KEPT)
            st.button(texts.FORGET, key="forget-batch", on_click=forget_batch, type="tertiary")
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
    columns = {name: st.column_config.Column(title) for name, title in texts.COLUMNS.items()} | {
        "thumbnail": st.column_config.ImageColumn(texts.COLUMNS["thumbnail"], width="small"),
        "probability": st.column_config.ProgressColumn(format="percent", min_value=0, max_value=1),
    }
    event = st.dataframe(
        batch_table(batch.rows, labels),
        hide_index=True,
        key="rows",
        row_height=52,
        on_select="rerun",
        selection_mode="single-row",
        column_config=columns,
        alt=f"What became of {len(batch.rows)} files.",
    )
    rows = event["selection"]["rows"]
    return rows[0] if rows and rows[0] < len(batch.rows) else None


def _offer_explore(batch: Batch, files: list[tuple[str, bytes]], chosen: int | None) -> None:
    usable = chosen is not None and bool(files) and not batch.rows[chosen].refused
    opened = st.button(
        texts.OPEN_LABEL, icon=":material/biotech:", key="open", disabled=not usable, help=texts.OPEN_HELP
    )
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
    open_in_explore(image, texts.opened_title(image.sha256), whole=True)


def _show_comparison(batch: Batch, labels: LabelSpace) -> None:
    found = compared(batch.rows, labels)
    if found is None:
        return
    st.subheader(texts.COMPARISON_HEADING, divider="gray")
    st.markdown(texts.comparison(found.files, found.right, found.trusted, found.trusted_right))
    st.dataframe(found.matrix, width="content", key="confusion", alt=texts.COMPARISON_HEADING)
