"""Statements about invocations.

A page walks their own index; what is said of the runs of each is looked up for the rows of the page only.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, Text, bindparam, func, literal_column, null, select

from studio_tui.domain.invocations import InvocationRecord
from studio_tui.state.queries.columns import IDS, LIMIT, labelled
from studio_tui.state.queries.keysets import beyond_key, descending
from studio_tui.state.queries.runs import RUN_COLUMNS, RUNNING
from studio_tui.state.queries.sql_forms import unindexed
from studio_tui.state.readers import as_count, as_epoch, as_int, as_object, as_required, as_text
from studio_tui.state.rows import RowReader
from studio_tui.state.schema import invocations, schedule_runs, sessions

_I: Final = invocations.c
_S: Final = sessions.c
_ERROR_LENGTH: Final[ColumnElement[int]] = literal_column("500")
"""Characters of a firing's error that come with a list."""

invocation_record: Final = RowReader(
    InvocationRecord,
    (as_required, "invocation_id=id skill"),
    (as_text, "plugin"),
    (as_required, "status"),
    (as_epoch, "started_at ended_at created_at updated_at"),
    (as_count, "session_count"),
    (as_text, "reason_code=status_reason_code reason_summary=status_reason_summary"),
    (as_text, "project project_source"),
    (as_epoch, "last_activity_at"),
    (as_text, "firing_id"),
    (as_int, "firing_exit_code"),
    (as_text, "firing_error action_kind prompt"),
    (as_object, "metadata=node_metadata"),
)

_newest = sessions.alias("newest_run")
_candidate = sessions.alias("candidate_run")
_firing = schedule_runs.alias("firing")
_fired = schedule_runs.alias("fired")
_active = sessions.alias("active_run")

_NEWEST_RUN: Final = (
    select(_candidate.c.id)
    .where(_candidate.c.invocation_id == _I.id)
    .order_by(_candidate.c.updated_at.desc(), _candidate.c.created_at.desc(), _candidate.c.id.desc())
    .limit(literal_column("1"))
    .correlate(invocations)
    .scalar_subquery()
)
_FIRING: Final = (
    select(_fired.c.id)
    .where(_fired.c.invocation_id == _I.id)
    .order_by(_fired.c.created_at.desc(), _fired.c.id.desc())
    .limit(literal_column("1"))
    .correlate(invocations)
    .scalar_subquery()
)
_LAST_ACTIVITY: Final = (
    select(func.max(func.coalesce(_active.c.last_message_at, _active.c.updated_at, _active.c.started_at)))
    .where(_active.c.invocation_id == _I.id)
    .correlate(invocations)
    .scalar_subquery()
)
_LOOKED_UP: Final[dict[str, ColumnElement[Any]]] = {
    "project": _newest.c.project,
    "project_source": _newest.c.project_source,
    "last_activity_at": _LAST_ACTIVITY,
    "firing_id": _firing.c.id,
    "firing_exit_code": _firing.c.exit_code,
    "firing_error": _firing.c.error_detail,
    "action_kind": _firing.c.action_kind,
}
_FROM: Final = invocations.outerjoin(_newest, _newest.c.id == _NEWEST_RUN).outerjoin(_firing, _firing.c.id == _FIRING)
_LISTED: Final = labelled(
    invocation_record,
    invocations,
    **{
        **_LOOKED_UP,
        "firing_error": func.substr(_firing.c.error_detail, literal_column("1"), _ERROR_LENGTH),
        "prompt": null(),
        "metadata": null(),
    },
)

INVOCATION_BY_ID: Final[Select[Any]] = (
    select(*labelled(invocation_record, invocations, **_LOOKED_UP))
    .select_from(_FROM)
    .where(_I.id == bindparam("invocation_id", type_=Text))
)


@lru_cache(maxsize=32)
def invocation_page(*, skill: bool, plugin: bool, status: bool, running: bool, before: bool) -> Select[Any]:
    """A page, newest change first. Those that run are few and looked up; any other condition is checked on the walk."""
    conditions: list[ColumnElement[bool]] = []
    if skill:
        conditions.append(unindexed(_I.skill) == bindparam("skill", type_=Text))
    if plugin:
        conditions.append(_I.plugin == bindparam("plugin", type_=Text))
    if running:
        conditions.append(_I.status == literal_column("'running'"))
    elif status:
        conditions.append(unindexed(_I.status) == bindparam("status", type_=Text))
    if before:
        conditions.append(beyond_key(_I.updated_at, _I.id, moving=True))
    return select(*_LISTED).select_from(_FROM).where(*conditions).order_by(*descending(_I.updated_at, _I.id)).limit(LIMIT)


CHILD_COUNTS: Final[Select[Any]] = (
    select(_S.invocation_id, _S.status, func.count()).where(_S.invocation_id.in_(IDS)).group_by(_S.invocation_id, _S.status)
)
"""All runs of these invocations, also those that no list shows, from an index alone."""

RUNNING_CHILDREN: Final[Select[Any]] = (
    select(*RUN_COLUMNS).where(_S.invocation_id.in_(IDS), RUNNING).order_by(_S.invocation_id, _S.created_at, _S.id).limit(LIMIT)
)
