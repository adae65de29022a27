"""Whether to believe the answer: the checks that failed, each with its reason."""

import streamlit as st

from ui.explore import texts
from ui.explore.analysis import Analysis
from ui.frame.page import escape


def show_checks(analysis: Analysis) -> None:
    """A banner when a check failed; otherwise one quiet line. The result itself is always shown."""
    failed = [item for item in analysis.checks if not item.passed]
    if not failed:
        told = texts.in_scope([item.name for item in analysis.checks])
        st.caption(f":material/check_circle: {told}")
        return
    reasons = "\n".join(f"- {escape(item.reason)}" for item in failed)
    st.warning(f"**{texts.UNRELIABLE}**\n{reasons}", icon=":material/warning:")
