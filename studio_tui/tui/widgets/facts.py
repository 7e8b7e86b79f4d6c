"""Lines of label and value, as details and previews show them."""

from __future__ import annotations

from typing import Final

from studio_tui.tui.statuses import Span
from studio_tui.tui.widgets.wrapping import wrap

LABEL: Final = 14
"""Cells of the labels' column, indent included."""


def fact(label: str, *value: Span | str, indent: int = 1) -> list[Span]:
    """One line: a faint label and what is to be said about it. A bare text is drawn soft."""
    name = (" " * indent + label).ljust(LABEL)
    return [(name, "faint"), *(part if isinstance(part, tuple) else (part, "soft") for part in value)]


def wrapped(label: str, text: str, width: int, token: str = "soft", *, limit: int = 6, indent: int = 1) -> list[list[Span]]:
    """A text of several lines beside its label, broken between words where that is possible, at most ``limit`` lines."""
    lines, missing = wrap(" ".join(text.split()), max(8, width - LABEL - 1), limit=limit)
    if missing:
        lines[-1] = lines[-1][:-2] + " …"
    return [fact(label if number == 0 else "", (part, token), indent=indent) for number, part in enumerate(lines or [""])]


def heading(title: str, *more: Span | str) -> list[Span]:
    """The first line of a block: its title in soft bold, then what stands beside it in faint."""
    return [(f" {title}", "bold soft"), *(part if isinstance(part, tuple) else (f"  {part}", "faint") for part in more)]
