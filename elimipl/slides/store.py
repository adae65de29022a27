"""Rows of fields that are done, a file each, so that a map that was stopped in any way goes on where it was."""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from bag_generators.errors import InputError
from bag_generators.storage import ForeignFileError, read_tensors, write_tensors, write_whole
from bag_generators.validation import read_json
from elimipl.slides.fields import FieldRow

_KEY = "elimipl_map_row"
_PLAN = "plan.json"


class RowStore:
    """The rows of one map in a folder of their own. Every file is whole or not there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def begin(self, plan: dict[str, Any], content: bytes, resume: bool | None) -> None:
        """Start anew, or go on with the rows of the same slide, model and settings.

        `content` is the plan as JSON. Rows of another plan are refused when they shall be resumed, and removed where
        `resume` is None, which goes on if it can.
        """
        called = "The record of the unfinished map"
        there = self._folder / _PLAN
        if resume is None:
            with suppress(InputError):
                if read_json(there, called) == plan:
                    return
        elif resume and there.exists():
            if read_json(there, called) != plan:
                raise InputError(
                    "The unfinished map in this folder is of another slide, model or version of the program.",
                    "Choose another folder, or start without --resume.",
                )
            return
        self.remove()
        write_whole(there, content, called)

    def save(self, number: int, row: FieldRow, state: np.ndarray) -> None:
        """Keep a finished row of fields with the states of its tiles."""
        tensors = {one.name: getattr(row, one.name) for one in fields(row)}
        write_tensors(self._path(number), {**tensors, "state": state}, _KEY, {"row": number}, "A row of the map")

    def load(self, number: int) -> tuple[FieldRow, np.ndarray] | None:
        """A finished row and its tiles' states; None where it is missing or damaged, and so has to be made."""
        try:
            tensors, described = read_tensors(self._path(number), _KEY, f"row {number}")
            state = tensors.pop("state")
            row = FieldRow(**tensors)
        except (InputError, ForeignFileError, KeyError, TypeError):
            return None
        return (row, state) if described == {"row": number} else None

    def remove(self) -> None:
        """Delete everything."""
        if self._folder.exists():
            shutil.rmtree(self._folder, ignore_errors=True)

    def _path(self, number: int) -> Path:
        return self._folder / f"row-{number:05}.safetensors"
