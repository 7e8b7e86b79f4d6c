"""The ledger of approvals and its chain of evidence (implements ``ApprovalPort``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from sqlalchemy import insert, update

from studio_tui.application.errors import Conflict, NotFound, PermissionDenied, ValidationFailure
from studio_tui.application.ports import Clock
from studio_tui.domain.approvals import (
    ACTION_KIND_LIMIT,
    EVENT_OF,
    REASON_CLASSES,
    TTL,
    ApprovalRecord,
    ChainCheck,
    ChainReport,
    EvidenceRecord,
    is_lapsed,
    params_hash,
)
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.db import StateDB
from studio_tui.state.queries import approvals as queries
from studio_tui.state.queries.approvals import approval_record, evidence_record
from studio_tui.state.queries.keysets import LAST_NUMBER
from studio_tui.state.schema import approvals
from studio_tui.state.stores.evidence import append_line, lock_chain
from studio_tui.state.stores.writes import WriteStore, hex_id, require_json, require_some, require_text

_AT_ONCE: Final = 500
_NO_REASON: Final[Mapping[str, str | None]] = MappingProxyType({})


class ApprovalStore(WriteStore):
    """Implements ``ApprovalPort``. With a ``key`` each new line of evidence is signed, and every line must be."""

    def __init__(self, db: StateDB, clock: Clock, *, key: str | None = None) -> None:
        super().__init__(db, clock)
        self._key = key

    # --- reads --------------------------------------------------------------------------------------------------------

    async def get_approval(self, approval_id: str) -> ApprovalRecord | None:
        """One approval. A lapsed one is written down as expired where the store may be written."""
        row = await self._first_row(queries.APPROVAL_BY_ID, {"approval_id": approval_id})
        if row is None:
            return None
        found = approval_record(row)
        if not is_lapsed(found, self._now()):
            return found
        try:
            return await self._db.write(lambda connection: self._settled(connection, approval_id))
        except PermissionDenied:
            return found

    async def waiting(self, *, limit: int) -> tuple[ApprovalRecord, ...]:
        """Pending and granted approvals, the one that expires first first."""
        return tuple(map(approval_record, await self._rows(queries.WAITING_APPROVALS, {"limit": limit})))

    async def evidence(self, *, before: int | None, limit: int) -> tuple[EvidenceRecord, ...]:
        """Lines of the chain, the newest first."""
        values = {"before": LAST_NUMBER if before is None else before, "limit": limit}
        return tuple(map(evidence_record, await self._rows(queries.EVIDENCE, values)))

    async def decided(self, *, before: int | None, limit: int) -> tuple[EvidenceRecord, ...]:
        """The lines that ended an approval, the newest first."""
        values = {"before": LAST_NUMBER if before is None else before, "limit": limit}
        return tuple(map(evidence_record, await self._rows(queries.DECISIONS, values)))

    async def evidence_of(self, approval_id: str) -> tuple[EvidenceRecord, ...]:
        """The lines about one approval, oldest first."""
        return tuple(map(evidence_record, await self._rows(queries.EVIDENCE_OF, {"approval_id": approval_id})))

    async def verify_chain(self) -> ChainReport:
        """Check every line from the first on, some hundreds at a time, so that nothing else has to wait for it."""
        check, after = ChainCheck(self._key), -LAST_NUMBER
        while lines := await self._mappings(queries.LINES_AFTER, {"after": after, "limit": _AT_ONCE}):
            for line in lines:
                check.add(line)
            after = lines[-1]["sequence"]
        return check.report()

    # --- changes ------------------------------------------------------------------------------------------------------

    async def propose(self, action_kind: str, params: Mapping[str, object]) -> ApprovalRecord:
        """Ask for something to be allowed once; the row names no run."""
        require_some(action_kind=action_kind)
        if len(action_kind) > ACTION_KIND_LIMIT:
            raise ValidationFailure.of("action_kind", "too_long", f"must have at most {ACTION_KIND_LIMIT} characters")
        require_json(params=dict(params))
        asked, approval_id = params_hash(params), hex_id()

        async def work(connection: AsyncConnection) -> ApprovalRecord:
            await lock_chain(connection)
            now = self._now()
            proposal = ApprovalRecord(approval_id, action_kind, asked, None, "pending", now, None, None, now + TTL)
            await connection.execute(insert(approvals).values(_columns(proposal)))
            await self._append(connection, proposal, None, now)
            return proposal

        return await self._db.write(work)

    async def expire_lapsed(self) -> int:
        """Write down every approval whose time has run out; how many there were."""

        async def work(connection: AsyncConnection) -> int:
            await lock_chain(connection)
            values = {"now": self._now(), "limit": _AT_ONCE}
            rows = (await connection.execute(queries.LAPSED_APPROVALS.with_for_update(), values)).all()
            for row in rows:
                await self._move(connection, approval_record(row), "expired")
            return len(rows)

        return await self._db.write(work)

    async def grant(self, approval_id: str) -> ApprovalRecord:
        """Allow a pending one."""
        return await self._decide(approval_id, "pending", "granted")

    async def deny(self, approval_id: str, *, reason_class: str | None, reason: str | None) -> ApprovalRecord:
        """Refuse a pending one, with a class and words, or without a reason."""
        if reason_class is None and reason is None:
            return await self._decide(approval_id, "pending", "denied")
        if reason_class not in REASON_CLASSES:
            raise ValidationFailure.of("reason_class", "invalid", f"must be one of {', '.join(REASON_CLASSES)}")
        require_some(reason=reason or "")
        said = {"justification_class": reason_class, "justification_reason": reason}
        return await self._decide(approval_id, "pending", "denied", said=said)

    async def consume(self, approval_id: str, *, action_kind: str, params: Mapping[str, object]) -> ApprovalRecord:
        """Use a granted one up, for exactly what it was granted for."""
        require_json(params=dict(params))
        use = (action_kind, params_hash(params))
        return await self._decide(approval_id, "granted", "consumed", use=use)

    async def _decide(
        self,
        approval_id: str,
        expected: str,
        status: str,
        *,
        use: tuple[str, str] | None = None,
        said: Mapping[str, str | None] = _NO_REASON,
    ) -> ApprovalRecord:
        """Move an approval on if it stands as expected. An expiry that is met on the way is kept, then the change refused."""
        require_text(approval_id=approval_id)

        async def work(connection: AsyncConnection) -> tuple[ApprovalRecord, bool]:
            found = await self._settled(connection, approval_id)
            if found.status != expected:
                return found, False
            if use is not None:
                _same_use(found, use)
            return await self._move(connection, found, status, said), True

        after, done = await self._db.write(work)
        if not done:
            message = f"the approval is {after.status}, not {expected}"
            raise Conflict("approval", expected=expected, actual=after.status, message=message)
        return after

    async def _settled(self, connection: AsyncConnection, approval_id: str) -> ApprovalRecord:
        """The approval as it stands now, locked; expired if its time has run out."""
        await lock_chain(connection)
        row = (await connection.execute(queries.APPROVAL_BY_ID.with_for_update(), {"approval_id": approval_id})).first()
        if row is None:
            raise NotFound("approval", approval_id)
        found = approval_record(row)
        return await self._move(connection, found, "expired") if is_lapsed(found, self._now()) else found

    async def _move(
        self, connection: AsyncConnection, before: ApprovalRecord, status: str, said: Mapping[str, str | None] = _NO_REASON
    ) -> ApprovalRecord:
        """Write the new status and its line of evidence."""
        now = self._now()
        stamp: dict[str, Any] = {f"{status}_at": now} if status in ("granted", "consumed") else {}
        await connection.execute(
            update(approvals)
            .where(approvals.c.id == before.approval_id, approvals.c.status == before.status)
            .values(status=status, **stamp)
        )
        after = replace(before, status=status, **stamp)
        await self._append(connection, after, before.status, now, said)
        return after

    async def _append(
        self,
        connection: AsyncConnection,
        after: ApprovalRecord,
        status_from: str | None,
        now: float,
        said: Mapping[str, str | None] = _NO_REASON,
    ) -> None:
        line = {
            "event_type": EVENT_OF[after.status],
            "approval_id": after.approval_id,
            "action_kind": after.action_kind,
            "status_from": status_from,
            "status_to": after.status,
            "params_hash": after.params_hash,
            "justification_class": None,
            "justification_reason": None,
            **said,
            "created_at": now,
        }
        await append_line(connection, line, self._key)


def _columns(proposal: ApprovalRecord) -> dict[str, object]:
    return {
        "id": proposal.approval_id,
        "action_kind": proposal.action_kind,
        "params_hash": proposal.params_hash,
        "status": proposal.status,
        "proposed_at": proposal.proposed_at,
        "expires_at": proposal.expires_at,
    }


def _same_use(approval: ApprovalRecord, use: tuple[str, str]) -> None:
    """A grant is for one kind of act with one set of parameters."""
    if approval.action_kind != use[0]:
        raise PermissionDenied(f"the approval is for {approval.action_kind}, not for {use[0]}")
    if approval.params_hash != use[1]:
        raise PermissionDenied("the approval is for other parameters than these")
