"""The parts of the Doctor page. Nothing that may be broken is imported at the top: it has to work when others don't."""

import tempfile
from pathlib import Path

import streamlit as st

from elimipl.doctor import FAIL, PASS, ROOT, WARN, Check, examine

TITLE = "Doctor"
INTRO = "What this app needs, checked on the machine it runs on. `python -m elimipl doctor` says the same."
AGAIN = "Check again"
WELL = "Everything is as it should be."
BROKEN_FRAME = "Part of the app can't be loaded, so the other pages may not open. The findings say what is missing."
STAY_VALID = 30  # seconds; reading every model anew for each visitor would be a way to keep the server busy
ICONS = {PASS: ":material/check_circle:", WARN: ":material/warning:", FAIL: ":material/error:"}


def start_doctor_page() -> None:
    """The usual frame, or a bare one where the usual can't be imported."""
    try:
        import cv2  # noqa: F401 what the frame sets up on every page
        import torch  # noqa: F401

        from elimipl_app.shell.page import start_page
    except Exception:
        # Whatever broke the import, the findings are what tells a person about it.
        st.set_page_config(page_title=TITLE, layout="wide")
        st.title(TITLE)
        st.error(BROKEN_FRAME, icon=ICONS[FAIL])
    else:
        start_page(TITLE)
    st.markdown(INTRO)


def show_findings() -> None:
    """What is wrong first, each with the way to fix it; what is right below."""
    if st.button(AGAIN, icon=":material/refresh:", key="again"):
        findings.clear()
    with st.spinner("Looking…"):
        found = findings()
    if all(check.status == PASS for check in found):
        st.success(WELL, icon=ICONS[PASS])
    for status, show in ((FAIL, st.error), (WARN, st.warning)):
        for check in found:
            if check.status == status:
                show(f"**{_plain(check.what)}** {_plain(check.fix)}".rstrip(), icon=ICONS[status])
    passed = [f":green[{ICONS[PASS]}] {_plain(check.what)}" for check in found if check.status == PASS]
    st.markdown("  \n".join(passed))


@st.cache_resource(ttl=STAY_VALID, max_entries=1, show_spinner=False)
def findings() -> tuple[Check, ...]:
    """All findings of the doctor, with the machine's folders called by what they are for."""
    return tuple(Check(check.status, _without_paths(check.what), _without_paths(check.fix)) for check in examine())


def _without_paths(text: str) -> str:
    """Visitors need not know where on the machine the app lies."""
    folders = {str(ROOT): "the app's folder", tempfile.gettempdir(): "the folder for temporary files"}
    folders[str(Path.cwd())] = "the working folder"
    for path in sorted(folders, key=len, reverse=True):
        text = text.replace(f"the folder {path}", folders[path]).replace(path, folders[path])
    return text


def _plain(text: str) -> str:
    """Markdown's own signs as themselves (the usual escape lies in a module that may not load here)."""
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>#|~$:" else letter for letter in text)
