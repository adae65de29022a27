"""The files around the code say what is true: changelog, citation, hooks."""

import re
import shlex
import tomllib
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import yaml

from elimipl.data.colon import CREDITS

ROOT = Path(__file__).resolve().parents[1]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def expanded(path: str) -> list[str]:
    """`a.{b, c}` as a.b and a.c."""
    parts = [part.split(", ") for part in re.split(r"[{}]", path)]
    return ["".join(choice) for choice in product(*parts)]


ROWS = re.findall(r"^\| `([^`]+)`[^|]*\| `([^`]+)` \|$", CHANGELOG, re.MULTILINE)
MOVED = [pair for old, new in ROWS for pair in zip(expanded(old), expanded(new), strict=True)]


def exists(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def test_the_changelog_has_the_usual_form():
    assert CHANGELOG.startswith("# Changelog\n")
    first, *versions = re.findall(r"^## (.+)$", CHANGELOG, re.MULTILINE)
    assert first == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}", version) for version in versions)
    assert set(re.findall(r"^### (.+)$", CHANGELOG, re.MULTILINE)) <= KINDS | {"New import paths"}


def test_the_version_is_in_the_changelog_and_the_citation():
    assert f"## [{PROJECT['version']}] - " in CHANGELOG
    assert CITATION["version"] == PROJECT["version"]
    assert CITATION["license"] == PROJECT["license"]


def test_import_paths_that_moved_are_gone_and_the_new_ones_are_there():
    assert [new for _, new in MOVED if not exists(new)] == []
    assert {old for old, _ in MOVED if exists(old)} == {"elimipl.training"}  # a module became a package


def test_the_table_of_import_paths_is_read_as_a_whole():
    assert len(ROWS) == CHANGELOG.count("\n| `")
    assert len(MOVED) > len(ROWS)


def test_the_citation_names_the_paper_and_the_authors():
    assert CITATION["cff-version"] == "1.2.0"
    assert CITATION["type"] == "software"
    assert CITATION["title"]
    assert CITATION["message"]
    (author,) = CITATION["authors"]
    assert author["name"] in (ROOT / "LICENSE").read_text(encoding="utf-8")
    paper, *_ = CITATION["references"]
    assert paper["title"] == "Exploiting Conjugate Label Information for Multi-Instance Partial-Label Learning"
    assert [f"{person['given-names']} {person['family-names']}" for person in paper["authors"]] == [
        "Wei Tang",
        "Weijia Zhang",
        "Min-Ling Zhang",
    ]
    assert paper["year"] == 2024


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
