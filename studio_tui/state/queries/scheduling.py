"""Statements of the scheduler: what is due, what runs, what was used. Conditions that partial indexes need are literals."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import ColumnElement, Float, Select, Text, and_, bindparam, case, func, literal_column, select

from studio_tui.domain.statuses import EXECUTED
from studio_tui.state.queries.columns import LIMIT
from studio_tui.state.queries.runs import RUN_COLUMNS
from studio_tui.state.queries.schedules import FIRING_COLUMNS, SCHEDULE_COLUMNS
from studio_tui.state.schema import projects, schedule_runs, schedules, sessions

_S = schedules.c
_R = schedule_runs.c
_NOW: Final = bindparam("now", type_=Float)
_SCHEDULE: Final = bindparam("schedule_id", type_=Text)

_ENABLED: Final[ColumnElement[bool]] = _S.enabled == literal_column("1")
_TIMED: Final[ColumnElement[bool]] = and_(
    _ENABLED, _S.trigger_type.in_([literal_column(f"'{name}'") for name in ("cron", "interval", "at")])
)
_RUNNING: Final[ColumnElement[bool]] = and_(_R.status == literal_column("'running'"), _R.schedule_id.is_not(None))
_COUNTED: Final[ColumnElement[bool]] = and_(
    _R.schedule_id == _SCHEDULE,
    _R.chain_depth == literal_column("0"),
    _R.status.in_([literal_column(f"'{status}'") for status in sorted(EXECUTED)]),
)

NEXT_DUE: Final[Select[Any]] = (
    select(_S.next_fire_at).where(_ENABLED, _S.next_fire_at.is_not(None)).order_by(_S.next_fire_at).limit(1)
)
"""Of whatever kind: where none is left out, the first entry of the index is the answer."""
DUE: Final[Select[Any]] = (
    select(*SCHEDULE_COLUMNS).where(_TIMED, _S.next_fire_at <= _NOW).order_by(_S.next_fire_at, _S.id).limit(LIMIT)
)
UNARMED: Final[Select[Any]] = select(*SCHEDULE_COLUMNS).where(
    _TIMED, _S.next_fire_at.is_(None), _S.trigger_type != literal_column("'at'")
)
ARMED_CRON: Final[Select[Any]] = select(*SCHEDULE_COLUMNS).where(_ENABLED, _S.trigger_type == literal_column("'cron'"))

RUNNING_OF_ALL: Final[Select[Any]] = select(func.count()).select_from(schedule_runs).where(_RUNNING)
RUNNING_OF_ONE: Final[Select[Any]] = RUNNING_OF_ALL.where(_R.schedule_id == _SCHEDULE)
EXECUTED_RUNS: Final[Select[Any]] = select(func.count()).select_from(schedule_runs).where(_COUNTED)
FIRED_SINCE: Final[Select[Any]] = EXECUTED_RUNS.where(_R.fired_at >= bindparam("since", type_=Float))

_COST: Final = case((sessions.c.provider == "codex", None), else_=sessions.c.total_cost_usd)
"""What a run reported; the figure of a codex run means nothing (lionagi 0.36)."""
SPEND: Final[Select[Any]] = (
    select(
        func.coalesce(func.sum(_COST), 0.0),
        func.coalesce(func.sum(func.coalesce(sessions.c.input_tokens, 0) + func.coalesce(sessions.c.output_tokens, 0)), 0),
        func.count() - func.count(_COST),
    )
    .select_from(schedule_runs.join(sessions, sessions.c.invocation_id == _R.invocation_id))
    .where(_R.schedule_id == _SCHEDULE)
)

RUNS_OF_INVOCATION: Final[Select[Any]] = (
    select(*RUN_COLUMNS)
    .where(sessions.c.invocation_id == bindparam("invocation_id", type_=Text))
    .order_by(sessions.c.created_at, sessions.c.id)
)
"""All of them, also those that no list shows: they decide how the firing ended."""

UNDISPATCHED: Final[Select[Any]] = (
    select(*FIRING_COLUMNS)
    .where(_RUNNING, _R.dispatched_at.is_(None), _R.created_at < bindparam("older_than", type_=Float))
    .order_by(_R.fired_at, _R.id)
)
DISPATCHED: Final[Select[Any]] = (
    select(*FIRING_COLUMNS).where(_RUNNING, _R.dispatched_at.is_not(None)).order_by(_R.fired_at, _R.id)
)
FIRINGS_SINCE: Final[Select[Any]] = (
    select(*FIRING_COLUMNS)
    .where(_COUNTED, _R.fired_at >= bindparam("since", type_=Float))
    .order_by(_R.fired_at.desc(), _R.id.desc())
    .limit(LIMIT)
)
PROJECT_PATH: Final[Select[Any]] = select(projects.c.path).where(projects.c.name == bindparam("project", type_=Text))

_OTHERS: Final = _R.id != bindparam("apart_from", type_=Text)
"""All but the row that the claim ends."""
CLAIM_COUNTS: Final[Select[Any]] = select(
    RUNNING_OF_ONE.where(_OTHERS).scalar_subquery().label("running"),
    EXECUTED_RUNS.where(_OTHERS).scalar_subquery().label("executed"),
    FIRED_SINCE.where(_OTHERS).scalar_subquery().label("fired"),
    RUNNING_OF_ALL.where(_OTHERS).scalar_subquery().label("running_of_all"),
)
"""What the gates count, once more, in the transaction of a claim."""
