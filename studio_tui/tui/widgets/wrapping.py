"""Text broken into lines of a width in cells: between words where that is possible, never inside a letter."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len, split_graphemes

from studio_tui.tui.safe_text import clean_block


def wrap(text: str, width: int, *, limit: int) -> tuple[list[str], int]:
    """At most ``limit`` lines of cleaned text, and how many characters of it stand in none of them."""
    lines: list[str] = []
    left = len(text)
    for paragraph in clean_block(text).split("\n"):
        for piece in _pieces(paragraph.expandtabs(4), width):
            if len(lines) == limit:
                return lines, max(1, left)
            lines.append(piece)
            left -= len(piece)
        left -= 1
    return lines, 0


def _pieces(paragraph: str, width: int) -> Iterator[str]:
    if not paragraph:
        yield ""
        return
    ascii_only = paragraph.isascii()
    while paragraph:
        end = width if ascii_only else _fitting(paragraph, width)
        if end >= len(paragraph):
            yield paragraph
            return
        space = paragraph.rfind(" ", 1, end + 1)
        if space > 0:
            yield paragraph[:space]
            paragraph = paragraph[space + 1 :]
        else:
            yield paragraph[:end]
            paragraph = paragraph[end:]


def _fitting(text: str, width: int) -> int:
    """How many characters from the start fit into ``width`` cells, whole letters only, and at least one letter."""
    if cell_len(text[:width]) == width and text[:width].isascii():
        return width
    used = kept = 0
    for _start, end, size in split_graphemes(text[: 4 * width])[0]:
        if used + size > width:
            return max(kept, end if kept == 0 else kept)
        used, kept = used + size, end
    return kept or 1
