"""A list of records that draws only the lines on screen, and repaints only those that changed.

It holds a window of rows that a screen fills from keyset pages (or a whole short list), and never more than ``max_rows``. The
cursor and the marks are record ids: a refresh moves the rows, never what a key acts on. Nothing here animates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, Generic, Literal

from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from studio_tui.tui.keys import bind
from studio_tui.tui.widgets.columns import Column, Row
from studio_tui.tui.widgets.notice import EMPTY, Notice
from studio_tui.tui.widgets.row_painter import RowPainter
from studio_tui.tui.widgets.window import Window

_WHEEL: Final = 3
Edge = Literal["before", "after"]


class VirtualList(Widget, Generic[Row], can_focus=True):
    """Rows of any record type. A screen gives columns, rows and a ``row_id``; messages carry ids."""

    DEFAULT_CSS = "VirtualList { height: 1fr; background: $ground; }"
    BINDINGS = [
        bind("list.up", "move(-1)", show=False),
        bind("list.down", "move(1)", show=False),
        bind("list.page_up", "page(-1)", show=False),
        bind("list.page_down", "page(1)", show=False),
        bind("list.first", "edge('before')", show=False),
        bind("list.last", "edge('after')", show=False),
        bind("open", "open"),
        bind("mark", "mark", show=False),
    ]

    class _Event(Message):
        """Something happened to a record of this list."""

        def __init__(self, sender: VirtualList[Any], row_id: str | None) -> None:
            super().__init__()
            self.list, self.row_id = sender, row_id

        @property
        def control(self) -> VirtualList[Any]:
            """The list that sent it, for ``@on(..., "#id")``."""
            return self.list

    class Moved(_Event):
        """The cursor is on another record now (``None`` when there is none)."""

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, VirtualList.Moved) and message.control is self.control

    class Opened(_Event):
        """Enter or a double click on a record."""

    class Marked(_Event):
        """The marks changed; see :attr:`VirtualList.marks`."""

    class NeedMore(Message):
        """The cursor or the view is near an end beyond which there are rows; answer with ``add_rows`` or ``more_failed``."""

        def __init__(self, sender: VirtualList[Any], edge: Edge) -> None:
            super().__init__()
            self.list, self.edge = sender, edge

        @property
        def control(self) -> VirtualList[Any]:
            """The list that sent it."""
            return self.list

    class WantEdge(NeedMore):
        """First or last was asked for and those rows are not here; a screen that can load them answers with ``set_rows``."""

    def __init__(
        self,
        columns: Sequence[Column[Row]],
        row_id: Callable[[Row], str],
        *,
        max_rows: int = 1_000,
        empty: Notice = EMPTY,
        on: str = "ground",
        id: str | None = None,  # noqa: A002
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._window: Window[Row] = Window(row_id, max_rows)
        self._painter: RowPainter[Row] = RowPainter(columns, on)
        self._notice: Notice | None = None
        self.empty = empty
        self._stale = False
        self._top = 0
        self._asked: set[Edge] = set()
        self._painted: dict[int, Strip] = {}

    # --- what is in it ------------------------------------------------------------------------------------------------

    @property
    def rows(self) -> Sequence[Row]:
        """The rows that are loaded, in order."""
        return self._window.rows

    @property
    def cursor_id(self) -> str | None:
        """The id of the record under the cursor."""
        return self._window.cursor_id

    @property
    def row(self) -> Row | None:
        """The record under the cursor, as it was last read."""
        return self._window.at_cursor

    @property
    def marks(self) -> frozenset[str]:
        """The ids of marked records, shown or not."""
        return frozenset(self._window.marks)

    @property
    def hidden_marks(self) -> int:
        """How many marked records are not among the loaded rows."""
        return sum(1 for marked in self._window.marks if marked not in self._window)

    @property
    def visible_rows(self) -> Sequence[Row]:
        """The rows that are on screen."""
        return self._window.rows[self._top : self._top + self._lines]

    @property
    def is_at_top(self) -> bool:
        """Whether the first loaded row is on screen and nothing comes before it."""
        return self._top == 0 and not self._window.more["before"]

    @property
    def is_complete(self) -> bool:
        """Whether all rows are here: nothing comes before the first nor after the last."""
        return not any(self._window.more.values())

    # --- filling it ---------------------------------------------------------------------------------------------------

    def set_rows(self, rows: Iterable[Row], *, more_before: bool = False, more_after: bool = False, fresh: bool = False) -> None:
        """Show these rows. Cursor and view stay on the records they were on; a vanished one gives the cursor to its neighbour.

        With ``fresh`` the cursor goes to the first row, as it should for another query.
        """
        with self._changing():
            self._window.replace(rows, before=more_before, after=more_after)
            self._asked.clear()
            if fresh:
                self._window.cursor = 0
            self._notice = None if self._window.rows else self.empty
            self._stale = False

    def add_rows(self, rows: Iterable[Row], edge: Edge, *, more: bool) -> None:
        """Add the next page at one end; beyond ``max_rows`` the other end is let go and counts as "more"."""
        with self._changing():
            self._asked.discard(edge)
            self._window.extend(rows, edge, more=more)

    def more_failed(self, edge: Edge) -> None:
        """The page that was asked for did not come; it is asked for again at the next move."""
        self._asked.discard(edge)

    def update_rows(self, rows: Iterable[Row]) -> None:
        """New versions of records that are already here; others are ignored."""
        with self._changing():
            self._window.update(rows)
            self._stale = False

    def remove_rows(self, ids: Iterable[str]) -> None:
        """Records that are gone; their marks go with them."""
        with self._changing():
            self._window.remove(frozenset(ids))

    def set_columns(self, columns: Sequence[Column[Row]]) -> None:
        """Show other columns."""
        self._painter.columns = tuple(columns)
        self.redraw()

    def move_to(self, row_id: str) -> bool:
        """Put the cursor on a record; ``False`` when it is not loaded."""
        with self._moving():
            return self._window.move_to(row_id)

    def clear_marks(self) -> None:
        """Unmark everything."""
        with self._changing():
            self._window.marks.clear()
        self.post_message(self.Marked(self, self.cursor_id))

    def say(self, notice: Notice | None, *, stale: bool = False) -> None:
        """Show a state: in place of the rows when there are none, else in the last line. ``stale`` dims the rows."""
        self._notice, self._stale = notice, stale
        self.repaint_changed()

    def redraw(self) -> None:
        """Forget every drawn line: columns, width or theme are other ones."""
        self._painter.fit(self.size.width, self.app.theme, ascii_only=getattr(self.app, "ascii", False))
        self.refresh()

    def retick(self) -> None:
        """Time has passed: repaint the lines whose text it changes."""
        self._painter.forget()
        self.repaint_changed()

    # --- drawing ------------------------------------------------------------------------------------------------------

    @property
    def _lines(self) -> int:
        """Lines for rows: all but the titles, and but the last one while a notice stands there."""
        return max(1, self.size.height - 1 - (1 if self._notice and self._window.rows else 0))

    def render_line(self, y: int) -> Strip:
        """One line of the widget."""
        strip = self._painted[y] = self._line(y)
        return strip

    def _line(self, y: int) -> Strip:
        maker = self._painter.maker(self.size.width)
        if maker is None:
            return Strip.blank(self.size.width, self.rich_style)
        window, index = self._window, self._top + y - 1
        rows, more = window.rows, window.more
        if not rows:
            lines = self._notice.lines(self.size.width) if self._notice else []
            return maker.line(lines[y - 1] if 0 < y <= len(lines) else ())
        if y == 0:
            below = self._top + self._lines < len(rows) or more["after"]
            return self._painter.header(maker, above=self._top > 0 or more["before"], below=below)
        if self._notice and y == self.size.height - 1:
            return maker.line(self._notice.one_line())
        if index < len(rows):
            return self._painter.row(maker, window, index, lit=self.has_focus or not self.can_focus, stale=self._stale)
        return maker.line([("   …", "faint")] if index == len(rows) and more["after"] else ())

    def repaint_changed(self) -> None:
        """Repaint the lines that differ from what is on screen, and no other."""
        if not self.is_mounted or self._painter.maker(self.size.width) is None:
            return
        width, height = self.size
        changed = [y for y in range(height) if self._painted.get(y) != self._line(y)]
        if len(changed) > height // 2:
            self.refresh()
        elif changed:
            self.refresh(*(Region(0, y, width, 1) for y in changed))

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Rows come and go: the cursor's record stays on its line of the screen, unless the view is at the very top."""
        before, line, anchored = self.cursor_id, self._window.cursor - self._top, not self.is_at_top
        yield
        if anchored and before is not None:
            self._top = self._window.cursor - line
        self._settle(before, jump=False)

    @contextmanager
    def _moving(self, *, jump: bool = True) -> Iterator[None]:
        """The cursor or the view moves among the same rows."""
        before = self.cursor_id
        yield
        self._settle(before, jump=jump)

    def _settle(self, before: str | None, *, jump: bool) -> None:
        """Bring the cursor into view, repaint what differs, ask for more near an end, and tell when the record is another."""
        self._show_cursor(jump=jump)
        count = len(self._window.rows)
        self._top = max(0, min(self._top, count - self._lines))
        self.repaint_changed()
        self._ask_for_more(count)
        if self.cursor_id != before:
            self.post_message(self.Moved(self, self.cursor_id))

    def _ask_for_more(self, count: int) -> None:
        if not self.is_mounted or not count:
            return
        near: dict[Edge, bool] = {"before": self._top < self._lines, "after": self._top + 2 * self._lines >= count}
        for edge, is_near in near.items():
            if is_near and self._window.more[edge] and edge not in self._asked:
                self._asked.add(edge)
                self.post_message(self.NeedMore(self, edge))

    # --- moving -------------------------------------------------------------------------------------------------------

    def _move_cursor(self, index: int) -> None:
        """Put the cursor on a row by its place now, for keys and mouse; half a page is scrolled when it leaves the view."""
        with self._moving():
            self._window.cursor = index

    def _show_cursor(self, *, jump: bool) -> None:
        """Scroll so that the cursor is in view; with ``jump`` by half a page, so that most moves repaint two lines."""
        cursor, lines = self._window.cursor, self._lines
        if self._top <= cursor < self._top + lines:
            return
        half = lines // 2 if jump else 0
        self._top = cursor - half if cursor < self._top else cursor - lines + 1 + half
        self._top = max(0, min(self._top, len(self._window.rows) - lines))

    def action_move(self, by: int) -> None:
        """Cursor up or down."""
        self._move_cursor(self._window.cursor + by)

    def action_page(self, by: int) -> None:
        """One page up or down; the view goes with the cursor."""
        step = by * max(1, self._lines - 1)
        with self._moving(jump=False):
            self._top += step
            self._window.cursor += step

    def action_edge(self, edge: Edge) -> None:
        """To the first or last row; where that one is not loaded the screen is asked for it."""
        if self._window.more[edge]:
            self.post_message(self.WantEdge(self, edge))
        with self._moving(jump=False):
            self._window.cursor = 0 if edge == "before" else len(self._window.rows) - 1

    def action_open(self) -> None:
        """Open the record under the cursor."""
        if self.cursor_id is not None:
            self.post_message(self.Opened(self, self.cursor_id))

    def action_mark(self) -> None:
        """Mark or unmark the record under the cursor, and go on to the next."""
        if self.cursor_id is None:
            return
        self._window.marks ^= {self.cursor_id}
        self.post_message(self.Marked(self, self.cursor_id))
        self._move_cursor(self._window.cursor + 1)

    # --- events -------------------------------------------------------------------------------------------------------

    def on_mount(self) -> None:
        """Follow the theme."""
        self.app.theme_changed_signal.subscribe(self, lambda _theme: self.redraw())

    def on_resize(self) -> None:
        """The same records in another size."""
        self.redraw()
        with self._changing():
            pass

    def on_focus(self) -> None:
        """The cursor's line shows where keys go."""
        self.repaint_changed()

    def on_blur(self) -> None:
        """The cursor's line shows where keys go."""
        self.repaint_changed()

    def on_click(self, event: events.Click) -> None:
        """A click picks a record, a second one opens it."""
        index = self._top + event.y - 1
        if event.y >= 1 and index < len(self._window.rows) and event.y <= self._lines:
            self._move_cursor(index)
            if event.chain == 2:
                self.action_open()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Three rows on; the cursor never leaves the view."""
        event.stop()
        self._wheel(_WHEEL)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Three rows back."""
        event.stop()
        self._wheel(-_WHEEL)

    def _wheel(self, by: int) -> None:
        window, lines = self._window, self._lines
        top = max(0, min(self._top + by, len(window.rows) - lines))
        with self._moving(jump=False):
            self._top = top
            window.cursor = max(top, min(window.cursor, top + lines - 1))
