"""Approvals: seeing what waits, deciding it once, and checking the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from studio_tui.application.errors import NotFound
from studio_tui.application.guard import guarded
from studio_tui.application.journal import Journal
from studio_tui.application.models.approvals import (
    Approval,
    DenyApproval,
    GrantApproval,
    LedgerLine,
    LedgerQuery,
    LedgerReport,
)
from studio_tui.application.models.common import Page
from studio_tui.application.pages import number_of, page_of
from studio_tui.application.ports import Clock, SidecarPort
from studio_tui.application.ports.approvals import ApprovalPort
from studio_tui.application.views import view
from studio_tui.domain.approvals import WAITING, ApprovalRecord, EvidenceRecord, standing

_WAITING: Final = 500


@guarded
class ApprovalService:
    """Approvals as a person decides them. What is decided is decided once."""

    def __init__(self, *, approvals: ApprovalPort, sidecar: SidecarPort, clock: Clock) -> None:
        self._approvals = approvals
        self._journal = Journal(sidecar, clock)
        self._clock = clock

    async def list_waiting(self) -> tuple[Approval, ...]:
        """Pending and granted approvals, the one that expires first first; some may have expired by now."""
        return tuple(map(self._view, await self._approvals.waiting(limit=_WAITING)))

    async def get_approval(self, approval_id: str) -> Approval:
        """One approval. Raises :class:`NotFound`."""
        found = await self._approvals.get_approval(approval_id)
        if found is None:
            raise NotFound("approval", approval_id)
        return self._view(found)

    async def grant(self, command: GrantApproval) -> Approval:
        """Allow a pending one. Raises :class:`NotFound`, and :class:`Conflict` when it is not pending any more."""
        granted = await self._approvals.grant(command.approval_id)
        await self._journal.note("approval.grant", command.approval_id, "done", {"action": granted.action_kind})
        return self._view(granted)

    async def deny(self, command: DenyApproval) -> Approval:
        """Refuse a pending one. Raises :class:`ValidationFailure`, :class:`NotFound`, :class:`Conflict`."""
        denied = await self._approvals.deny(command.approval_id, reason_class=command.reason_class, reason=command.reason)
        await self._journal.note("approval.deny", command.approval_id, "done", {"reason_class": command.reason_class})
        return self._view(denied)

    async def ledger(self, query: LedgerQuery) -> Page[LedgerLine]:
        """Lines of the ledger, the newest first."""

        async def fetch(key: tuple[float, str] | None, limit: int) -> Sequence[EvidenceRecord]:
            before = number_of(key)
            if query.approval_id is not None:
                return _before(await self._approvals.evidence_of(query.approval_id), before, limit, query.decisions_only)
            lines = self._approvals.decided if query.decisions_only else self._approvals.evidence
            return await lines(before=before, limit=limit)

        return await page_of(query, "ledger", fetch, lambda line: (line.sequence, line.evidence_id), _line)

    async def verify(self) -> LedgerReport:
        """Check every line of the ledger from the first on."""
        report = await self._approvals.verify_chain()
        return view(LedgerReport, report)

    def _view(self, approval: ApprovalRecord) -> Approval:
        now = self._clock.now()
        status = standing(approval, now)
        left = max(0.0, approval.expires_at - now) if status in WAITING and approval.expires_at is not None else None
        return view(Approval, approval, status=status, remaining=left)


def _before(lines: Sequence[EvidenceRecord], before: int | None, limit: int, decisions_only: bool) -> Sequence[EvidenceRecord]:
    """The lines of one approval, newest first."""
    wanted = [line for line in reversed(lines) if before is None or line.sequence < before]
    return [line for line in wanted if not decisions_only or line.status_to not in WAITING][:limit]


def _line(line: EvidenceRecord) -> LedgerLine:
    return view(LedgerLine, line)
