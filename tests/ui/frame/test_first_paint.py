"""The page that Streamlit serves, with our style and the request for what draws figures."""

import re
from pathlib import Path

import pytest
from starlette.responses import Response
from streamlit import file_util
from streamlit.web.server.starlette.starlette_static_routes import create_streamlit_static_assets_routes

from tests.support.waiting import awaited
from ui.frame.first_paint import serve_with_style
from ui.frame.style import STYLE

FOLDER = Path(file_util.get_static_dir())


@pytest.fixture
def routes():
    made = create_streamlit_static_assets_routes(None)
    serve_with_style(made)
    return made


def answer(routes, path: str, **headers: str) -> Response:
    """What a browser gets that asks for `path`."""
    sent = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "GET", "path": "/" if path == "." else f"/{path}", "headers": sent}
    return awaited(routes[0].app.get_response(path, scope))


@pytest.mark.parametrize("path", [".", "index.html", "lesson"])
def test_every_page_brings_its_style_and_asks_for_plotly(routes, path):
    html = answer(routes, path).body.decode()
    assert html.count(STYLE) == 1
    assert html.index("</head>") < html.index(STYLE) < html.index("</body>")
    asked = re.search(r'<link rel="modulepreload" crossorigin href="\./(static/js/PlotlyChart\.[^"]+)">', html)
    assert (FOLDER / asked[1]).is_file()


def test_a_browser_that_knows_the_bare_page_gets_ours(routes):
    bare = create_streamlit_static_assets_routes(None)
    known = answer(bare, ".").headers["etag"]
    assert answer(bare, ".", if_none_match=known).status_code == 304
    assert STYLE in answer(routes, ".", if_none_match=known).body.decode()


def test_other_files_stay_as_they_are(routes):
    script = next((FOLDER / "static" / "js").glob("index.*.js")).relative_to(FOLDER).as_posix()
    assert answer(routes, script).path == str(FOLDER / script)
