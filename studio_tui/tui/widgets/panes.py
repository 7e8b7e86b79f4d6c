"""Panes that are drawn from spans, line by line."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from studio_tui.tui.statuses import Span
from studio_tui.tui.themes import palette
from studio_tui.tui.widgets.columns import StripMaker
from studio_tui.tui.widgets.notice import Notice


class LinesPane(Widget):
    """Lines of spans, one below the other, each cut at the right edge. Only lines that changed are repainted."""

    DEFAULT_CSS = "LinesPane { height: 1fr; background: $ground; }"

    def __init__(self, *, id: str | None = None, classes: str | None = None, on: str = "ground") -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._lines: tuple[tuple[Span, ...], ...] = ()
        self._on = on
        self._width = 0

    class Widened(Message):
        """The pane has another width: words that are broken to it are broken anew."""

    def on_resize(self, event: events.Resize) -> None:
        """Tell of another width."""
        if event.size.width != self._width:
            self._width = event.size.width
            self.post_message(self.Widened())

    @property
    def lines(self) -> tuple[tuple[Span, ...], ...]:
        """What it shows."""
        return self._lines

    def show(self, lines: Sequence[Sequence[Span]]) -> None:
        """Show these lines from now on."""
        new = tuple(tuple(line) for line in lines)
        old, self._lines = self._lines, new
        if not self.is_attached or old == new:
            return
        if len(old) != len(new) and self.styles.is_auto_height:
            self.refresh(layout=True)
            return
        width = self.size.width
        changed = [y for y in range(max(len(old), len(new))) if old[y : y + 1] != new[y : y + 1]]
        self.refresh(*(Region(0, y, width, 1) for y in changed))

    def say(self, notice: Notice) -> None:
        """Show a state in words, a line below the top."""
        self.show([(), *notice.lines(self.size.width or self.app.size.width)])

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many lines as it has."""
        return max(1, len(self._lines))

    def render_line(self, y: int) -> Strip:
        """One line."""
        maker = StripMaker(palette(self.app.theme), self.size.width)
        return maker.line(self._lines[y] if y < len(self._lines) else (), self._on)

    def on_mount(self) -> None:
        """Follow the theme."""
        self.app.theme_changed_signal.subscribe(self, lambda _theme: self.refresh())
