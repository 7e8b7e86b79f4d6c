"""What the short lists have in common: a filter line, the list, and a preview of the record under the cursor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Generic, TypeVar

from textual import events, on
from textual.app import ComposeResult

from studio_tui.tui.keys import bind
from studio_tui.tui.screens.base import StudioScreen
from studio_tui.tui.statuses import Span
from studio_tui.tui.widgets.columns import Column
from studio_tui.tui.widgets.filter_line import FilterLine
from studio_tui.tui.widgets.notice import Notice
from studio_tui.tui.widgets.panes import LinesPane
from studio_tui.tui.widgets.virtual_list import VirtualList

Row = TypeVar("Row")


class BrowseScreen(StudioScreen, Generic[Row]):
    """A list that is read whole (a few thousand records at most), narrowed here by plain text.

    A subclass names columns and ids, says which text a record is found by, and draws its preview.
    """

    LIST: ClassVar[str]
    """The id of the list, which is also the name of its reads."""
    NOUN: ClassVar[tuple[str, str]]
    """One and many of what is listed."""
    PREVIEW: ClassVar[int] = 7
    """Lines of the preview where there is room for it."""
    DEFAULT_CSS = """
    BrowseScreen LinesPane#preview { border-top: solid $line; }
    """
    BINDINGS = [bind("filter", "filter"), bind("copy", "copy", show=False)]

    def __init__(self) -> None:
        super().__init__()
        self._all: Sequence[Row] = ()

    def columns(self) -> Sequence[Column[Row]]:
        """The columns of the list."""
        raise NotImplementedError

    def row_id(self, row: Row) -> str:
        """What names a record."""
        raise NotImplementedError

    def found_by(self, row: Row) -> str:
        """The text in which a filter is looked for."""
        raise NotImplementedError

    def preview(self, row: Row, width: int) -> Sequence[Sequence[Span]]:
        """A few lines about the record under the cursor."""
        raise NotImplementedError

    def nothing(self) -> Notice:
        """Why the list is empty when nothing narrows it, and which key helps."""
        raise NotImplementedError

    def body(self) -> ComposeResult:
        """Filter, list, preview."""
        yield FilterLine("type to narrow")
        yield VirtualList(self.columns(), self.row_id, id=self.LIST)
        yield LinesPane(id="preview")

    # --- rows ---------------------------------------------------------------------------------------------------------

    @property
    def list(self) -> VirtualList[Row]:
        """The list."""
        return self.query_one(f"#{self.LIST}", VirtualList)

    def show_all(self, rows: Sequence[Row]) -> None:
        """Show what was read."""
        self._all = rows
        self._narrow(fresh=False)

    def _narrow(self, *, fresh: bool) -> None:
        needle = self.query_one(FilterLine).text.lower()
        rows = [row for row in self._all if needle in self.found_by(row).lower()] if needle else self._all
        shown = self.list
        shown.empty = (
            Notice("no match", ("nothing here holds that text",), (("esc", "clear the filter"),)) if needle else self.nothing()
        )
        shown.set_rows(rows, fresh=fresh)
        one, many = self.NOUN
        total = f"{len(self._all)} {one if len(self._all) == 1 else many}"
        self.query_one(FilterLine).note([(f"{len(rows)} of {total}" if needle else total, "faint"), *self.summary(rows)])
        self._draw_preview()

    def summary(self, rows: Sequence[Row]) -> Sequence[Span]:
        """What is said beside the count."""
        return ()

    def _draw_preview(self) -> None:
        pane, row = self.query_one("#preview", LinesPane), self.list.row
        pane.show(self.preview(row, self.size.width) if row is not None else ())

    # --- events -------------------------------------------------------------------------------------------------------

    def on_resize(self, event: events.Resize) -> None:
        """The preview gives way first."""
        preview = self.query_one("#preview", LinesPane)
        preview.display = event.size.height >= 20
        preview.styles.height = self.PREVIEW + 1 if event.size.height >= 30 else min(self.PREVIEW, 5) + 1
        self.query_one(FilterLine).styles.margin = (1, 0) if event.size.height >= 20 else (0, 0)
        self._draw_preview()

    @on(FilterLine.Changed)
    def _filter_changed(self) -> None:
        self._narrow(fresh=True)

    @on(FilterLine.Left)
    def _filter_left(self) -> None:
        self.list.focus()

    @on(VirtualList.Moved)
    def _moved(self) -> None:
        self._draw_preview()

    def action_filter(self) -> None:
        """Narrow the list."""
        self.query_one(FilterLine).edit()

    def action_back(self) -> None:
        """Clear the filter first, then go up."""
        line = self.query_one(FilterLine)
        if line.text:
            line.clear()
        else:
            super().action_back()

    def action_copy(self) -> None:
        """Copy what names the record under the cursor."""
        row = self.list.row
        if row is not None:
            self.studio_app.copy(self.row_id(row))


AnyBrowse = BrowseScreen[Any]
