"""The Batch page's widgets: files in, a table and its downloads out."""

from itertools import accumulate

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from bag_generators.formats import MOST_BATCH_BYTES, MOST_BATCH_FILES, extensions
from elimipl.predictor import Predictor
from ui.batch import texts
from ui.batch.rows import BatchRow, batch_csv, batch_json, batch_table, classify_files
from ui.frame import texts as shared
from ui.frame.download import download_button
from ui.frame.log import model_name


def choose_files() -> list[UploadedFile]:
    """The chosen files, as far as they stay within the limits."""
    uploads = st.file_uploader(
        texts.UPLOAD_LABEL,
        type=list(extensions()),
        accept_multiple_files=True,
        help=shared.UPLOAD_HELP,
        key="batch",
    )
    if not uploads:
        st.info(texts.EMPTY, icon=":material/upload_file:")
    sizes = accumulate(upload.size for upload in uploads[:MOST_BATCH_FILES])
    within = sum(size <= MOST_BATCH_BYTES for size in sizes)
    if within < len(uploads):
        st.warning(
            f"Only the first {within} of {len(uploads)} files are classified: at most {MOST_BATCH_FILES} files and "
            f"{MOST_BATCH_BYTES // 2**20} MB in all.",
            icon=":material/warning:",
        )
    return uploads[:within]


def show_rows(files: list[UploadedFile], predictor: Predictor) -> None:
    """Classify (once per set of files and model) and show what became of each."""
    rows = _classified(files, predictor)
    refused = sum(bool(row.refused) for row in rows)
    doubtful = sum(row.in_scope is False for row in rows)
    unchecked = sum(row.in_scope is None and not row.refused for row in rows)
    st.markdown(texts.summary(len(rows), refused, doubtful, unchecked))
    st.dataframe(
        batch_table(rows),
        hide_index=True,
        key="rows",
        column_config={"probability": st.column_config.ProgressColumn(format="percent", min_value=0, max_value=1)},
        alt=f"What became of {len(rows)} files.",
    )
    with st.container(horizontal=True):
        facts = model_name(predictor.card)
        download_button("CSV", lambda: batch_csv(rows), "elimipl-batch.csv", "text/csv", facts)
        download_button("JSON", lambda: batch_json(rows), "elimipl-batch.json", "application/json", facts)


def _classified(files: list[UploadedFile], predictor: Predictor) -> list[BatchRow]:
    made_of = (predictor.card.sha256, *(file.file_id for file in files))
    kept = st.session_state.get("batch_rows")
    if kept is None or kept[0] != made_of:
        bar = st.progress(0.0, text=shared.CLASSIFYING)
        rows = classify_files(
            [(file.name, file.getvalue()) for file in files],
            predictor,
            lambda done: bar.progress(done / len(files), text=f"{done} of {len(files)} files"),
        )
        bar.empty()
        kept = (made_of, rows)
        st.session_state["batch_rows"] = kept
    return kept[1]
