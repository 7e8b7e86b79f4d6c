"""A run's transcript: windows of messages joined at both ends, folded entries, and an end that can be followed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Literal

from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from studio_tui.application.models.runs import MessagePage
from studio_tui.tui.keys import bind
from studio_tui.tui.themes import palette
from studio_tui.tui.widgets.columns import StripMaker
from studio_tui.tui.widgets.notice import EMPTY, Notice
from studio_tui.tui.widgets.transcript_entries import Entry, Line, entries_of

_MAX_PAGES: Final = 12
_GUTTER: Final = 2
_WHEEL: Final = 3
Edge = Literal["older", "newer"]


class Transcript(Widget, can_focus=True):
    """Entries of a transcript. The screen feeds it pages; it asks for more near an end and tells when it stops following."""

    DEFAULT_CSS = "Transcript { height: 1fr; background: $ground; }"
    BINDINGS = [
        bind("list.up", "move(-1)", show=False),
        bind("list.down", "move(1)", show=False),
        bind("list.page_up", "page(-1)", show=False),
        bind("list.page_down", "page(1)", show=False),
        bind("list.first", "first", show=False),
        bind("list.last", "last", show=False),
        bind("open", "unfold_one", verb="unfold"),
        bind("unfold", "unfold_all", show=False),
    ]

    class NeedMore(Message):
        """The view is near an end beyond which there are messages; answer with ``add_page`` or ``more_failed``."""

        def __init__(self, sender: Transcript, edge: Edge) -> None:
            super().__init__()
            self.transcript, self.edge = sender, edge

        @property
        def control(self) -> Transcript:
            """The transcript that sent it."""
            return self.transcript

    class WantEdge(NeedMore):
        """The first or last message was asked for and is not here; answer with ``set_page``."""

    class Followed(Message):
        """Following began or ended, or the count of lines below changed."""

    def __init__(self, *, empty: Notice = EMPTY, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._empty = empty
        self._pages: list[MessagePage] = []
        self._entries: list[Entry] = []
        self._heights: list[int] = []
        self._opened: set[str] = set()
        self._all_opened = False
        self._notice: Notice | None = None
        self._top = 0
        self._cursor = 0
        self._newer = False
        self._asked: set[Edge] = set()
        self._painted: dict[int, Strip] = {}
        self._width = 0
        self.following = True

    # --- what is in it ------------------------------------------------------------------------------------------------

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What it holds, oldest first."""
        return tuple(self._entries)

    @property
    def start(self) -> int:
        """Where its first message stands in the stored list."""
        return self._pages[0].start if self._pages else 0

    @property
    def end(self) -> int:
        """Where the message after its last one will stand."""
        return self._pages[-1].end if self._pages else 0

    @property
    def is_empty(self) -> bool:
        """Whether no page was ever given."""
        return not self._pages

    @property
    def has_newer(self) -> bool:
        """Whether messages after its last one were let go or are not read yet."""
        return self._newer

    @property
    def below(self) -> int:
        """Entries below the last line on screen."""
        bottom = self._top + self.size.height
        return len(self._entries) - bisect_right(self._heights, bottom)

    @property
    def current(self) -> Entry | None:
        """The entry under the cursor."""
        return self._entries[self._cursor] if self._entries else None

    # --- filling it ---------------------------------------------------------------------------------------------------

    def set_page(self, page: MessagePage, *, newer: bool = False) -> None:
        """Show this window from now on, at its end (or at its beginning when messages follow it)."""
        self._pages, self._newer = [page], newer
        self._asked.clear()
        self._notice = None
        self._rebuild()
        self.following = not newer
        self._cursor = 0 if newer else max(0, len(self._entries) - 1)
        self._top = 0 if newer else self._last_top
        self._settle()

    def add_page(self, page: MessagePage, edge: Edge) -> None:
        """Join a window at one end. The lines on screen stay where they are, unless the end is followed."""
        self._asked.discard(edge)
        with self._steady():
            if edge == "older":
                self._pages.insert(0, page)
                if len(self._pages) > _MAX_PAGES:
                    self._pages.pop()
                    self._newer, self.following = True, False
            else:
                self._newer = False
                if page.items:
                    self._pages.append(page)
                elif self._pages:
                    self._pages[-1] = self._pages[-1].model_copy(update={"end": page.end, "live": page.live})
                if len(self._pages) > _MAX_PAGES:
                    self._pages.pop(0)
                    self._pages[0] = self._pages[0].model_copy(update={"has_older": True})
                self._merge_small()
            self._rebuild()

    def more_failed(self, edge: Edge) -> None:
        """The page did not come; it is asked for again at the next move."""
        self._asked.discard(edge)

    def say(self, notice: Notice | None) -> None:
        """Show a state in place of the entries."""
        self._notice = notice
        self.refresh()

    def _merge_small(self) -> None:
        """Live messages come one by one: join their small windows, so that the bound counts messages and not arrivals."""
        if len(self._pages) >= 3 and len(self._pages[-1].items) + len(self._pages[-2].items) <= 200:
            last, before = self._pages.pop(), self._pages.pop()
            self._pages.append(before.model_copy(update={"items": before.items + last.items, "end": last.end, "live": last.live}))

    def _rebuild(self) -> None:
        known = {entry.entry_id: entry for entry in self._entries}
        seen: set[str] = set()
        messages = []
        for message in (message for page in self._pages for message in page.items):
            if message.message_id not in seen:
                seen.add(message.message_id)
                messages.append(message)
        self._entries = entries_of(messages, known)
        self._measure()

    def _measure(self) -> None:
        """The line after each entry, from the top of what is loaded."""
        self._width = self.size.width
        total = 0
        heights = []
        for entry in self._entries:
            total += len(self._lines_of(entry))
            heights.append(total)
        self._heights = heights

    def _lines_of(self, entry: Entry) -> Sequence[Line]:
        opened = self._all_opened != (entry.entry_id in self._opened)
        return entry.lines(max(20, self._width - _GUTTER - 1), opened)

    @contextmanager
    def _steady(self) -> Iterator[None]:
        """Keep the first visible entry on its line, and the cursor on its entry; a followed end stays in view."""
        at_end = self.following
        first = bisect_right(self._heights, self._top)
        anchor = self._entries[first].entry_id if first < len(self._entries) else None
        offset = self._top - (self._heights[first - 1] if first else 0)
        cursor = self.current.entry_id if self.current else None
        yield
        places = {entry.entry_id: index for index, entry in enumerate(self._entries)}
        if at_end and self.following:
            self._cursor = max(0, len(self._entries) - 1)
            self._top = self._last_top
        else:
            self._cursor = places.get(cursor or "", min(self._cursor, max(0, len(self._entries) - 1)))
            place = places.get(anchor or "")
            if place is not None:
                self._top = (self._heights[place - 1] if place else 0) + offset
        self._settle()

    # --- drawing ------------------------------------------------------------------------------------------------------

    @property
    def _total(self) -> int:
        return self._heights[-1] if self._heights else 0

    @property
    def _last_top(self) -> int:
        return max(0, self._total - self.size.height)

    def render_line(self, y: int) -> Strip:
        """One line of the widget."""
        strip = self._painted[y] = self._line(y)
        return strip

    def _line(self, y: int) -> Strip:
        maker = StripMaker(palette(self.app.theme), self.size.width, getattr(self.app, "ascii", False))
        if not self._entries:
            notice = self._notice or self._empty
            lines = [[], *notice.lines(self.size.width)]
            return maker.line(lines[y] if y < len(lines) else ())
        at = self._top + y
        index = bisect_right(self._heights, at)
        if index >= len(self._entries):
            return maker.line(())
        line = self._lines_of(self._entries[index])[at - (self._heights[index - 1] if index else 0)]
        picked = index == self._cursor
        bar = (maker.bar if picked else " ", "accent" if self.has_focus else "faint")
        return maker.line([bar, (" ", "ink"), *line])

    def _settle(self) -> None:
        """Bound the view, repaint what differs, and ask for more near an end."""
        self._top = max(0, min(self._top, self._last_top))
        if not self.is_mounted:
            return
        width, height = self.size
        changed = [y for y in range(height) if self._painted.get(y) != self._line(y)]
        if len(changed) > height // 2:
            self.refresh()
        elif changed:
            self.refresh(*(Region(0, y, width, 1) for y in changed))
        self._ask()
        self.post_message(self.Followed())

    def _ask(self) -> None:
        height = self.size.height
        if self._pages and self._top < height and self._pages[0].has_older and "older" not in self._asked:
            self._asked.add("older")
            self.post_message(self.NeedMore(self, "older"))
        if self._newer and self._top + 2 * height > self._total and "newer" not in self._asked:
            self._asked.add("newer")
            self.post_message(self.NeedMore(self, "newer"))

    # --- moving -------------------------------------------------------------------------------------------------------

    def action_move(self, by: int) -> None:
        """To the next or previous entry; an entry taller than the view is scrolled through first."""
        top, height = self._top, self.size.height
        begin = self._heights[self._cursor - 1] if self._cursor else 0
        finish = self._heights[self._cursor] if self._heights else 0
        if by > 0 and finish > top + height:
            self._scroll_lines(top + max(1, height // 2))
        elif by < 0 and begin < top:
            self._scroll_lines(top - max(1, height // 2))
        else:
            self._move_to(self._cursor + by)

    def _move_to(self, index: int) -> None:
        self._cursor = max(0, min(index, len(self._entries) - 1))
        begin = self._heights[self._cursor - 1] if self._cursor else 0
        finish = self._heights[self._cursor] if self._heights else 0
        height = self.size.height
        if begin < self._top:
            self._top = max(begin, finish - height)
        elif finish > self._top + height:
            self._top = min(begin, finish - height) if finish - begin > height else finish - height
        self._follow_if_at_end()

    def _scroll_lines(self, top: int) -> None:
        self._top = max(0, min(top, self._last_top))
        first = bisect_right(self._heights, self._top)
        last = bisect_right(self._heights, self._top + self.size.height - 1)
        self._cursor = max(min(first, len(self._entries) - 1), min(self._cursor, last))
        self._follow_if_at_end()

    def _follow_if_at_end(self) -> None:
        self.following = self._top >= self._last_top and not self._newer and self._cursor >= len(self._entries) - 1
        self._settle()

    def action_page(self, by: int) -> None:
        """One page up or down."""
        step = max(1, self.size.height - 1)
        top = self._top + by * step
        if by > 0 and top >= self._last_top:
            self._cursor = max(0, len(self._entries) - 1)
        self._scroll_lines(top)

    def action_first(self) -> None:
        """To the first message, which may have to be read."""
        if self._pages and self._pages[0].has_older:
            self.post_message(self.WantEdge(self, "older"))
        self._move_to(0)

    def action_last(self) -> None:
        """To the last message, and follow from there."""
        if self._newer:
            self.post_message(self.WantEdge(self, "newer"))
            return
        self._top = self._last_top
        self._move_to(len(self._entries) - 1)

    def action_unfold_one(self) -> None:
        """Open or fold the entry under the cursor."""
        entry = self.current
        if entry is None:
            return
        following, self.following = self.following, False
        with self._steady():
            self._opened ^= {entry.entry_id}
            self._measure()
        self.following = following and self._top >= self._last_top

    def action_unfold_all(self) -> None:
        """Open or fold every entry."""
        self.following = False
        with self._steady():
            self._all_opened = not self._all_opened
            self._opened.clear()
            self._measure()

    # --- events -------------------------------------------------------------------------------------------------------

    def on_mount(self) -> None:
        """Follow the theme."""
        self.app.theme_changed_signal.subscribe(self, lambda _theme: self.refresh())

    def on_resize(self, event: events.Resize) -> None:
        """Wrap again; the first visible entry stays."""
        if self._entries and event.size.width != self._width:
            with self._steady():
                self._measure()
        else:
            if self.following:
                self._top = self._last_top
            self._settle()

    def on_focus(self) -> None:
        """The cursor bar shows the focus."""
        self._settle()

    def on_blur(self) -> None:
        """The cursor bar shows the focus."""
        self._settle()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Three lines."""
        event.stop()
        self._scroll_lines(self._top + _WHEEL)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Three lines."""
        event.stop()
        self._scroll_lines(self._top - _WHEEL)

    def on_click(self, event: events.Click) -> None:
        """Pick an entry; a double click opens it."""
        index = bisect_right(self._heights, self._top + event.y)
        if index < len(self._entries):
            self._cursor = index
            self._follow_if_at_end()
            if event.chain == 2:
                self.action_unfold_one()
