"""Whether a visitor is still there, asked from a worker's thread."""

from collections.abc import Callable

from streamlit.runtime import exists, get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx


def visitor_check() -> Callable[[], bool]:
    """A question that any thread may ask: is the tab this page was drawn in still connected?

    Hidden tabs stay connected, closed ones don't. A heartbeat from the page would not do: browsers let the
    timers of hidden tabs sleep.
    """
    context = get_script_run_ctx()
    if context is None or not exists():
        return lambda: True
    runtime, session = get_instance(), context.session_id
    return lambda: bool(runtime.is_active_session(session))
