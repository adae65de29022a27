"""An upload is shown even when the run that receives it is broken off for a newer one."""

import io
from unittest.mock import patch

import pytest
from PIL import Image

from bag_generators.tissue import phantom
from elimipl_app.inputs import gallery, picture


class BrokenOffError(Exception):
    """Stands for what Streamlit raises at a touch of the state when a newer run waits."""


class State(dict):
    """A session state that breaks off the run at its n-th change."""

    changes_left: int | None = None

    def __setitem__(self, key, value):
        if self.changes_left is not None:
            if self.changes_left == 0:
                self.changes_left = None
                raise BrokenOffError
            self.changes_left -= 1
        super().__setitem__(key, value)


@pytest.mark.parametrize("changes", range(3))
def test_a_run_that_is_broken_off_loses_no_upload(changes):
    file = io.BytesIO()
    Image.fromarray(phantom.draw("STR", seed=9).pixels).save(file, "PNG")
    state = State(kept_pictures={})
    with patch.object(picture.st, "session_state", state), patch.object(gallery.st, "session_state", state):
        state.changes_left = changes
        with pytest.raises(BrokenOffError):
            picture._receive("first", file)
        picture._receive("first", file)
        assert gallery.shown_kept() is not None
