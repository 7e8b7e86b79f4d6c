"""Statements about administrators' events."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import ColumnElement, Insert, Select, Text, bindparam, insert, or_, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler

from studio_tui.domain.admin_events import AdminEventRecord
from studio_tui.state.queries.columns import LIMIT, labelled
from studio_tui.state.queries.keysets import beyond_key, descending
from studio_tui.state.queries.sql_forms import Condition, operands
from studio_tui.state.readers import as_epoch, as_object_or_empty, as_required, as_text
from studio_tui.state.rows import RowReader
from studio_tui.state.schema import admin_events

_E: Final = admin_events.c

event_record: Final = RowReader(
    AdminEventRecord,
    (as_required, "event_id=id action"),
    (as_text, "target_id"),
    (as_required, "actor"),
    (as_epoch, "created_at"),
    (as_object_or_empty, "details"),
)
_COLUMNS: Final = labelled(event_record, admin_events)


class mentions(Condition):  # noqa: N801 - a function of SQL
    """``mentions(column, text)``: whether the stored text of a JSON column contains ``text``, taken literally."""

    inherit_cache = True


@compiles(mentions)
def _mentions(element: mentions, compiler: SQLCompiler, **options: Any) -> str:
    column, text = operands(element, compiler, options)
    return f"(strpos(CAST({column} AS text), {text}) > 0)"


@compiles(mentions, "sqlite")
def _mentions_sqlite(element: mentions, compiler: SQLCompiler, **options: Any) -> str:
    column, text = operands(element, compiler, options)
    return f"(instr({column}, {text}) > 0)"


EVENT_BY_ID: Final[Select[Any]] = select(*_COLUMNS).where(_E.id == bindparam("event_id", type_=Text))
LAST_OF_ACTION: Final[Select[Any]] = (
    select(*_COLUMNS).where(_E.action == bindparam("action", type_=Text)).order_by(*descending(_E.created_at, _E.id)).limit(1)
)


@lru_cache(maxsize=8)
def event_page(*, action: bool, target: bool, before: bool) -> Select[Any]:
    """Events, newest first; the flags say which conditions there are.

    Acts on many things name them in their details only, so the ``:quoted`` id is looked for there too (lionagi 0.36).
    """
    conditions: list[ColumnElement[bool]] = []
    if action:
        conditions.append(_E.action == bindparam("action", type_=Text))
    if target:
        quoted = bindparam("quoted", type_=Text)
        conditions.append(or_(_E.target_id == bindparam("target_id", type_=Text), mentions(_E.details, quoted)))
    if before:
        conditions.append(beyond_key(_E.created_at, _E.id))
    return select(*_COLUMNS).where(*conditions).order_by(*descending(_E.created_at, _E.id)).limit(LIMIT)


def new_event(
    event_id: str, action: str, details: Mapping[str, object], *, target_id: str | None, actor: str, now: float
) -> Insert:
    """The row of an event, for the transaction of the act itself."""
    values = {
        "id": event_id,
        "created_at": now,
        "action": action,
        "target_id": target_id,
        "details": dict(details),
        "actor": actor,
    }
    return insert(admin_events).values(values)
