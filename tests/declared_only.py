"""Open every page of the installed app and build every file once, with nothing installed but what the wheel asks for.

    python -P tests/declared_only.py '["numpy", …]' FOLDER

Run by tests/test_wheel.py in a process of its own. Distributions that are not in the list can't be imported and have no
metadata, as if they were not installed; FOLDER is empty and may be written to.
"""

import importlib.metadata
import json
import os
import re
import sys
from pathlib import Path

DECLARED, FOLDER = set(json.loads(sys.argv[1])), Path(sys.argv[2])
OWNERS = importlib.metadata.packages_distributions()


def is_hidden(distribution: str) -> bool:
    return re.sub(r"[-_.]+", "-", distribution).lower() not in DECLARED


class Hiding:
    """A finder of modules that finds none of a distribution that nobody declared."""

    def __init__(self, finder) -> None:
        self._finder = finder

    def __getattr__(self, name):
        return getattr(self._finder, name)

    def find_spec(self, fullname, path=None, target=None):
        owners = OWNERS.get(fullname.partition(".")[0], ())
        return None if owners and all(map(is_hidden, owners)) else self._finder.find_spec(fullname, path, target)


def metadata_of(name: str):
    if is_hidden(name):
        raise importlib.metadata.PackageNotFoundError(name)
    return FROM_NAME(name)


FROM_NAME = importlib.metadata.Distribution.from_name
importlib.metadata.Distribution.from_name = metadata_of
sys.meta_path[:] = map(Hiding, sys.meta_path)
assert not {name for name, owners in OWNERS.items() if all(map(is_hidden, owners))} & {*sys.modules}
os.environ |= {"ELIMIPL_CLASSES": str(FOLDER / "classes.sqlite3"), "ELIMIPL_SLIDES": str(FOLDER)}


def open_pages() -> None:
    from streamlit.testing.v1 import AppTest

    from bag_generators.base.assets import INSTALLED, PROJECT

    assert INSTALLED
    pages = sorted((PROJECT / "pages").glob("*.py"))
    assert len(pages) >= 9
    for page in [PROJECT / "app.py", *pages]:
        visit = AppTest.from_file(PROJECT / "app.py", default_timeout=240)
        if page.parent != PROJECT:
            visit.switch_page(f"pages/{page.name}")
        visit.run()
        assert not visit.exception, (page.name, visit.exception)
        assert not visit.error, (page.name, [item.value for item in visit.error])
        sys.stdout.write(f"opened {page.stem}\n")


def build_files() -> None:
    from bag_generators.slide import open_slide
    from bag_generators.slide.demo import pyramid
    from bag_generators.tissue.phantom import draw
    from bag_generators.tissue.samples import list_samples
    from elimipl.answers.predictor import Predictor
    from elimipl.candidates.labels import TISSUE7
    from elimipl.classroom.pictures import drawn
    from elimipl.classroom.store.classes import ClassStore
    from elimipl.classroom.tally import tally
    from elimipl.slides import map_slide
    from elimipl.slides.exports import write_map
    from elimipl_app.batch.rows import batch_csv, batch_json, classify_files
    from elimipl_app.classroom.exports import class_bag_file, class_json, votes_csv
    from elimipl_app.explore.analysis import View, ViewState, analyse
    from elimipl_app.explore.exports import geojson, instances_csv, provenance_json
    from elimipl_app.explore.picture_export import figure_png
    from elimipl_app.explore.report import html_report

    model, sample = Predictor.load("tissue7-row-elimipl"), list_samples()[0]
    analysis = analyse(View(sample.load()), sample, model)
    for build in (figure_png, html_report, instances_csv, provenance_json, geojson):
        assert build(analysis, ViewState())
    rows = classify_files([("a.png", (sample.folder / sample.file).read_bytes())], model, lambda done: None)
    assert batch_csv(rows)
    assert batch_json(rows)

    store = ClassStore(FOLDER / "a class.sqlite3")
    number, _ = store.open_session("teacher", TISSUE7, [drawn("TUM", 1), drawn("LYM", 1)], "here")
    session = store.session_of("teacher")
    assert session is not None
    store.join(session.link_key, "student", "")
    for picture in (1, 2):
        store.vote(number, "student", picture, [0, 1], 0)
    ballots = store.votes(number, "teacher")
    counted = tally(ballots, 2, len(TISSUE7))
    assert votes_csv(session, ballots)
    assert class_json(session, ballots, counted)
    assert class_bag_file(store, session, counted, "row")
    store.close()

    (FOLDER / "slide.tif").write_bytes(pyramid([draw("TUM", 1, 448, coverage=0.9).pixels], 0.5))
    slide = open_slide(FOLDER / "slide.tif")
    write_map(map_slide(slide, model, FOLDER / "rows", workers=1), slide, FOLDER)
    assert {path.name for path in FOLDER.glob("map.*")} >= {"map.json", "map.csv", "map.geojson", "map.png"}
    sys.stdout.write("built files\n")


build_files()
open_pages()
