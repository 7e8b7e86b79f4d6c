"""What runs tell while they go (implements ``SignalPort``)."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import insert

from studio_tui.domain.signals import SignalRecord, payload_fault
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.dialect import advisory_lock
from studio_tui.state.queries import signals as queries
from studio_tui.state.queries.keysets import LAST_NUMBER
from studio_tui.state.queries.signals import signal_record
from studio_tui.state.schema import session_signals, sessions
from studio_tui.state.stores.writes import WriteStore, hex_id, require, require_json, require_row, require_some, require_text


class SignalStore(WriteStore):
    """Implements ``SignalPort``."""

    async def append(
        self, run_id: str, kind: str, payload: Mapping[str, object], *, op_id: str = "", at: float | None = None
    ) -> SignalRecord:
        """Add a signal with the next number of its run. On PostgreSQL the run's own lock, which the peer takes too, is held."""
        require_some(kind=kind)
        require_text(op_id=op_id)
        require("payload", payload_fault(payload))
        require_json(at=at)

        async def work(connection: AsyncConnection) -> SignalRecord:
            await advisory_lock(connection, run_id)
            await require_row(connection, sessions.c.id, run_id, "run")
            last = (await connection.execute(queries.LAST_SEQ, {"run_id": run_id})).scalar()
            moment = self._now() if at is None else at
            signal = SignalRecord(hex_id(), run_id, (last or 0) + 1, kind, op_id, moment, dict(payload))
            await connection.execute(insert(session_signals).values(_columns(signal)))
            return signal

        return await self._db.write(work)

    async def after(self, run_id: str, seq: int, *, limit: int) -> tuple[SignalRecord, ...]:
        """Signals of a run behind this number, in order."""
        return tuple(map(signal_record, await self._rows(queries.AFTER, {"run_id": run_id, "seq": seq, "limit": limit})))

    async def tail(self, run_id: str, *, before: int | None, limit: int) -> tuple[SignalRecord, ...]:
        """The last signals of a run before this number, in order."""
        values = {"run_id": run_id, "before": LAST_NUMBER if before is None else before, "limit": limit}
        return tuple(map(signal_record, await self._rows(queries.TAIL, values)))[::-1]


def _columns(signal: SignalRecord) -> dict[str, object]:
    return {
        "id": signal.signal_id,
        "session_id": signal.run_id,
        "seq": signal.seq,
        "kind": signal.kind,
        "op_id": signal.op_id,
        "ts": signal.at,
        "payload": dict(signal.payload),
    }
