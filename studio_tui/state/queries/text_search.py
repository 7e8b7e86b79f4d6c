"""Looking for text literally and without regard to case."""

from __future__ import annotations

from sqlalchemy import ColumnElement, or_

from studio_tui.state.queries.columns import numbered, numbered_values
from studio_tui.state.queries.sql_forms import matches


def spellings(text: str) -> tuple[str, ...]:
    """The ways to write ``text`` that are looked for: SQLite's LIKE knows the case of ASCII letters only."""
    if text.isascii():
        return (text,)
    return tuple(dict.fromkeys((text, text.lower(), text.upper(), text.title())))


def contains(columns: tuple[ColumnElement[str], ...], name: str, count: int) -> ColumnElement[bool]:
    """Whether one of ``columns`` contains one of the texts in the ``count`` parameters ``name_0`` and so on."""
    return or_(*(matches(column, pattern) for pattern in numbered(name, count) for column in columns))


def text_values(name: str, text: str | None) -> dict[str, object]:
    """The parameters of :func:`contains` for ``text``."""
    return numbered_values(name, map(_pattern, spellings(text))) if text else {}


def text_count(text: str | None) -> int:
    """How many parameters :func:`contains` has for ``text``; none when nothing is looked for."""
    return len(spellings(text)) if text else 0


def _pattern(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"
