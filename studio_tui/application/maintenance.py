"""Upkeep of the store, each act on record, and the record."""

from __future__ import annotations

from typing import Final

from studio_tui.application.errors import Conflict, NotFound
from studio_tui.application.guard import guarded
from studio_tui.application.hosting import holder_words
from studio_tui.application.journal import Journal
from studio_tui.application.models.common import Page
from studio_tui.application.models.maintenance import (
    AdminEvent,
    AdminEventQuery,
    CheckpointReport,
    CheckpointStore,
    IntegrityReport,
    VacuumReport,
)
from studio_tui.application.pages import page_of
from studio_tui.application.ports import ActProvenance, Clock, SchedulerHostPort, SidecarPort
from studio_tui.application.ports.admin_events import AdminEventPort
from studio_tui.application.ports.maintenance import MaintenancePort
from studio_tui.application.provenance import actor_of
from studio_tui.application.views import view

_FINDINGS: Final = 100


@guarded
class MaintenanceService:
    """Upkeep. The peer reads from the events when each act was last done, so one is noted when it is done, and only then."""

    def __init__(
        self,
        *,
        store: MaintenancePort,
        events: AdminEventPort,
        host: SchedulerHostPort,
        sidecar: SidecarPort,
        by: ActProvenance,
        clock: Clock,
    ) -> None:
        self._store = store
        self._events = events
        self._host = host
        self._journal = Journal(sidecar, clock)
        self._actor = actor_of(by)
        self._clock = clock

    async def checkpoint(self, command: CheckpointStore) -> CheckpointReport:
        """Move the log into the file. Raises :class:`PermissionDenied` for a store that may not be written."""
        moved = await self._store.checkpoint(command.mode)
        if moved is None:
            return CheckpointReport(mode=command.mode, busy=False)
        report = CheckpointReport(mode=command.mode, busy=bool(moved[0]), log_pages=moved[1], moved_pages=moved[2])
        await self._note("checkpoint", report.model_dump())
        return report

    async def vacuum(self) -> VacuumReport:
        """Rewrite the store without the room of deleted rows; nobody else can write meanwhile.

        Raises :class:`Conflict` while another process hosts the scheduler, the peer's daemon among them, and
        :class:`PermissionDenied`.
        """
        if self._host.holder is not None or self._host.state == "standby":
            holder = holder_words(self._host.holder) or self._host.reason
            message = f"another process works with the store: {holder}"
            raise Conflict("store", expected="nobody else", actual=holder, message=message)
        before, begun = self._store.size_bytes(), self._clock.monotonic()
        await self._store.vacuum()
        report = VacuumReport(duration=self._clock.monotonic() - begun, bytes_before=before, bytes_after=self._store.size_bytes())
        await self._note("vacuum", report.model_dump())
        return report

    async def check_integrity(self) -> IntegrityReport:
        """Check the whole store; it reads all of it, and changes nothing."""
        findings = await self._store.integrity(limit=_FINDINGS + 1)
        if findings is None:
            return IntegrityReport(sound=None)
        return IntegrityReport(sound=not findings, findings=findings[:_FINDINGS], complete=len(findings) <= _FINDINGS)

    async def list_events(self, query: AdminEventQuery) -> Page[AdminEvent]:
        """A page of what was done to the store, the newest first."""
        return await page_of(
            query,
            "admin events",
            lambda key, limit: self._events.list_events(action=query.action, target_id=query.target_id, before=key, limit=limit),
            lambda record: (record.created_at, record.event_id),
            lambda record: view(AdminEvent, record),
        )

    async def get_event(self, event_id: str) -> AdminEvent:
        """One act. Raises :class:`NotFound`."""
        found = await self._events.get_event(event_id)
        if found is None:
            raise NotFound("event", event_id)
        return view(AdminEvent, found)

    async def _note(self, action: str, details: dict[str, object]) -> None:
        await self._events.note(action, details, actor=self._actor)
        await self._journal.note(f"store.{action}", "store", "done", details)
