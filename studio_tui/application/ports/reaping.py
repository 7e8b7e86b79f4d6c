"""What is still open in the store and has been quiet for long, for whoever ends what nobody will end any more.

Rows are found here and judged by the caller; they are ended through ``StatusPort``, each as the very version that was judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from studio_tui.domain.runs import RunRecord
from studio_tui.domain.schedules import FiringRecord


@dataclass(frozen=True, slots=True)
class OpenInvocation:
    """A running invocation: ``runs`` are those that it started, ``firing_id`` the firing that it belongs to. Epoch seconds."""

    invocation_id: str
    action_kind: str | None
    started_at: float | None
    updated_at: float | None
    ended_at: float | None
    firing_id: str | None
    runs: tuple[RunRecord, ...]


@dataclass(frozen=True, slots=True)
class OpenPlay:
    """A play that somebody was working on, with the run that it is linked to."""

    play_id: str
    status: str
    updated_at: float | None
    ended_at: float | None
    run_id: str | None
    run: RunRecord | None


@dataclass(frozen=True, slots=True)
class OpenShow:
    """A show that has not ended, with the runs of its plays."""

    show_id: str
    topic: str
    status: str
    show_dir: str | None
    updated_at: float | None
    runs: tuple[RunRecord, ...]


class ReapingPort(Protocol):
    """Reads what is open. ``quiet_since``: changed last before that instant, in epoch seconds."""

    async def open_runs(self, quiet_since: float) -> tuple[RunRecord, ...]:
        """Runs that are running or have no status."""
        ...

    async def open_invocations(self, quiet_since: float) -> tuple[OpenInvocation, ...]:
        """Running invocations."""
        ...

    async def open_plays(self, quiet_since: float) -> tuple[OpenPlay, ...]:
        """Plays that are running, run, prepared or being redone."""
        ...

    async def open_shows(self, quiet_since: float) -> tuple[OpenShow, ...]:
        """Shows that are active or imported."""
        ...

    async def open_firings(self, quiet_since: float) -> tuple[FiringRecord, ...]:
        """Running firings of schedules; tasks of the ad-hoc queue have leases of their own."""
        ...
