"""What the learner has seen in this visit, counted for tasks such as “try all four”."""

import streamlit as st


def collected(name: str, item: object) -> int:
    """Add to what the learner has seen; how many different things that is now."""
    seen = st.session_state.setdefault(f"seen-{name}", set())
    seen.add(item)
    return len(seen)


def count_collected(name: str) -> int:
    """How many different things the learner has seen."""
    return len(st.session_state.get(f"seen-{name}", ()))
