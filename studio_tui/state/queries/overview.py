"""Statements behind the header's counts; each reads the rows of one status from ``idx_sessions_status_updated``."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Float, Select, bindparam, func, literal_column, select

from studio_tui.state.queries.columns import LIMIT
from studio_tui.state.queries.runs import LISTED, RUN_COLUMNS, RUNNING
from studio_tui.state.schema import sessions

_S = sessions.c
_SINCE: Final = bindparam("since", type_=Float)

RUNNING_COUNTED: Final = select(func.count()).select_from(sessions).where(RUNNING, LISTED)
RUNNING_RUNS: Final[Select[Any]] = (
    select(*RUN_COLUMNS).where(RUNNING, LISTED).order_by(_S.updated_at.desc(), _S.id.desc()).limit(LIMIT)
)
FAILED_COUNTED: Final = (
    select(func.count())
    .select_from(sessions)
    .where(
        _S.status == literal_column("'failed'"),
        _S.updated_at >= _SINCE,
        func.coalesce(_S.ended_at, _S.updated_at) >= _SINCE,
        func.coalesce(_S.status_reason_summary, "") != "phantom_reaped",
        LISTED,
    )
)
"""A run that ended since then was updated since then: the index narrows it down, the end decides.

Runs that the peer's reaper called failed because nobody had heard of them are not counted (lionagi 0.36, attention).
"""
