"""Statements about the outbox.

The store has an index of the messages that wait, by their due time, and none of all messages by their age. Lists of all of them
read the table: retention keeps it short (7 days for what was delivered, 30 for the rest; lionagi 0.36).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from sqlalchemy import ColumnElement, Delete, Float, Select, Text, and_, bindparam, delete, func, literal_column, or_, select

from studio_tui.domain.outbox import ENDED, WAITING, DispatchRecord
from studio_tui.state.queries.columns import LIMIT, labelled, numbered
from studio_tui.state.queries.keysets import beyond_key, descending
from studio_tui.state.readers import as_count, as_epoch, as_flag, as_object, as_required, as_text
from studio_tui.state.rows import RowReader
from studio_tui.state.schema import dispatch_outbox

_D: Final = dispatch_outbox.c
_NOW: Final = bindparam("now", type_=Float)
_WAITS: Final = _D.status.in_([literal_column(f"'{status}'") for status in WAITING])

dispatch_record: Final = RowReader(
    DispatchRecord,
    (as_required, "dispatch_id=id kind deliver_to status"),
    (as_count, "attempt max_attempts"),
    (as_epoch, "next_attempt_at created_at expires_at updated_at"),
    (as_flag, "ack_required"),
    (as_text, "ack_token dedup_key session_id schedule_run_id last_error"),
    (as_object, "payload"),
)
_COLUMNS: Final = labelled(dispatch_record, dispatch_outbox)
_LISTED: Final = labelled(dispatch_record, dispatch_outbox, without=("payload",))

DISPATCH_BY_ID: Final[Select[Any]] = select(*_COLUMNS).where(_D.id == bindparam("dispatch_id", type_=Text))
DISPATCH_BY_KEY: Final[Select[Any]] = select(*_COLUMNS).where(_D.dedup_key == bindparam("dedup_key", type_=Text))
DUE: Final[Select[Any]] = (
    select(*_COLUMNS).where(_WAITS, _D.next_attempt_at <= _NOW).order_by(_D.next_attempt_at, _D.id).limit(LIMIT)
)
NEXT_ATTEMPT: Final[Select[Any]] = select(func.min(_D.next_attempt_at)).where(_WAITS)
PAST_DEADLINE: Final[Select[Any]] = (
    select(*_COLUMNS)
    .where(_WAITS, _D.expires_at <= _NOW, or_(_D.status == literal_column("'pending'"), _D.next_attempt_at <= _NOW))
    .order_by(_D.next_attempt_at, _D.id)
    .limit(LIMIT)
)
"""Those past their time; one that is being delivered only after its lease."""

COUNTS: Final[Select[Any]] = select(_D.status, func.count()).group_by(_D.status)


@lru_cache(maxsize=16)
def dispatch_page(*, statuses: int, before: bool) -> Select[Any]:
    """Messages without payload, newest first, of the ``statuses`` statuses in ``:status_0`` and so on."""
    conditions: list[ColumnElement[bool]] = []
    if statuses:
        conditions.append(_D.status.in_(numbered("status", statuses)))
    if before:
        conditions.append(beyond_key(_D.created_at, _D.id))
    return select(*_LISTED).where(*conditions).order_by(*descending(_D.created_at, _D.id)).limit(LIMIT)


def count_older(*, status: bool, before: bool) -> Select[Any]:
    """How many messages a purge would take, by status."""
    return select(_D.status, func.count()).where(_doomed(status=status, before=before)).group_by(_D.status)


def delete_older(*, status: bool, before: bool) -> Delete:
    """Delete them, and return the status of each."""
    return delete(dispatch_outbox).where(_doomed(status=status, before=before))


def _doomed(*, status: bool, before: bool) -> ColumnElement[bool]:
    """Without a named status only what has ended: a message on its way is never swept away by its age."""
    which = _D.status == bindparam("status", type_=Text) if status else _D.status.in_(ENDED)
    return and_(which, _D.updated_at <= bindparam("before", type_=Float)) if before else which
