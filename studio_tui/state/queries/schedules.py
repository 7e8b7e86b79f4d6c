"""Statements about schedules and their firings."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import ColumnElement, Integer, Select, Text, and_, bindparam, func, literal_column, or_, select, true

from studio_tui.domain.statuses import EXECUTED
from studio_tui.state.queries.columns import IDS, KEY_ID, KEY_TIME, LIMIT, beyond, labelled
from studio_tui.state.queries.json_text import is_listed
from studio_tui.state.queries.sql_forms import begins_with, insertion_order
from studio_tui.state.queries.text_search import contains
from studio_tui.state.rows import firing_outcome, firing_record, schedule_record
from studio_tui.state.schema import schedule_runs, schedules, sessions

_R = schedule_runs.c
_NAME: Final = bindparam("name", type_=Text)
_ENABLED: Final = bindparam("enabled", type_=Integer)
_EACH: Final = bindparam("each", type_=Integer)
_TOP_LEVEL: Final = _R.chain_depth == literal_column("0")

SCHEDULE_COLUMNS: Final = labelled(schedule_record, schedules)
FIRING_COLUMNS: Final = labelled(firing_record, schedule_runs, without=("session_ids",))
_OUTCOME_COLUMNS: Final = (_R.schedule_id, *labelled(firing_outcome, schedule_runs))

SCHEDULE_BY_ID: Final[Select[Any]] = select(*SCHEDULE_COLUMNS).where(schedules.c.id == bindparam("schedule_id", type_=Text))
EXACT_SCHEDULES: Final[Select[Any]] = (
    select(*SCHEDULE_COLUMNS)
    .where(or_(schedules.c.name == _NAME, schedules.c.id == _NAME))
    .order_by(schedules.c.name)
    .limit(LIMIT)
)
SCHEDULES_BY_PREFIX: Final[Select[Any]] = (
    select(*SCHEDULE_COLUMNS)
    .where(or_(begins_with(schedules.c.name, _NAME), begins_with(schedules.c.id, _NAME)))
    .order_by(schedules.c.name, schedules.c.id)
    .limit(LIMIT)
)


def schedule_page(*, enabled: bool, texts: int, after: bool) -> Select[Any]:
    """Schedules by name and id; the flags say which conditions there are, their values are parameters."""
    conditions: list[ColumnElement[bool]] = []
    if enabled:
        conditions.append(schedules.c.enabled == _ENABLED)
    if texts:
        conditions.append(contains((schedules.c.name,), "text", texts))
    if after:
        name, key = schedules.c.name, bindparam("key_name", type_=Text)
        conditions.append(and_(name >= key, or_(name > key, schedules.c.id > KEY_ID)))
    return select(*SCHEDULE_COLUMNS).where(*conditions).order_by(schedules.c.name, schedules.c.id).limit(LIMIT)


def _newest(schedule_id: ColumnElement[Any], columns: tuple[ColumnElement[Any], ...]) -> Select[Any]:
    return (
        select(*columns).where(_R.schedule_id == schedule_id, _TOP_LEVEL).order_by(_R.fired_at.desc(), _R.id.desc()).limit(_EACH)
    )


def _recent_sqlite() -> Select[Any]:
    """SQLite has no LATERAL: for each schedule its rows are found in the index, and then read by their place in the table."""
    newest = schedule_runs.alias("newest")
    places = (
        select(insertion_order(newest.c.id))
        .where(newest.c.schedule_id == schedules.c.id, newest.c.chain_depth == literal_column("0"))
        .order_by(newest.c.fired_at.desc(), newest.c.id.desc())
        .limit(_EACH)
        .correlate(schedules)
    )
    return (
        select(*_OUTCOME_COLUMNS)
        .select_from(schedules.join(schedule_runs, insertion_order(_R.id).in_(places)))
        .where(schedules.c.id.in_(IDS))
        .order_by(_R.schedule_id, _R.fired_at.desc(), _R.id.desc())
    )


def _recent_lateral() -> Select[Any]:
    newest = _newest(schedules.c.id, _OUTCOME_COLUMNS).correlate(schedules).lateral()
    return (
        select(*newest.c)
        .select_from(schedules.join(newest, true()))
        .where(schedules.c.id.in_(IDS))
        .order_by(newest.c.schedule_id, newest.c.fired_at.desc(), newest.c.run_id.desc())
    )


RECENT_OUTCOMES: Final = {"sqlite": _recent_sqlite(), "postgresql": _recent_lateral()}
"""By database: the outcomes of the newest ``:each`` top-level firings of each schedule in ``:ids``, newest first within each."""


def firings_page(*, before: bool) -> Select[Any]:
    """Firings of ``:schedule_id``, newest first. The key's time is looked up by its id: it never changes, and a caller that
    could not read it may hand over anything."""
    conditions = [_R.schedule_id == bindparam("schedule_id", type_=Text)]
    if before:
        key_row = schedule_runs.alias("key_row")
        stored = select(key_row.c.fired_at).where(key_row.c.id == KEY_ID).scalar_subquery()
        conditions.append(beyond(_R.fired_at, _R.id, func.coalesce(stored, KEY_TIME)))
    return select(*FIRING_COLUMNS).where(*conditions).order_by(_R.fired_at.desc(), _R.id.desc()).limit(LIMIT)


FIRINGS: Final = firings_page(before=False)
FIRINGS_BEFORE: Final = firings_page(before=True)
FIRING_BY_ID: Final[Select[Any]] = select(*FIRING_COLUMNS).where(_R.id == bindparam("firing_id", type_=Text))

RUNS_OF_INVOCATIONS: Final[Select[Any]] = (
    select(sessions.c.invocation_id, sessions.c.id)
    .where(sessions.c.invocation_id.in_(IDS), is_listed(sessions.c.node_metadata))
    .order_by(sessions.c.invocation_id, sessions.c.created_at, sessions.c.id)
    .limit(LIMIT)
)
EXECUTED_COUNTS: Final[Select[Any]] = (
    select(_R.schedule_id, func.count())
    .where(_R.schedule_id.in_(IDS), _TOP_LEVEL, _R.status.in_([literal_column(f"'{status}'") for status in sorted(EXECUTED)]))
    .group_by(_R.schedule_id)
)
RUNNING_COUNTS: Final[Select[Any]] = (
    select(_R.schedule_id, func.count())
    .where(_R.status == literal_column("'running'"), _R.schedule_id.in_(IDS))
    .group_by(_R.schedule_id)
)
