"""Columns of a list: which fit, how wide they are, and one row as a strip of segments.

Widths come from what the columns declare and from the room there is, never from the rows: nothing moves sideways when data
arrives, and a list of a hundred thousand rows measures none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, Literal, TypeVar

from rich.segment import Segment
from textual.strip import Strip

from studio_tui.tui.safe_text import cells, clean, cut
from studio_tui.tui.statuses import Span
from studio_tui.tui.themes import Palette

Row = TypeVar("Row")
Cell = Span | tuple[Span, ...]
"""A text and its token, or several side by side."""

GUTTER: Final = 3
"""Cursor bar, mark, and a blank."""
GAP: Final = 2
MARGIN: Final = 1
"""Cells at the right edge that stay blank."""
_LEAST: Final = 10
"""Cells to which a name or a filling column may shrink before it is left out."""
_EASY: Final = 28
"""Cells that the filling column gets before others widen."""


@dataclass(frozen=True)
class Column(Generic[Row]):
    """One column. ``cell`` gives raw text (it is cleaned and cut here) with its token.

    A column is ``width`` cells wide, and up to ``max_width`` where there is room. One column may be ``fill``: it takes all
    that is left, and ``width`` is its least. ``priority`` 0 always stays; of the others the highest number gives way first. The
    ``lead`` column is the record's name, bold in the picked row.
    """

    title: str
    cell: Callable[[Row], Cell]
    width: int
    max_width: int = 0
    priority: int = 0
    align: Literal["left", "right"] = "left"
    fill: bool = False
    lead: bool = False


@dataclass(frozen=True, slots=True)
class Placed(Generic[Row]):
    """A column that is shown, with the cells it got."""

    column: Column[Row]
    width: int


def place(columns: Sequence[Column[Row]], width: int) -> tuple[Placed[Row], ...]:
    """The columns that fit into ``width`` cells, gutter and gaps included."""
    shown = list(columns)
    while len(shown) > 1 and _needed(shown) > width:
        droppable = [column for column in shown if column.priority]
        if not droppable:
            break
        shown.remove(max(droppable, key=lambda column: column.priority))
    left = width - _needed(shown)
    widths = {id(column): column.width for column in shown}
    left = _widen(shown, widths, left)
    for column in shown:
        if column.fill and left > 0:
            widths[id(column)] += left
            left = 0
    return _shrunk([Placed(column, widths[id(column)]) for column in shown], width)


def _needed(columns: Sequence[Column[Row]]) -> int:
    return GUTTER + MARGIN + sum(column.width for column in columns) + GAP * (len(columns) - 1)


def _widen(columns: Sequence[Column[Row]], widths: dict[int, int], left: int) -> int:
    """Give half of the spare cells to columns that may grow, the lead first; the rest stays for the filling column."""
    filling = next((column for column in columns if column.fill), None)
    budget = max(0, left - (_EASY - filling.width)) // 2 if filling else left
    for column in sorted(columns, key=lambda column: (not column.lead, column.priority)):
        more = max(0, min(budget, column.max_width - column.width))
        widths[id(column)] += more
        budget -= more
        left -= more
    return left


def _shrunk(placed: list[Placed[Row]], width: int) -> tuple[Placed[Row], ...]:
    """In a window too narrow for the columns that always stay, those that fit; the name may be cut, and gets what is left."""
    fitting: list[Placed[Row]] = []
    room = width - GUTTER - MARGIN
    for one in placed:
        least = min(one.width, _LEAST) if one.column.lead or one.column.fill else one.width
        if least <= room or not fitting:
            fitting.append(Placed(one.column, max(0, min(one.width, room))))
            room -= one.width + GAP
    spare = room + GAP
    return tuple(
        Placed(one.column, one.width + spare) if one.column.lead and spare > 0 and len(fitting) < len(placed) else one
        for one in fitting
    )


@dataclass(frozen=True, slots=True)
class RowLook:
    """How a row stands out: under the cursor, in a focused list, marked, or old."""

    picked: bool = False
    focused: bool = True
    marked: bool = False
    stale: bool = False


_DIM: Final = {"ink": "soft", "soft": "faint", "bold ink": "soft"}


class StripMaker:
    """Builds strips with as few segments as the colours allow: fewer bytes to the terminal."""

    def __init__(self, palette: Palette, width: int, ascii_only: bool = False, on: str = "ground") -> None:
        self.palette, self.width, self.on = palette, width, on
        self.bar, self.mark = ("|", "*") if ascii_only else ("▌", "•")

    def row(self, placed: Sequence[Placed[Row]], row: Row, shown: RowLook) -> Strip:
        """One record."""
        background = ("pick" if shown.focused else "raised") if shown.picked else self.on
        spans: list[Span] = [
            (self.bar if shown.picked else " ", "accent" if shown.focused else "faint"),
            (self.mark if shown.marked else " ", "accent"),
            (" ", "ink"),
        ]
        for number, one in enumerate(placed):
            if number:
                spans.append((" " * GAP, "ink"))
            spans += self._cell(one, row, shown)
        return self._strip(spans, background) if self.width > GUTTER else self.line(spans, background)

    def header(self, placed: Sequence[Placed[Row]], note: str = "") -> Strip:
        """The titles, in faint; ``note`` stands at the right edge."""
        text = " " * GUTTER + (" " * GAP).join(_padded(one.column.title, one) for one in placed)
        room = self.width - (cells(note) + 1 if note else 0)
        text = cut(text.rstrip(), room)
        return self.line([(text + " " * (room - cells(text)) + note, "faint")])

    def line(self, spans: Iterable[Span], on: str | None = None) -> Strip:
        """Spans of any text as a strip of the full width. A line that is too long is cut one cell before the edge."""
        cleaned = [(clean(text), name) for text, name in spans]
        if sum(cells(text) for text, _ in cleaned) <= self.width:
            return self._strip(cleaned, on)
        room = max(1, self.width - MARGIN)
        fitting: list[Span] = []
        for text, name in cleaned:
            fitting.append((cut(text, room), name))
            room -= cells(fitting[-1][0])
        return self._strip(fitting, on)

    def _strip(self, spans: Iterable[Span], on: str | None = None) -> Strip:
        """Spans that are clean and fit. Blanks join their neighbours, since only a background shows there."""
        texts: list[str] = []
        names: list[str] = []
        for text, name in spans:
            if names and (names[-1] == name or not text.strip()):
                texts[-1] += text
            elif names and not texts[0].strip():
                texts[0], names[0] = texts[0] + text, name
            elif text:
                texts.append(text)
                names.append(name)
        room = self.width - sum(map(cells, texts))
        if room:
            texts, names = texts or [""], names or ["ink"]
            texts[-1] += " " * room
        style = self.palette.style
        return Strip([Segment(text, style(name, on or self.on)) for text, name in zip(texts, names, strict=True)], self.width)

    def _cell(self, one: Placed[Row], row: Row, shown: RowLook) -> list[Span]:
        cell = one.column.cell(row)
        parts: tuple[Span, ...] = (cell,) if isinstance(cell[0], str) else cell
        spans: list[Span] = []
        room = one.width
        for text, token in parts:
            fitting = cut(text, room)
            room -= cells(fitting)
            spans.append((fitting, self._token(token, one, shown)))
        pad = (" " * room, "ink")
        return [pad, *spans] if one.column.align == "right" else [*spans, pad]

    def _token(self, token: str, one: Placed[Row], shown: RowLook) -> str:
        if shown.stale:
            return _DIM.get(token, token)
        return "bold ink" if shown.picked and one.column.lead and token == "ink" else token


def _padded(title: str, one: Placed[Row]) -> str:
    text = cut(title, one.width)
    pad = " " * (one.width - cells(text))
    return pad + text if one.column.align == "right" else text + pad
