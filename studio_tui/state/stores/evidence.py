"""How a line is added to the chain of evidence: numbered without a gap, and bound to the line before it (lionagi 0.36)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlalchemy import insert

from studio_tui.application.errors import StateUnavailable
from studio_tui.domain.approvals import GENESIS, sealed
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.dialect import advisory_lock
from studio_tui.state.queries.approvals import LAST_LINE
from studio_tui.state.schema import approval_evidence
from studio_tui.state.stores.writes import hex_id

_LOCK: Final = "lionagi.state.approval_evidence"


async def lock_chain(connection: AsyncConnection) -> None:
    """Hold off other writers of the chain until the transaction ends. The peer keeps approvals on SQLite only."""
    await advisory_lock(connection, _LOCK)


async def append_line(connection: AsyncConnection, line: Mapping[str, object], key: str | None) -> None:
    """Number, hash and store a line, in the transaction of the change that it speaks of; the chain must be locked.

    Raises :class:`StateUnavailable` when the last line is such that none can follow it.
    """
    last = (await connection.execute(LAST_LINE)).first()
    sequence, previous = (0, GENESIS) if last is None else (last.sequence, last.chain_hash)
    if not isinstance(sequence, int) or not isinstance(previous, str):
        raise StateUnavailable("the chain of evidence is broken: nothing can follow its last line", retryable=False)
    numbered = {"id": hex_id(), "sequence": sequence + 1, **line}
    await connection.execute(insert(approval_evidence).values(sealed(numbered, previous, key)))
