"""The literal-text gate: the one way by which text from data reaches a widget or the terminal.

Data is never markup and never a control sequence. Everything here cleans first (:mod:`studio_tui.application.text`) and returns
:class:`Content`, which Textual draws as it is, or a ``str`` that is only for the line widgets of this package, which draw plain
segments. A test reads the source of :mod:`studio_tui.tui` and refuses data that takes another way.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rich.cells import cell_len, chop_cells, split_graphemes
from textual.content import Content

from studio_tui.application.text import clean, clean_block

ELLIPSIS: Final = "…"
MAX_CELL: Final = 400
"""Characters of a one-line text that are looked at; no cell is wider."""
MAX_LINE: Final = 2_000
"""Characters after which one line of a block is folded."""

__all__ = ["block", "cells", "clean", "clean_block", "cut", "fold", "line", "plain", "styled", "wrap"]


def line(text: object, limit: int = MAX_CELL) -> str:
    """One line, cleaned and bounded; for line widgets and for text that is styled later."""
    raw = text if isinstance(text, str) else str(text)
    return clean(raw) if len(raw) <= limit else clean(raw[: limit - 1]) + ELLIPSIS


def plain(text: object) -> Content:
    """One line of data, as it is."""
    return Content(line(text))


def block(text: str) -> Content:
    """Several lines of data, as they are; lines longer than ``MAX_LINE`` are folded."""
    return Content("\n".join(fold(text)))


def styled(*parts: str | tuple[str, str] | Content) -> Content:
    """Parts side by side; a pair is text and style. Every text is cleaned, none is markup.

    Styles are Textual styles of our tokens, such as ``"$soft"`` or ``"bold $fail"``.
    """
    return Content.assemble(*[_part(part) for part in parts])


def _part(part: str | tuple[str, str] | Content) -> str | tuple[str, str] | Content:
    if isinstance(part, Content):
        return part
    if isinstance(part, str):
        return Content(clean_block(part))
    text, style = part
    return Content.styled(clean_block(text), style)


def cells(text: str) -> int:
    """How many terminal cells the text takes."""
    return cell_len(text)


def cut(text: object, width: int) -> str:
    """One line of at most ``width`` cells, cut between whole letters and ended with ``…`` where something is missing."""
    if width <= 0:
        return ""
    shown = line(text, max(MAX_CELL, 4 * width))
    if cell_len(shown) <= width:
        return shown
    if shown.isascii():
        return shown[: width - 1] + ELLIPSIS
    kept, used = 0, 0
    for _start, end, size in split_graphemes(shown)[0]:
        if used + size > width - 1:
            break
        kept, used = end, used + size
    return shown[:kept] + ELLIPSIS


def fold(text: str, width: int = MAX_LINE) -> list[str]:
    """Cleaned lines of at most ``width`` characters; a longer line goes on in the next one."""
    return [piece for one in clean_block(text).split("\n") for piece in _pieces(one, width)]


def _pieces(text: str, width: int) -> Iterator[str]:
    if not text:
        yield ""
    for start in range(0, len(text), width):
        yield text[start : start + width]


def wrap(text: str, width: int) -> list[str]:
    """One cleaned line as lines of at most ``width`` cells, broken between words, and inside a word only where it must be."""
    lines: list[str] = []
    row = ""
    for word in clean(text).split(" "):
        grown = f"{row} {word}" if row else word
        if cell_len(grown) <= width:
            row = grown
            continue
        if row:
            lines.append(row)
        *whole, row = chop_cells(word, max(2, width)) or [""]
        lines += whole
    return [*lines, row]
