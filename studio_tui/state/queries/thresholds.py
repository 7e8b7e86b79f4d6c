"""The figures that threshold schedules look at, each of the whole store (lionagi 0.36). Windows begin at ``since``.

What ended or began in a window was updated in it: the indexes of updates narrow the rows down. Every statement gives one row at
most, with the value and, for spend, how many ended runs reported no cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from sqlalchemy import ColumnElement, Executable, Float, and_, bindparam, case, func, literal_column, not_, select

from studio_tui.domain.statuses import SESSION
from studio_tui.state.queries.json_text import names_an_invocation
from studio_tui.state.queries.stats import COST, IN_WINDOW
from studio_tui.state.schema import invocations, schedules, sessions

_S: Final = sessions.c
_I: Final = invocations.c
_SINCE: Final = bindparam("since", type_=Float)


def _literal(text: str) -> ColumnElement[str]:
    return literal_column(f"'{text}'")


_CAUSES: Final = (
    select(
        func.coalesce(_literal("of ") + _S.invocation_id, _literal("run ") + _S.id).label("whose"),
        func.coalesce(_literal("by ") + _S.status_reason_code, _literal("run ") + _S.id).label("why"),
    )
    .where(_S.status.in_([_literal("failed"), _literal("timed_out")]), IN_WINDOW)
    .distinct()
    .subquery("causes")
)
"""A wall that a whole fan-out runs into is one cause; a run that names neither its invocation nor a reason is one of its own."""

_ENDED: Final = _S.status.in_([_literal(status) for status in sorted(SESSION.terminal)])
_LATENCIES: Final = (
    select(
        (_I.ended_at - _I.started_at).label("seconds"),
        func.row_number().over(order_by=_I.ended_at - _I.started_at).label("place"),
        func.count().over().label("many"),
    )
    .where(
        _I.updated_at >= _SINCE,
        _I.started_at >= _SINCE,
        _I.ended_at >= _I.started_at,
        _I.status != _literal("cancelled"),
        not_(names_an_invocation(_I.status_evidence_refs)),
    )
    .subquery("latencies")
)
"""Ends that the invocation measured itself: neither a cancellation nor a reaper says how long something ran."""

_POLLED: Final = and_(schedules.c.enabled == literal_column("1"), schedules.c.trigger_type == _literal("github_poll"))
_NONE: Final[ColumnElement[int]] = literal_column("0")

METRICS: Final[Mapping[str, Executable]] = MappingProxyType(
    {
        "failed_sessions": select(func.count(), _NONE).select_from(_CAUSES),
        "total_cost_usd": select(
            func.coalesce(func.sum(COST), 0.0), func.count(case((and_(_ENDED, COST.is_(None)), literal_column("1"))))
        ).where(IN_WINDOW),
        "p95_latency_ms": select(_LATENCIES.c.seconds * 1000.0, _NONE).where(
            _LATENCIES.c.place == (_LATENCIES.c.many * 95 + 99) // 100
        ),
        "github_poll_healthy_age_minutes": select(
            (bindparam("now", type_=Float) - func.max(schedules.c.last_healthy_poll_at)) / 60.0, _NONE
        ).where(_POLLED),
        "github_poll_consecutive_401": select(func.max(schedules.c.poller_consecutive_401), _NONE).where(_POLLED),
    }
)
"""Nothing found, or NULL, is 0: where nothing was ever polled, nobody is blind to anything."""
