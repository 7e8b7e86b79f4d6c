"""Figures as the operations need them (ADR-0078 D3; rules of lionagi 0.36)."""

from __future__ import annotations

from typing import Protocol

from studio_tui.domain.stats import Activity, SpendShare, SpendSum, Window


class StatsPort(Protocol):
    """Sums over runs of a window of time, each read through an index of its newest end. ``now`` is in epoch seconds."""

    async def activity(self, window: Window, now: float) -> Activity:
        """How runs ended, bucket by bucket."""
        ...

    async def spend(self, window: Window, now: float) -> SpendSum:
        """What runs cost, as far as they reported it."""
        ...

    async def spend_by(self, dimension: str, window: Window, now: float, *, limit: int) -> tuple[SpendShare, ...]:
        """The same by project, agent, playbook or model, the dearest first, unreported last.

        Raises :class:`ValidationFailure` for another dimension.
        """
        ...
