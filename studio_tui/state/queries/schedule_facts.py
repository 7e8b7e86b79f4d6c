"""Statements about one schedule: what its gates count, what goes with it, what was recorded of it."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import ColumnElement, Float, Select, Text, bindparam, func, literal_column, select

from studio_tui.state.queries.columns import labelled
from studio_tui.state.queries.schedules import FIRING_COLUMNS
from studio_tui.state.queries.scheduling import EXECUTED_RUNS, FIRED_SINCE, RUNNING_OF_ALL
from studio_tui.state.rows import transition_record
from studio_tui.state.schema import dispatch_outbox, schedule_runs, status_transitions, workers

_R = schedule_runs.c
_T = status_transitions.c
_SCHEDULE: Final = bindparam("schedule_id", type_=Text)
_AT: Final = bindparam("at", type_=Float)
_OWN: Final[ColumnElement[bool]] = _R.schedule_id == _SCHEDULE
_TOP_LEVEL: Final[ColumnElement[bool]] = _R.chain_depth == literal_column("0")

RUNNING_IDS: Final[Select[Any]] = select(_R.id).where(_OWN, _R.status == literal_column("'running'")).order_by(_R.fired_at, _R.id)
GATE_COUNTS: Final[Select[Any]] = select(
    EXECUTED_RUNS.scalar_subquery().label("executed"),
    FIRED_SINCE.scalar_subquery().label("fired"),
    RUNNING_OF_ALL.scalar_subquery().label("running_of_all"),
)

_ITS_RUNS: Final = select(_R.id).where(_OWN)
VANISHING_COUNTS: Final[Select[Any]] = select(
    select(func.count()).select_from(schedule_runs).where(_OWN).scalar_subquery().label("firings"),
    select(func.count())
    .select_from(dispatch_outbox)
    .where(dispatch_outbox.c.schedule_run_id.in_(_ITS_RUNS))
    .scalar_subquery()
    .label("messages"),
    select(func.count()).select_from(workers).where(workers.c.leased_run_id.in_(_ITS_RUNS)).scalar_subquery().label("workers"),
)
"""How many rows go with a schedule, and how many of other tables refer to one of them without going with it."""

FIRING_UP_TO: Final[Select[Any]] = (
    select(*FIRING_COLUMNS).where(_OWN, _TOP_LEVEL, _R.fired_at <= _AT).order_by(_R.fired_at.desc(), _R.id.desc()).limit(1)
)
FIRING_AFTER: Final[Select[Any]] = (
    select(*FIRING_COLUMNS).where(_OWN, _TOP_LEVEL, _R.fired_at > _AT).order_by(_R.fired_at, _R.id).limit(1)
)
DEFINITION_LINE: Final[Select[Any]] = (
    select(*labelled(transition_record, status_transitions))
    .where(_T.entity_type == literal_column("'schedule'"), _T.entity_id == _SCHEDULE, _T.created_at <= _AT)
    .order_by(_T.created_at.desc(), _T.id.desc())
    .limit(1)
)
