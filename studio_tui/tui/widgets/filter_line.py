"""The line above a list: what narrows it, and how much it holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input

from studio_tui.tui.keys import bind
from studio_tui.tui.statuses import Span
from studio_tui.tui.widgets.field import Field
from studio_tui.tui.widgets.panes import LinesPane

_PAUSE: Final = 0.25
"""Seconds of no typing after which the filter is applied."""


class FilterLine(Horizontal):
    """A one-line filter with a note beside it.

    The text is applied when typing pauses; enter applies it at once and gives the focus back, escape clears it. While it has the
    focus it is a text field: letters are text, not keys.
    """

    DEFAULT_CSS = """
    FilterLine {
        height: 1;
        margin: 1 0;
        & > LinesPane { height: 1; width: 1fr; }
        & > .filter-line--mark { width: 3; }
        & > Input { width: 1fr; min-width: 16; max-width: 50; background: $ground; padding: 0; }
        & > Input:focus { background: $ground; }
    }
    """

    BINDINGS = [bind("back", "abandon", verb="clear the filter"), bind("list.down", "leave", keys="down,enter", verb="keep it")]

    class Changed(Message):
        """Another text narrows the list from now on."""

        def __init__(self, sender: FilterLine, text: str) -> None:
            super().__init__()
            self.line, self.text = sender, text

        @property
        def control(self) -> FilterLine:
            """The line that sent it."""
            return self.line

    class Left(Message):
        """The focus should go back to the list."""

    def __init__(self, hint: str, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._hint = hint
        self._applied = ""
        self._pause: Timer | None = None

    def compose(self) -> ComposeResult:
        """Mark, field, note."""
        yield LinesPane(classes="filter-line--mark")
        yield Field(placeholder=self._hint)
        yield LinesPane(id="note")

    def on_mount(self) -> None:
        """Draw the mark."""
        self.query_one(".filter-line--mark", LinesPane).show([[(" / ", "accent")]])

    @property
    def text(self) -> str:
        """What narrows the list now."""
        return self._applied

    def note(self, spans: Sequence[Span]) -> None:
        """Say this beside the field."""
        self.query_one("#note", LinesPane).show([[("  ", "soft"), *spans]])

    def edit(self) -> None:
        """Give the field the focus."""
        self.query_one(Input).focus()

    def clear(self) -> None:
        """No filter."""
        field = self.query_one(Input)
        with self.prevent(Input.Changed):
            field.value = ""
        self._apply("")

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if self._pause:
            self._pause.stop()
        value = event.value
        self._pause = self.set_timer(_PAUSE, lambda: self._apply(value))

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_leave()

    def action_abandon(self) -> None:
        """No filter, and back to the list."""
        self.clear()
        self.action_leave()

    def action_leave(self) -> None:
        """Back to the list; the filter stays."""
        self._apply(self.query_one(Input).value)
        self.post_message(self.Left())

    def _apply(self, text: str) -> None:
        if self._pause:
            self._pause.stop()
            self._pause = None
        if text.strip() != self._applied:
            self._applied = text.strip()
            self.post_message(self.Changed(self, self._applied))
