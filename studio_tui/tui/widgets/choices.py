"""A row or a column of answers: one is highlighted, and enter does exactly the highlighted one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from textual import events
from textual.binding import Binding
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from studio_tui.tui.keys import bind
from studio_tui.tui.safe_text import cells
from studio_tui.tui.statuses import Span
from studio_tui.tui.themes import palette
from studio_tui.tui.widgets.columns import StripMaker


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: its id, its words, and a note on what it does."""

    name: str
    label: str
    note: str = ""
    token: str = "ink"


class Choices(Widget, can_focus=True):
    """Answers side by side, or one below the other with their notes. The first is the safe one."""

    DEFAULT_CSS = "Choices { height: auto; background: $raised; }"
    BINDINGS = [
        Binding("left,up,h,k,shift+tab", "move(-1)", show=False),
        Binding("right,down,l,j,tab", "move(1)", show=False),
        bind("open", "choose", verb="choose"),
    ]

    class Chosen(Message):
        """Enter, or a click on the answer that was highlighted already."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self, answers: Sequence[Answer], *, layout: Literal["row", "column"] = "row") -> None:
        super().__init__()
        self.answers, self._layout = tuple(answers), layout
        self.at = 0

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """One line, or one for each answer; answers that do not fit side by side stand below each other."""
        return len(self.answers) if self._is_column(width) else 1

    def _is_column(self, width: int) -> bool:
        return self._layout == "column" or sum(cells(answer.label) + 6 for answer in self.answers) - 2 > width

    def render_line(self, y: int) -> Strip:
        """The answers; the highlighted one stands on the colour of picked rows."""
        style = palette(self.app.theme)
        maker = StripMaker(style, self.size.width)
        if self._is_column(self.size.width):
            if y >= len(self.answers):
                return maker.line((), "raised")
            answer = self.answers[y]
            return maker.line(self._spans(answer, y), "pick" if y == self.at else "raised")
        strips: list[Strip] = []
        for place, answer in enumerate(self.answers):
            text = f"  {answer.label}  "
            part = StripMaker(style, cells(text)).line(
                [(text, self._token(place, answer))], "pick" if place == self.at else "raised"
            )
            strips += [part, StripMaker(style, 2).line((), "raised")]
        return Strip.join(strips).crop(0, self.size.width)

    def _spans(self, answer: Answer, place: int) -> list[Span]:
        bar = "▌ " if place == self.at and not getattr(self.app, "ascii", False) else "| " if place == self.at else "  "
        return [(bar, "accent"), (f"{answer.label:<18}", self._token(place, answer)), (f"  {answer.note}", "soft")]

    def _token(self, place: int, answer: Answer) -> str:
        return f"bold {answer.token}" if place == self.at else answer.token

    def action_move(self, by: int) -> None:
        """The answer before or after, round the end."""
        self.at = (self.at + by) % len(self.answers)
        self.refresh()

    def action_choose(self) -> None:
        """The highlighted answer."""
        self.post_message(self.Chosen(self.answers[self.at].name))

    def on_click(self, event: events.Click) -> None:
        """The first click highlights, a click on the highlighted one chooses."""
        place = self._place(event.x, event.y)
        if place is None:
            return
        if place == self.at:
            self.action_choose()
        self.at = place
        self.refresh()

    def _place(self, x: int, y: int) -> int | None:
        if self._is_column(self.size.width):
            return y if y < len(self.answers) else None
        end = 0
        for place, answer in enumerate(self.answers):
            end += cells(f"  {answer.label}  ") + 2
            if x < end:
                return place
        return None
