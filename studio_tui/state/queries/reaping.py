"""Statements that find what is open and has been quiet for long."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import ColumnElement, Float, Select, bindparam, func, literal_column, or_, select

from studio_tui.state.queries.columns import IDS, labelled
from studio_tui.state.queries.json_text import picked_values
from studio_tui.state.queries.schedules import FIRING_COLUMNS
from studio_tui.state.rows import run_record
from studio_tui.state.schema import invocations, plays, schedule_runs, sessions, shows

AT_ONCE: Final = 500
"""How many rows of one kind are looked at in a pass, the quietest first; the next pass goes on."""

_SINCE: Final = bindparam("quiet_since", type_=Float)
_RUNNING: Final[ColumnElement[str]] = literal_column("'running'")
_I, _P, _R, _S, _W = invocations.c, plays.c, schedule_runs.c, sessions.c, shows.c

_RUN_COLUMNS: Final = labelled(
    run_record,
    sessions,
    without=("verification", "contract", "has_messages"),
    metadata=picked_values(_S.node_metadata),
)
"""With the recorded process of every run, also of one without a status."""


def _quiet(updated_at: ColumnElement[Any], otherwise: ColumnElement[Any]) -> ColumnElement[bool]:
    return func.coalesce(updated_at, otherwise, 0.0) < _SINCE


def _words(*names: str) -> list[ColumnElement[Any]]:
    return [literal_column(f"'{name}'") for name in names]


OPEN_RUNS: Final[Select[Any]] = (
    select(*_RUN_COLUMNS)
    .where(or_(_S.status == _RUNNING, _S.status.is_(None)), _quiet(_S.updated_at, _S.started_at))
    .order_by(_S.updated_at)
    .limit(AT_ONCE)
)
_FIRING: Final = (
    select(_R.id).where(_R.invocation_id == _I.id).order_by(_R.created_at.desc(), _R.id.desc()).limit(1).scalar_subquery()
)
_FIRING_KIND: Final = (
    select(_R.action_kind)
    .where(_R.invocation_id == _I.id)
    .order_by(_R.created_at.desc(), _R.id.desc())
    .limit(1)
    .scalar_subquery()
)
OPEN_INVOCATIONS: Final[Select[Any]] = (
    select(_I.id, _I.node_metadata, _FIRING_KIND, _I.started_at, _I.updated_at, _I.ended_at, _FIRING)
    .where(_I.status == _RUNNING, _quiet(_I.updated_at, _I.started_at))
    .order_by(_I.started_at)
    .limit(AT_ONCE)
)
OPEN_PLAYS: Final[Select[Any]] = (
    select(_P.id, _P.status, _P.updated_at, _P.ended_at, _P.session_id)
    .where(_P.status.in_(_words("running", "running_complete", "prepared", "redoing")), _quiet(_P.updated_at, _P.started_at))
    .order_by(_P.updated_at)
    .limit(AT_ONCE)
)
OPEN_SHOWS: Final[Select[Any]] = (
    select(_W.id, _W.topic, _W.status, _W.show_dir, _W.updated_at)
    .where(_W.status.in_(_words("active", "imported")), _quiet(_W.updated_at, _W.created_at))
    .order_by(_W.updated_at)
    .limit(AT_ONCE)
)
OPEN_FIRINGS: Final[Select[Any]] = (
    select(*FIRING_COLUMNS)
    .where(_R.status == _RUNNING, _R.schedule_id.is_not(None), _quiet(_R.updated_at, _R.fired_at))
    .order_by(_R.updated_at)
    .limit(AT_ONCE)
)
RUNS_BY_ID: Final[Select[Any]] = select(*_RUN_COLUMNS).where(_S.id.in_(IDS))
RUNS_OF_INVOCATIONS: Final[Select[Any]] = select(*_RUN_COLUMNS).where(_S.invocation_id.in_(IDS))
PLAYS_OF_SHOWS: Final[Select[Any]] = select(_P.show_id, _P.session_id).where(_P.show_id.in_(IDS), _P.session_id.is_not(None))
