"""The documents and the files around the code say what is true."""

import re
import shlex
import tomllib
from importlib.util import find_spec
from itertools import cycle, product
from pathlib import Path

import yaml

from elimipl.datasets.colon import CREDITS
from scripts.update_docs import TABLES, filled, measured

ROOT = Path(__file__).resolve().parents[1]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_tables_are_those_of_cards_and_measurements():
    for name, tables in TABLES.items():
        for mark, table in tables.items():
            assert filled(text_of(name), mark, table()) == text_of(name), (name, mark)


def test_every_test_that_the_threats_name_exists():
    named = set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text_of("docs/security.md")))
    there = set()
    for path in {path for path, _ in named}:
        there |= {(path, name) for name in re.findall(r"^(?:async )?def (\w+)", text_of(path), re.MULTILINE)}
    assert len(named) > 100
    assert named - there == set()


def test_nothing_went_wrong_under_load():
    load = measured("load")
    assert load["errors"] == []
    assert all(row["errors"] == row["foreign_results"] == 0 for row in load["crowds"])


def test_a_typical_change_touches_files_that_exist():
    typical = text_of("CONTRIBUTING.md").partition("## Ten typical changes")[2]
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|([^|]*)\|$", typical, re.MULTILINE)[1:]
    assert len(rows) == 10
    for change, files, held_by in rows:
        named = [name for name in re.findall(r"`([^`]+)`", files) if "/" in name or "." in name]
        assert 1 <= len(named) <= 3, change
        for name in [*named, *re.findall(r"`([^`]+)`", held_by)]:
            assert (ROOT / name.replace("<name>", "sbn" if "generators" in name else "train")).exists(), name


def test_the_version_is_in_the_changelog_and_the_citation():
    project = tomllib.loads(text_of("pyproject.toml"))["project"]
    assert f"## [{project['version']}] - " in text_of("CHANGELOG.md")
    assert (CITATION["version"], CITATION["license"]) == (project["version"], project["license"])


def test_import_paths_that_moved_are_gone_and_the_new_ones_are_there():
    rows = re.findall(r"^\| `([^`]+)`[^|]*\| `([^`]+)` \|$", text_of("CHANGELOG.md"), re.MULTILINE)
    moved = [
        (one, to) for old, new in rows for one, to in zip(expanded(old), cycle(expanded(new)))
    ]  # several may go to one
    assert len(moved) > len(rows) == text_of("CHANGELOG.md").count("\n| `")
    assert [new for _, new in moved if not exists(new)] == []
    assert {old for old, _ in moved if exists(old)} == {"elimipl.training"}  # a module became a package


def expanded(path):
    """`a.{b, c}` as a.b and a.c."""
    parts = [part.split(", ") for part in re.split(r"[{}]", path)]
    return ["".join(choice) for choice in product(*parts)]


def exists(module):
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def test_the_citation_names_every_source_with_its_licence():
    found = {one["title"]: one for one in CITATION["references"] if one["type"] == "data"}
    assert found.keys() == {credit.title for credit in CREDITS.values()}
    for credit in CREDITS.values():
        one = found[credit.title]
        assert (one["authors"][0]["name"], one["url"]) == (credit.authors, credit.where)
        assert one.get("notes", one.get("license", "").replace("CC-BY-4.0", "CC BY 4.0")) == credit.licence


def test_the_hooks_run_what_make_lint_runs_and_download_nothing():
    settings = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    assert [repository["repo"] for repository in settings["repos"]] == ["local"]
    hooks = settings["repos"][0]["hooks"]
    assert all(hook["language"] == "system" for hook in hooks)
    recipe = re.search(r"^lint:.*\n((?:\t.+\n)+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    linted = [line.replace("$(PY)", ".venv/bin/python").removesuffix(" .") for line in recipe[1].split("\n\t")]
    hooked = [" ".join(word for word in shlex.split(hook["entry"]) if word != "--force-exclude") for hook in hooks]
    assert hooked == [line.strip().removesuffix(" .") for line in linted]
