"""What people decided about attention items (implements ``AttentionPort``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Row, Select, delete, insert

from studio_tui.application.errors import Conflict, ValidationFailure
from studio_tui.application.ports.attention import Decision
from studio_tui.domain.attention import OPEN, Disposition, DispositionChange, disposition_fault, is_stale
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.dialect import advisory_lock, insert_into
from studio_tui.state.queries import attention as queries
from studio_tui.state.queries.attention import change_record, disposition_record
from studio_tui.state.queries.keysets import LAST_NUMBER
from studio_tui.state.readers import as_count
from studio_tui.state.schema import (
    attention_disposition_history,
    attention_disposition_revisions,
    attention_dispositions,
)
from studio_tui.state.stores.reads import in_parts
from studio_tui.state.stores.writes import WriteStore, hex_id, require_some, require_text

_LOCK: Final = "lionagi.state.attention_disposition_history"


class AttentionStore(WriteStore):
    """Implements ``AttentionPort``. The decision, its revision and its line of history are one transaction."""

    async def decide(self, decision: Decision) -> Disposition:
        """Store a decision, in place of one that holds."""
        _check(decision)

        async def work(connection: AsyncConnection) -> Disposition:
            await advisory_lock(connection, _LOCK)
            before = await _only(connection, queries.DISPOSITION, decision.item_id)
            last = await _last_revision(connection, decision.item_id)
            if is_stale(active=before is not None, last_revision=last, revision=decision.revision):
                raise _opened_again(decision, last)
            prior = None if before is None else disposition_record(before)
            await _store(connection, decision, last + 1, self._now())
            await _note(connection, decision, None if prior is None else prior.state, self._now())
            return disposition_record(await _one(connection, decision.item_id))

        return await self._db.write(work)

    async def reopen(self, item_id: str, *, actor: str) -> bool:
        """Take a decision back. Its revision is kept and goes on, so that a late decision from before is known as such."""
        require_some(item_id=item_id, actor=actor)

        async def work(connection: AsyncConnection) -> bool:
            await advisory_lock(connection, _LOCK)
            row = await _only(connection, queries.DISPOSITION, item_id)
            if row is None:
                return False
            before = disposition_record(row)
            last = max(before.revision, await _last_revision(connection, item_id))
            await _keep_revision(connection, item_id, last + 1)
            await connection.execute(delete(attention_dispositions).where(attention_dispositions.c.item_id == item_id))
            undone = Decision(item_id, OPEN, before.source_status, actor)
            await _note(connection, undone, before.state, self._now())
            return True

        return await self._db.write(work)

    async def dispositions_of(self, item_ids: Sequence[str]) -> Mapping[str, Disposition]:
        """What holds now for these items."""
        found: dict[str, Disposition] = {}
        now = self._now()
        for ids in in_parts(item_ids):
            rows = await self._rows(queries.DISPOSITIONS_OF, {"ids": ids, "now": now})
            found |= {record.item_id: record for record in map(disposition_record, rows)}
        return found

    async def current(self, *, after: str | None, limit: int) -> tuple[Disposition, ...]:
        """What holds now, by item."""
        values = {"after": after or "", "now": self._now(), "limit": limit}
        return tuple(map(disposition_record, await self._rows(queries.CURRENT, values)))

    async def revisions_of(self, item_ids: Sequence[str]) -> Mapping[str, int]:
        """The last revision of each item about which anything was ever decided."""
        found: dict[str, int] = {}
        for ids in in_parts(item_ids):
            found |= {str(item): int(revision) for item, revision in await self._rows(queries.REVISIONS_OF, {"ids": ids})}
        return found

    async def history_of(self, item_id: str) -> tuple[DispositionChange, ...]:
        """What was decided about one item, oldest first."""
        return tuple(map(change_record, await self._rows(queries.HISTORY_OF, {"item_id": item_id})))

    async def history(self, *, before: int | None, limit: int) -> tuple[DispositionChange, ...]:
        """All decisions, the newest first."""
        values = {"before": LAST_NUMBER if before is None else before, "limit": limit}
        return tuple(map(change_record, await self._rows(queries.HISTORY, values)))


def _check(decision: Decision) -> None:
    require_some(item_id=decision.item_id, source_status=decision.source_status, actor=decision.actor)
    require_text(note=decision.note)
    if fault := disposition_fault(decision.state, decision.note, decision.expires_at):
        raise ValidationFailure.of(fault[0], "invalid", fault[1])


def _kept(note: str | None) -> str | None:
    """A blank note says nothing."""
    return note if note and note.strip() else None


def _opened_again(decision: Decision, last: int) -> Conflict:
    seen = None if decision.revision is None else str(decision.revision)
    return Conflict("attention item", expected=seen, actual=str(last), message="the item was opened again since you looked")


async def _store(connection: AsyncConnection, decision: Decision, revision: int, now: float) -> None:
    news = {
        "state": decision.state,
        "note": _kept(decision.note),
        "updated_at": now,
        "expires_at": decision.expires_at,
        "actor": decision.actor,
        "source_status": decision.source_status,
        "revision": revision,
    }
    await connection.execute(
        insert_into(connection, attention_dispositions)
        .values(item_id=decision.item_id, created_at=now, **news)
        .on_conflict_do_update(index_elements=[attention_dispositions.c.item_id], set_=news)
    )
    await _keep_revision(connection, decision.item_id, revision)


async def _keep_revision(connection: AsyncConnection, item_id: str, revision: int) -> None:
    await connection.execute(
        insert_into(connection, attention_disposition_revisions)
        .values(item_id=item_id, revision=revision)
        .on_conflict_do_update(index_elements=[attention_disposition_revisions.c.item_id], set_={"revision": revision})
    )


async def _note(connection: AsyncConnection, decision: Decision, prior_state: str | None, now: float) -> None:
    """The line of history, numbered over all items."""
    last = (await connection.execute(queries.LAST_SEQUENCE)).scalar()
    await connection.execute(
        insert(attention_disposition_history).values(
            id=hex_id(),
            item_id=decision.item_id,
            sequence=(last or 0) + 1,
            prior_state=prior_state,
            new_state=decision.state,
            note=_kept(decision.note),
            actor=decision.actor,
            source_status=decision.source_status,
            created_at=now,
        )
    )


async def _last_revision(connection: AsyncConnection, item_id: str) -> int:
    row = await _only(connection, queries.LAST_REVISION, item_id)
    return 0 if row is None else as_count(row[0], "revision", [])


async def _only(connection: AsyncConnection, statement: Select[Any], item_id: str) -> Row[Any] | None:
    row: Row[Any] | None = (await connection.execute(statement, {"item_id": item_id})).first()
    return row


async def _one(connection: AsyncConnection, item_id: str) -> Row[Any]:
    row: Row[Any] = (await connection.execute(queries.DISPOSITION, {"item_id": item_id})).one()
    return row
