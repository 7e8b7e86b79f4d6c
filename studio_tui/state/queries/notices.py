"""Statements about the ends of firings that schedules want told.

What is owed and what was given are rows of ``terminal_deliveries`` (lionagi 0.36), by their consumer. The time of an owed one is
when to try it: the index of consumers answers what is due.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import ColumnElement, Float, Select, Text, and_, bindparam, case, func, literal_column, select

from studio_tui.domain.notices import CONSUMER, OWED
from studio_tui.domain.statuses import INVOCATION
from studio_tui.state.queries.columns import LIMIT
from studio_tui.state.schema import schedule_runs, schedules, status_transitions, terminal_deliveries

_D, _H, _R, _S = terminal_deliveries.c, status_transitions.c, schedule_runs.c, schedules.c
_OF_INVOCATION: Final[ColumnElement[str]] = literal_column("'invocation'")
_ENDED: Final = _H.status.in_([literal_column(f"'{status}'") for status in sorted(INVOCATION.terminal)])
_CHANGED: Final = and_(_H.previous_status.is_not(None), _H.previous_status != _H.status)

NEXT: Final[Select[Any]] = select(func.min(_D.acked_at)).where(_D.consumer == literal_column(f"'{OWED}'"))

_FIRED_BY: Final = case(
    (
        _H.entity_type == _OF_INVOCATION,
        select(_R.schedule_id).where(_R.invocation_id == _H.entity_id).limit(1).scalar_subquery(),
    ),
    else_=select(_R.schedule_id).where(_R.id == _H.entity_id).scalar_subquery(),
)
DUE: Final[Select[Any]] = (
    select(
        _D.transition_id,
        _H.entity_type,
        _H.entity_id,
        _H.previous_status,
        _H.status,
        _H.reason_code,
        _H.created_at,
        _D.acked_at,
        _FIRED_BY,
    )
    .join_from(terminal_deliveries, status_transitions, _H.id == _D.transition_id)
    .where(_D.consumer == literal_column(f"'{OWED}'"), _D.acked_at <= bindparam("now", type_=Float))
    .order_by(_D.acked_at)
    .limit(LIMIT)
)
WANTED_BY: Final[Select[Any]] = select(_S.name, _S.notify_command).where(_S.id == bindparam("schedule_id", type_=Text))

END_TO_TELL: Final[Select[Any]] = (
    select(_H.id, _H.status, _S.notify_on, _S.notify_command)
    .select_from(schedule_runs)
    .join(schedules, _S.id == _R.schedule_id)
    .join(status_transitions, and_(_H.entity_type == _OF_INVOCATION, _H.entity_id == _R.invocation_id, _ENDED, _CHANGED))
    .where(_R.invocation_id == bindparam("invocation_id", type_=Text), _S.notify_command.is_not(None))
    .order_by(_H.created_at.desc(), _H.id.desc())
    .limit(1)
)
"""The last end of an invocation whose schedule has a command for it."""

DEALT_WITH: Final[Select[Any]] = select(_D.consumer).where(
    _D.transition_id == bindparam("transition_id", type_=Text),
    _D.consumer.in_([literal_column(f"'{CONSUMER}'"), literal_column(f"'{OWED}'")]),
)
