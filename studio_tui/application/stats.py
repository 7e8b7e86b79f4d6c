"""Figures over a window of time (lionagi 0.36, stats)."""

from __future__ import annotations

from studio_tui.application.guard import guarded
from studio_tui.application.models.stats import Activity, ActivityBucket, Spend, SpendQuery, SpendShare, StatsQuery
from studio_tui.application.ports import Clock
from studio_tui.application.ports.stats import StatsPort
from studio_tui.application.views import view
from studio_tui.application.wellformed import mended
from studio_tui.domain.stats import WINDOWS, SpendSum


@guarded
class StatsService:
    """How runs ended and what they cost, as far as they said so."""

    def __init__(self, *, stats: StatsPort, clock: Clock) -> None:
        self._stats = stats
        self._clock = clock

    async def activity(self, query: StatsQuery) -> Activity:
        """How runs ended, bucket by bucket."""
        window = WINDOWS[query.window]
        found = await self._stats.activity(window, self._clock.now())
        return Activity(
            window=query.window,
            bucket_length=window.bucket_seconds,
            buckets=tuple(view(ActivityBucket, bucket) for bucket in found.buckets),
            total=found.total,
            completion_rate=found.completion_rate,
        )

    async def spend(self, query: StatsQuery) -> Spend:
        """What runs cost."""
        return _spend(await self._stats.spend(WINDOWS[query.window], self._clock.now()))

    async def spend_by(self, query: SpendQuery) -> tuple[SpendShare, ...]:
        """What runs cost by project, agent, playbook or model, the dearest first, unreported last."""
        window = WINDOWS[query.window]
        shares = await self._stats.spend_by(query.dimension, window, self._clock.now(), limit=query.limit)
        return tuple(
            SpendShare(key=None if share.key is None else mended(share.key), spend=_spend(share.spend)) for share in shares
        )


def _spend(spend: SpendSum) -> Spend:
    return view(Spend, spend)
