"""Whether to believe the answer: the checks that failed, each with its reason."""

import streamlit as st

from ui.explore import texts
from ui.explore.analysis import Analysis
from ui.frame.markdown import escape


def show_checks(analysis: Analysis) -> None:
    """A banner when a check failed; otherwise one line on what was checked. The result itself is always shown."""
    verdict = analysis.verdict
    if verdict.failed:
        reasons = "\n".join(f"- {escape(item.reason)}" for item in verdict.failed)
        st.warning(f"**{texts.UNRELIABLE}**\n{reasons}", icon=":material/warning:")
        return
    icon = ":material/check_circle:" if verdict.in_scope else ":material/help:"
    st.caption(f"{icon} {texts.scope_sentence(verdict)}")
