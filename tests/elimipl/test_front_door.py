"""`from elimipl import …`: every name is there, and none costs anything before it is used."""

import ast
from pathlib import Path

import pytest

import elimipl
from tests.support.programs import ended


def test_every_name_leads_somewhere():
    for name in elimipl.__all__:
        assert name in dir(elimipl)
        thing = getattr(elimipl, name)
        assert thing is getattr(elimipl, name), name
        assert getattr(thing, "__doc__", None), name


def test_type_checkers_see_the_same_names():
    tree = ast.parse(Path(elimipl.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen == set(elimipl.__all__)


def test_a_name_that_is_not_there_is_refused_as_usual():
    with pytest.raises(AttributeError, match="module 'elimipl' has no attribute 'Predicter'"):
        elimipl.Predicter  # noqa: B018
    with pytest.raises(ImportError):
        from elimipl import Predicter  # noqa: F401


def test_opening_the_door_loads_nothing_heavy():
    code = "import elimipl, sys; print([m for m in ('torch', 'sklearn', 'numpy', 'scipy') if m in sys.modules])"
    assert ended("-c", code).stdout == "[]\n"
    code = "import sys; from elimipl import Config, InputError, LOSSES; print('torch' in sys.modules)"
    assert ended("-c", code).stdout == "False\n"
