"""Draws rows once: the strips of rows that did not change are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Generic

from textual.strip import Strip

from studio_tui.tui.themes import palette
from studio_tui.tui.widgets.columns import Column, Placed, Row, RowLook, StripMaker, place
from studio_tui.tui.widgets.window import Window

_KEPT: Final = 512
"""Strips that are kept: some screens of rows, each perhaps picked and not."""


class RowPainter(Generic[Row]):
    """Strips of a list's rows for one width and one theme; :meth:`fit` begins anew."""

    def __init__(self, columns: Sequence[Column[Row]], on: str) -> None:
        self.columns = tuple(columns)
        self._on = on
        self._ascii = False
        self._placed: tuple[Placed[Row], ...] = ()
        self._maker: StripMaker | None = None
        self._strips: dict[tuple[str, RowLook], tuple[Row, Strip]] = {}

    def fit(self, width: int, theme: str, *, ascii_only: bool) -> None:
        """Draw for this width and theme from now on."""
        self._ascii = ascii_only
        self._maker = StripMaker(palette(theme), width, ascii_only, self._on)
        self._placed = place(self.columns, width)
        self.forget()

    def forget(self) -> None:
        """What rows say has changed though the rows have not: time has passed."""
        self._strips.clear()

    def maker(self, width: int) -> StripMaker | None:
        """What makes other lines of this width; ``None`` before the first :meth:`fit`, and until the next after a resize."""
        return self._maker if self._maker is not None and self._maker.width == width else None

    def row(self, maker: StripMaker, window: Window[Row], index: int, *, lit: bool, stale: bool) -> Strip:
        """One row of the window."""
        row, row_id = window.rows[index], window.ids[index]
        shown = RowLook(index == window.cursor, lit, row_id in window.marks, stale)
        kept = self._strips.get((row_id, shown))
        if kept is not None and kept[0] is row:
            return kept[1]
        strip = maker.row(self._placed, row, shown)
        if len(self._strips) > _KEPT:
            self._strips.clear()
        self._strips[row_id, shown] = (row, strip)
        return strip

    def header(self, maker: StripMaker, *, above: bool, below: bool) -> Strip:
        """The titles, and arrows that say where there are more rows."""
        up, down = ("^", "v") if self._ascii else ("↑", "↓")
        arrows = (up if above else " ") + (down if below else " ")
        return maker.header(self._placed, arrows if arrows.strip() else "")
