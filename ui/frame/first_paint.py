"""What a browser gets before Streamlit's own program runs in it: our style, and the request for what draws figures.

A style that a page sends takes effect late, for Streamlit first loads the code that can apply it, and everything drawn
by then moves. Plotly, the largest piece of code, would be asked for only when the first figure has arrived. So both are
written into the page that Streamlit serves.
"""

from pathlib import Path
from typing import Any

from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import BaseRoute
from starlette.staticfiles import StaticFiles
from streamlit import file_util

from ui.frame.internals import inner, refused
from ui.frame.style import STYLE

FIGURES = "PlotlyChart.*.js"
INDEX = "index.html"
NOT_MODIFIED = 304


def serve_with_style(routes: list[BaseRoute]) -> None:
    """Have the server of these routes put the style into its page."""
    apps: list[Any] = [getattr(route, "app", None) for route in routes]
    served = [app for app in apps if isinstance(app, StaticFiles) and app.directory == file_util.get_static_dir()]
    if not served:
        raise refused("the server has no route to its own page")
    for static in served:
        _wrap(static)


def page_html(folder: Path) -> str:
    """Streamlit's page of this folder with our additions.

    The style stands at the end, where it goes before the styles that Streamlit puts into the head.
    """
    plain = (folder / INDEX).read_text(encoding="utf-8")
    code = sorted((folder / "static" / "js").glob(FIGURES))
    asked = "".join(
        f'<link rel="modulepreload" crossorigin href="./{path.relative_to(folder).as_posix()}">' for path in code
    )
    return plain.replace("</head>", f"{asked}</head>", 1).replace("</body>", f"{STYLE}</body>", 1)


def _wrap(static: Any) -> None:
    answer = inner(static, "get_response")
    html = page_html(Path(static.directory))

    async def get_response(path: str, scope: Any) -> Response:
        response: Response = await answer(path, scope)
        # The page answers all unknown paths; a browser that has Streamlit's own one would hear that it is unchanged.
        is_page = isinstance(response, FileResponse) and Path(response.path).name == INDEX
        is_page |= path in (".", INDEX) and response.status_code == NOT_MODIFIED
        return HTMLResponse(html, headers={"Cache-Control": "no-cache"}) if is_page else response

    static.get_response = get_response
