"""Figures that move while a slider is dragged: drawn by the browser from all their positions, which are sent at once.

No message goes to the server during a drag or while Play runs; the place where a person stops is sent once, so that
the address and the page know it.
"""

from elimipl_app.shell.moving.panels import Bars, Columns, Lines, Panel, PicturePanel, Series, Words
from elimipl_app.shell.moving.show import Slider, show

__all__ = ["Bars", "Columns", "Lines", "Panel", "PicturePanel", "Series", "Slider", "Words", "show"]
