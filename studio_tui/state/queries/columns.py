"""What statements of several aggregates share: columns in the order of a record's fields, keyset conditions, numbered values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from sqlalchemy import BindParameter, ColumnElement, Float, Integer, Text, and_, bindparam, null, or_
from sqlalchemy.sql.expression import FromClause

from studio_tui.state.rows import RowReader

LIMIT: Final[BindParameter[int]] = bindparam("limit", type_=Integer)
KEY_TIME: Final[BindParameter[float]] = bindparam("key_time", type_=Float)
KEY_ID: Final[BindParameter[str]] = bindparam("key_id", type_=Text)


def labelled(
    reader: RowReader[Any], source: FromClause, *, without: Iterable[str] = (), **computed: ColumnElement[Any]
) -> tuple[ColumnElement[Any], ...]:
    """The columns that ``reader`` reads, in its order, each under its field's name.

    ``computed`` stands in for the columns of those fields; ``without`` names fields that the statement leaves unread.
    """
    stand_in = {**computed, **dict.fromkeys(without, null())}
    return tuple(
        stand_in[field.name].label(field.name) if field.name in stand_in else source.c[field.column].label(field.name)
        for field in reader.fields
    )


def numbered(name: str, count: int) -> list[BindParameter[str]]:
    """``count`` bound texts ``name_0``, ``name_1`` and so on: a statement of fixed shape needs no expanding parameter."""
    return [bindparam(f"{name}_{number}", type_=Text) for number in range(count)]


def numbered_values(name: str, values: Iterable[str]) -> dict[str, object]:
    """The values of :func:`numbered` parameters."""
    return {f"{name}_{number}": value for number, value in enumerate(values)}


def beyond(
    time: ColumnElement[Any], identifier: ColumnElement[Any], at: ColumnElement[Any], *, newer: bool = False
) -> ColumnElement[bool]:
    """Rows that stand after the key ``(at, :key_id)`` in descending order, or before it with ``newer``.

    The first half is what an index on ``time`` can use; the second tells rows of the same instant apart.
    """
    if newer:
        return and_(time >= at, or_(time > at, identifier > KEY_ID))
    return and_(time <= at, or_(time < at, identifier < KEY_ID))


IDS: Final[BindParameter[Any]] = bindparam("ids", expanding=True)
"""A list of ids of any length."""
