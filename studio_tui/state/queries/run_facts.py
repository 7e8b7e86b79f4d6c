"""Statements about one run, or a few: the row itself, its branches, its status history, and what started it."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Select, Text, bindparam, func, select

from studio_tui.state.queries.columns import IDS, LIMIT, labelled
from studio_tui.state.queries.runs import LISTED, RUN_COLUMNS, RUN_DOCUMENT_COLUMNS
from studio_tui.state.queries.schedules import FIRING_COLUMNS
from studio_tui.state.queries.sql_forms import begins_with, insertion_order
from studio_tui.state.rows import branch_record, transition_record
from studio_tui.state.schema import branches, invocations, schedule_runs, schedules, sessions, status_transitions

_RUN_ID: Final = bindparam("run_id", type_=Text)
_INVOCATION_ID: Final = bindparam("invocation_id", type_=Text)
_T = status_transitions.c

RUNS_BY_ID: Final[Select[Any]] = select(*RUN_DOCUMENT_COLUMNS).where(sessions.c.id.in_(IDS))
IDS_BY_PREFIX: Final = (
    select(sessions.c.id).where(begins_with(sessions.c.id, bindparam("prefix", type_=Text))).order_by(sessions.c.id).limit(LIMIT)
)
ALL_COUNTED: Final = select(func.count()).select_from(sessions)
BRANCHES: Final[Select[Any]] = (
    select(*labelled(branch_record, branches))
    .where(branches.c.session_id == _RUN_ID)
    .order_by(branches.c.created_at, insertion_order(branches.c.id))
)
TRANSITIONS: Final[Select[Any]] = (
    select(*labelled(transition_record, status_transitions))
    .where(_T.entity_type == bindparam("entity_type", type_=Text), _T.entity_id == bindparam("entity_id", type_=Text))
    .order_by(_T.created_at.desc(), insertion_order(_T.id).desc())
    .limit(LIMIT)
)
"""Newest first; the caller turns them round."""

RUNS_OF_INVOCATION: Final[Select[Any]] = (
    select(*RUN_COLUMNS)
    .where(sessions.c.invocation_id == _INVOCATION_ID, LISTED)
    .order_by(sessions.c.created_at, sessions.c.id)
    .limit(LIMIT)
)
FIRING_OF_INVOCATION: Final[Select[Any]] = (
    select(*FIRING_COLUMNS, schedules.c.name.label("schedule_name"))
    .select_from(schedule_runs.outerjoin(schedules, schedules.c.id == schedule_runs.c.schedule_id))
    .where(schedule_runs.c.invocation_id == _INVOCATION_ID)
    .order_by(schedule_runs.c.fired_at.desc(), schedule_runs.c.id.desc())
    .limit(1)
)
SKILL_OF_INVOCATION: Final = select(invocations.c.skill).where(invocations.c.id == _INVOCATION_ID)
