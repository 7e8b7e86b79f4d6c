"""What a run tells and is told while it goes, and the panes of its detail that come page by page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from studio_tui.application.artifacts import artifact_summary
from studio_tui.application.errors import NotFound
from studio_tui.application.guard import guarded
from studio_tui.application.journal import Journal
from studio_tui.application.models.artifacts import ArtifactSummary
from studio_tui.application.models.common import Page
from studio_tui.application.models.evidence import (
    Control,
    ControlStanding,
    EvidencePage,
    EvidenceRequest,
    SendControl,
    Signal,
    SignalQuery,
)
from studio_tui.application.pages import number_of, page_of
from studio_tui.application.ports import Clock, RunReadPort, SidecarPort
from studio_tui.application.ports.artifacts import ArtifactMetadataPort
from studio_tui.application.ports.controls import ControlPort, SignalPort
from studio_tui.application.views import view
from studio_tui.domain.controls import ControlRecord, receipt
from studio_tui.domain.signals import SignalRecord


@guarded
class EvidenceService:
    """Evidence of one run: its signals, its controls, what it left."""

    def __init__(
        self,
        *,
        runs: RunReadPort,
        signals: SignalPort,
        controls: ControlPort,
        artifacts: ArtifactMetadataPort,
        sidecar: SidecarPort,
        clock: Clock,
    ) -> None:
        self._runs = runs
        self._signals = signals
        self._controls = controls
        self._artifacts = artifacts
        self._journal = Journal(sidecar, clock)

    async def list_evidence(self, request: EvidenceRequest) -> EvidencePage:
        """A page of one pane. Raises :class:`NotFound` for a run that is not there."""
        await self._require(request.run_id)
        pages: dict[str, Callable[[EvidenceRequest], Awaitable[Page[Any]]]] = {
            "signals": self._signal_page,
            "controls": self._control_page,
            "artifacts": self._artifact_page,
        }
        page = await pages[request.pane](request)
        return EvidencePage(pane=request.pane, items=page.items, has_next=page.has_next, next_cursor=page.next_cursor)

    async def follow_signals(self, query: SignalQuery) -> tuple[Signal, ...]:
        """Signals of a run behind a number, in order. Raises :class:`NotFound` for a run that is not there."""
        await self._require(query.run_id)
        return tuple(map(_signal, await self._signals.after(query.run_id, query.after, limit=query.limit)))

    async def send_control(self, command: SendControl) -> Control:
        """Say something to a running run; what becomes of it is seen in its pane.

        Raises :class:`ValidationFailure`, :class:`NotFound`, and :class:`Conflict` with the reason when nobody would hear it.
        """
        sent = await self._controls.send(command.run_id, command.verb, text=command.text)
        await self._journal.note(f"run.{command.verb}", command.run_id, "sent", {"control": sent.control_id})
        return _control(sent)

    async def control_standing(self, run_id: str) -> ControlStanding:
        """What a run has not taken up yet, and whether it stands at a pause. Raises :class:`NotFound`."""
        await self._require(run_id)
        pending = await self._controls.pending(run_id)
        held = await self._controls.pause_is_held(run_id)
        return ControlStanding(run_id=run_id, pending=tuple(map(_control, pending)), pause_held=held)

    async def _require(self, run_id: str) -> None:
        if not await self._runs.get_runs((run_id,)):
            raise NotFound("run", run_id)

    async def _signal_page(self, request: EvidenceRequest) -> Page[Signal]:
        async def fetch(key: tuple[float, str] | None, limit: int) -> list[SignalRecord]:
            return list(reversed(await self._signals.tail(request.run_id, before=number_of(key), limit=limit)))

        return await page_of(request, "signals", fetch, lambda signal: (signal.seq, signal.signal_id), _signal)

    async def _control_page(self, request: EvidenceRequest) -> Page[Control]:
        return await page_of(
            request,
            "controls",
            lambda key, limit: self._controls.list_controls(request.run_id, before=key, limit=limit),
            lambda control: (control.created_at, control.control_id),
            _control,
        )

    async def _artifact_page(self, request: EvidenceRequest) -> Page[ArtifactSummary]:
        return await page_of(
            request,
            "artifacts",
            lambda key, limit: self._artifacts.artifacts_of_run(request.run_id, after=key, limit=limit),
            lambda artifact: (artifact.created_at, artifact.artifact_id),
            artifact_summary,
        )


def _signal(record: SignalRecord) -> Signal:
    return view(Signal, record)


def _control(record: ControlRecord) -> Control:
    told = receipt(record)
    return view(Control, record, state=told.state, detail=told.detail)
