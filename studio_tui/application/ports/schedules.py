"""Ports that read and change schedules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from studio_tui.application.ports.schedule_facts import ScheduleFactsPort as ScheduleFactsPort
from studio_tui.application.ports.schedule_facts import Vanishing
from studio_tui.domain.outcomes import HasOutcome
from studio_tui.domain.schedules import FiringRecord, ScheduleRecord


class ScheduleReadPort(ScheduleFactsPort, Protocol):
    """Reads schedules and firings."""

    async def list_schedules(
        self, *, enabled: bool | None, text: str | None, after: tuple[str, str] | None, limit: int
    ) -> tuple[ScheduleRecord, ...]:
        """Schedules by ``(name, id)`` ascending, after this key; ask for one more than needed to know whether more follow."""
        ...

    async def get_schedule(self, schedule_id: str) -> ScheduleRecord | None:
        """One schedule by id."""
        ...

    async def find_schedules(self, name_or_prefix: str, *, limit: int) -> tuple[ScheduleRecord, ...]:
        """The schedule of exactly this name or id, else those whose id or name begins with it, taken literally."""
        ...

    async def recent_firings(self, schedule_ids: Sequence[str], *, each: int) -> Mapping[str, tuple[HasOutcome, ...]]:
        """The outcomes of the newest ``each`` depth-0 rows of each schedule, newest first."""
        ...

    async def firings(self, schedule_id: str, *, before: tuple[float, str] | None, limit: int) -> tuple[FiringRecord, ...]:
        """Firings by ``(fired_at, id)`` descending with their sessions' ids."""
        ...

    async def get_firing(self, firing_id: str) -> FiringRecord | None:
        """One firing by id."""
        ...

    async def executed_counts(self, schedule_ids: Sequence[str]) -> Mapping[str, int]:
        """Executed depth-0 firings over each schedule's life."""
        ...

    async def running_counts(self, schedule_ids: Sequence[str]) -> Mapping[str, int]:
        """Firings of each schedule that run now; a schedule without any may be left out.

        Not the same as counting them among the newest: a long firing is pushed out of those by the skips that follow it.
        """
        ...


@dataclass(frozen=True, slots=True)
class NewSchedule:
    """A schedule to insert: column values by name (JSON columns as Python values), ready for the store."""

    values: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ActProvenance:
    """Who made a change to a schedule's definition, and from where (``status_transitions.metadata.provenance``)."""

    origin: str
    actor: str | None = None
    cwd: str | None = None


class ScheduleWritePort(Protocol):
    """Changes schedules; each change writes its history row in the same transaction."""

    async def create_schedule(self, new: NewSchedule, *, now: float, by: ActProvenance) -> ScheduleRecord:
        """Insert a schedule. Raises :class:`Conflict` when the name is taken."""
        ...

    async def set_enabled(
        self,
        schedule_id: str,
        *,
        enabled: bool,
        next_fire_at: float | None,
        expected_updated_at: float | None,
        reason_code: str,
        reason: str | None,
        now: float,
        by: ActProvenance,
    ) -> ScheduleRecord:
        """Turn a schedule on or off and store its next instant.

        Raises :class:`NotFound`, and :class:`Conflict` when ``expected_updated_at`` is given and is not the stored value.
        """
        ...

    async def patch_schedule(
        self, schedule_id: str, values: Mapping[str, object], *, expected_updated_at: float, now: float
    ) -> ScheduleRecord:
        """Write these columns. The peer keeps no history of changes of a definition that leave it on or off.

        Raises :class:`NotFound`, and :class:`Conflict` when the name is taken or ``expected_updated_at`` is not the stored value
        (then with what was expected and found).
        """
        ...

    async def delete_schedule(
        self, schedule_id: str, *, expected_updated_at: float | None, although_running: bool, now: float, by: ActProvenance
    ) -> Vanishing:
        """Delete a schedule with its firings; what went with it.

        Raises :class:`NotFound`, and :class:`Conflict` when it is not what the caller saw, a firing of it runs (unless
        ``although_running``), or something refers to a firing that may not lose it.
        """
        ...
