"""Pages of lists that go by a time and an id."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Column, ColumnElement, func, literal_column, select

from studio_tui.state.queries.columns import KEY_ID, KEY_TIME, beyond

Key = tuple[float, str]
"""The time (epoch seconds; 0 where it could not be read) and the id of the last row of the page before."""

ORDINARY: Final = 500
"""The most rows that a page of these lists is asked for."""

LAST_NUMBER: Final = 2**31 - 1
"""What every running number stands before; both databases keep these in four bytes or more."""


def beyond_key(time: Column[Any], identifier: Column[Any], *, newer: bool = False, moving: bool = False) -> ColumnElement[bool]:
    """Rows that stand after the key's row in descending order, or, with ``newer``, in ascending order.

    Where the time never changes, what is stored under the key's id counts, so that a time that a reader could not read does no
    harm; the key's own time counts once that row is gone. With ``moving`` the time changes with the row, so the key's own counts
    and only in place of 0 what is stored.
    """
    row = time.table.alias("key_row")
    stored = select(row.c[time.name]).where(row.c[identifier.name] == KEY_ID).scalar_subquery()
    at = func.coalesce(func.nullif(KEY_TIME, literal_column("0")), stored) if moving else func.coalesce(stored, KEY_TIME)
    return beyond(time, identifier, at, newer=newer)


def descending(time: Column[Any], identifier: Column[Any]) -> tuple[ColumnElement[Any], ColumnElement[Any]]:
    """The newest first."""
    return time.desc(), identifier.desc()


def key_values(key: Key | None, **values: object) -> dict[str, object]:
    """The parameters of a statement and, when there is a key, those of :func:`beyond_key`."""
    return values if key is None else {**values, "key_time": key[0], "key_id": key[1]}
