"""Controls and signals of runs as the operations need them (ADR-0078 D3; rows of lionagi 0.36)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from studio_tui.domain.controls import ControlRecord
from studio_tui.domain.signals import SignalRecord


class ControlPort(Protocol):
    """Words to running runs."""

    async def send(self, run_id: str, verb: str, *, text: str | None = None) -> ControlRecord:
        """Queue a control for a run that goes on and listens to it, looked at in the same transaction.

        ``text`` goes with ``message`` and only with it. Raises :class:`ValidationFailure`, :class:`NotFound`, and
        :class:`Conflict` with the reason when nobody would hear it.
        """
        ...

    async def list_controls(self, run_id: str, *, before: tuple[float, str] | None, limit: int) -> tuple[ControlRecord, ...]:
        """Controls of a run by ``(created_at, id)`` descending."""
        ...

    async def pending(self, run_id: str) -> tuple[ControlRecord, ...]:
        """Controls that were not applied yet, in the order of their delivery."""
        ...

    async def pause_is_held(self, run_id: str) -> bool:
        """Whether the run stands at a pause, or is about to."""
        ...


class SignalPort(Protocol):
    """What runs tell while they go."""

    async def append(
        self, run_id: str, kind: str, payload: Mapping[str, object], *, op_id: str = "", at: float | None = None
    ) -> SignalRecord:
        """Add a signal with the next number of its run. ``at`` is in epoch seconds, now when left out.

        Raises :class:`ValidationFailure`, also for a payload above the limit, and :class:`NotFound`.
        """
        ...

    async def after(self, run_id: str, seq: int, *, limit: int) -> tuple[SignalRecord, ...]:
        """Signals of a run behind this number, in order."""
        ...

    async def tail(self, run_id: str, *, before: int | None, limit: int) -> tuple[SignalRecord, ...]:
        """The last signals of a run before this number, in order."""
        ...
