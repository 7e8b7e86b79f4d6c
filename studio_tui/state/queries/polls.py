"""Statements about polls of GitHub. Their next instant stands in ``next_fire_at``, by which an index finds those that are due."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import ColumnElement, Float, Select, and_, bindparam, literal_column, select

from studio_tui.state.queries.columns import LIMIT
from studio_tui.state.queries.schedules import SCHEDULE_COLUMNS
from studio_tui.state.schema import schedules

_S: Final = schedules.c
_POLLED: Final[ColumnElement[bool]] = and_(_S.enabled == literal_column("1"), _S.trigger_type == literal_column("'github_poll'"))

NEVER_POLLED: Final[Select[Any]] = select(*SCHEDULE_COLUMNS).where(_POLLED, _S.next_fire_at.is_(None)).limit(LIMIT)
DUE_POLLS: Final[Select[Any]] = (
    select(*SCHEDULE_COLUMNS)
    .where(_POLLED, _S.next_fire_at <= bindparam("until", type_=Float))
    .order_by(_S.next_fire_at, _S.id)
    .limit(LIMIT)
)
