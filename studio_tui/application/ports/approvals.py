"""Approvals as the operations need them (ADR-0078 D3; rows and evidence of lionagi 0.36)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from studio_tui.domain.approvals import ApprovalRecord, ChainReport, EvidenceRecord


class ApprovalPort(Protocol):
    """The ledger of approvals. Every change leaves a line of evidence in the same transaction.

    What is decided is decided once: each change raises :class:`NotFound`, and :class:`Conflict` when the approval is no longer
    what the change needs; an approval whose time has run out is written down as expired first.
    """

    async def propose(self, action_kind: str, params: Mapping[str, object]) -> ApprovalRecord:
        """Ask for something to be allowed once. The row names no run: name it in ``params`` (lionagi's own retention would fail
        on it). Raises :class:`ValidationFailure`."""
        ...

    async def get_approval(self, approval_id: str) -> ApprovalRecord | None:
        """One approval. A lapsed one is written down as expired where the store may be written."""
        ...

    async def waiting(self, *, limit: int) -> tuple[ApprovalRecord, ...]:
        """Pending and granted approvals, the one that expires first first; some may have lapsed (see ``domain.approvals``)."""
        ...

    async def expire_lapsed(self) -> int:
        """Write down every approval whose time has run out; how many there were."""
        ...

    async def grant(self, approval_id: str) -> ApprovalRecord:
        """Allow a pending one."""
        ...

    async def deny(self, approval_id: str, *, reason_class: str | None, reason: str | None) -> ApprovalRecord:
        """Refuse a pending one. A reason has a class and words, or there is none: else :class:`ValidationFailure`."""
        ...

    async def consume(self, approval_id: str, *, action_kind: str, params: Mapping[str, object]) -> ApprovalRecord:
        """Use a granted one up, for exactly what it was granted for: else :class:`PermissionDenied`, and it stays granted."""
        ...

    async def evidence(self, *, before: int | None, limit: int) -> tuple[EvidenceRecord, ...]:
        """Lines of the chain, the newest first, before the line of this number."""
        ...

    async def evidence_of(self, approval_id: str) -> tuple[EvidenceRecord, ...]:
        """The lines about one approval, oldest first."""
        ...

    async def decided(self, *, before: int | None, limit: int) -> tuple[EvidenceRecord, ...]:
        """The lines that ended an approval (denied, consumed, expired), the newest first, before the line of this number."""
        ...

    async def verify_chain(self) -> ChainReport:
        """Check every line from the first on."""
        ...
