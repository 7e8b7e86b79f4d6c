"""Sums over runs of a window of time (implements ``StatsPort``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from studio_tui.application.errors import ValidationFailure
from studio_tui.domain.stats import DIMENSIONS, Activity, SpendShare, SpendSum, Window, activity
from studio_tui.state.queries import stats as queries
from studio_tui.state.readers import as_count, as_number, as_text
from studio_tui.state.stores.reads import ReadStore


class StatsStore(ReadStore):
    """Implements ``StatsPort``: one statement each."""

    async def activity(self, window: Window, now: float) -> Activity:
        """How runs ended, bucket by bucket."""
        values = {"since": float(window.start(now)), "seconds": window.bucket_seconds}
        rows = await self._rows(queries.ACTIVITY, values)
        return activity(window, now, [(int(start), _text(status), int(count)) for start, status, count in rows])

    async def spend(self, window: Window, now: float) -> SpendSum:
        """What runs cost, as far as they reported it."""
        row = await self._first_row(queries.SPEND, {"since": float(window.start(now))})
        return SpendSum(None, 0, 0) if row is None else _sum(row)

    async def spend_by(self, dimension: str, window: Window, now: float, *, limit: int) -> tuple[SpendShare, ...]:
        """What runs cost by project, agent, playbook or model."""
        statement = queries.SPEND_BY.get(dimension)
        if statement is None:
            raise ValidationFailure.of("dimension", "invalid", f"must be one of {', '.join(DIMENSIONS)}")
        rows = await self._rows(statement, {"since": float(window.start(now)), "limit": limit})
        return tuple(SpendShare(_text(row[0]), _sum(row[1:])) for row in rows)


def _sum(row: Sequence[Any]) -> SpendSum:
    return SpendSum(as_number(row[0], "total_cost_usd", []), as_count(row[1], "", []), as_count(row[2], "", []))


def _text(value: object) -> str | None:
    return as_text(value, "", [])
