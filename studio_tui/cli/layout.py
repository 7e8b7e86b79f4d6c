"""Tables and facts on paper or on a terminal: aligned by the cells that characters take, cut only where a terminal ends."""

from __future__ import annotations

import shutil
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import click

from studio_tui.application.text import clean
from studio_tui.settings import wants_colour

_GAP: Final = 2
_LEAST: Final = 8
_COLOURS: Final = {
    **dict.fromkeys(("FAIL", "TIME", "ABRT", "LOST", "BROKEN", "GATE!", "BLOCK", "fail"), "red"),
    **dict.fromkeys(("RUN?", "OK/REJ", "EMPTY", "WAIT", "PAUS", "REDO", "warn"), "yellow"),
    **dict.fromkeys(("GATE",), "magenta"),
    **dict.fromkeys(("OK", "MERGED", "ON", "DONE", "ok"), "green"),
    **dict.fromkeys(("RUN", "QUE", "ACTIVE"), "blue"),
}
"""Colours of state words; a word without one is printed plainly."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column. ``gives`` orders who loses width first on a narrow terminal (0 never does); ``right`` is for figures.

    A last column that ``wraps`` goes on in further lines instead of losing its end: evidence, and what to do about it.
    """

    title: str
    gives: int = 0
    right: bool = False
    wraps: bool = False


def cells(text: str) -> int:
    """How many cells a cleaned text takes on a terminal."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(map(bool, map(unicodedata.combining, text)))


def cut(text: str, width: int) -> str:
    """The text in at most ``width`` cells; what is missing shows as an ellipsis."""
    if cells(text) <= width:
        return text
    kept, used = [], 0
    for character in text:
        used += cells(character)
        if used > width - 1:
            break
        kept.append(character)
    return "".join(kept) + "…"


def print_table(columns: Sequence[Column], rows: Iterable[Sequence[str]], *, empty: str) -> None:
    """Print rows under their titles, or ``empty`` when there are none. Texts are made safe to print here."""
    cleaned = [[clean(value) for value in row] for row in rows]
    if not cleaned:
        print(empty)
        return
    titles = [column.title for column in columns]
    widths = [max(map(cells, values)) for values in zip(titles, *cleaned, strict=True)]
    if sys.stdout.isatty():
        _fit(widths, columns, shutil.get_terminal_size().columns)
    colour = wants_colour()
    print(click.style(_line(titles, widths, columns), dim=True) if colour else _line(titles, widths, columns))
    for row in cleaned:
        lines = _folded(row[-1], widths[-1]) if columns[-1].wraps else [row[-1]]
        print(_line([*row[:-1], lines[0]], widths, columns, colour=colour))
        for rest in lines[1:]:
            print(_line([""] * (len(row) - 1) + [rest], widths, columns))


def _fit(widths: list[int], columns: Sequence[Column], room: int) -> None:
    """Take width from the columns that give it, in their order, until the line fits; some columns may get a dot's room."""
    excess = sum(widths) + _GAP * (len(widths) - 1) - room
    for index in sorted((i for i, column in enumerate(columns) if column.gives), key=lambda i: columns[i].gives):
        if excess <= 0:
            return
        taken = min(excess, max(0, widths[index] - _LEAST))
        widths[index] -= taken
        excess -= taken


def _folded(text: str, width: int) -> list[str]:
    """The text in lines of at most ``width`` cells, broken between words; a word that is wider is broken anywhere."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if cells(longer) <= width:
            lines[-1] = longer
            continue
        if lines[-1]:
            lines.append("")
        while cells(word) > width:
            head = cut(word, width + 1).removesuffix("…") if width > 1 else word[:1]
            lines[-1] = head
            lines.append("")
            word = word[len(head) :]
        lines[-1] = word
    return lines


def _line(values: Sequence[str], widths: Sequence[int], columns: Sequence[Column], *, colour: bool = False) -> str:
    parts = []
    for value, width, column in zip(values, widths, columns, strict=True):
        text = cut(value, width)
        blank = " " * (width - cells(text))
        shown = click.style(text, fg=_COLOURS.get(text)) if colour and text in _COLOURS else text
        parts.append(blank + shown if column.right else shown + blank)
    return (" " * _GAP).join(parts).rstrip()


def print_facts(facts: Iterable[tuple[str, str | None]]) -> None:
    """Print labels and values, one a line; what is ``None`` or empty is left out."""
    known = [(label, clean(value)) for label, value in facts if value]
    width = max((len(label) for label, _ in known), default=0)
    for label, value in known:
        print(f"{label:<{width}}  {value}")
