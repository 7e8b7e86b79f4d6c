"""Opening a store, and claiming a firing in it, beside the peer and the bare transaction."""

from __future__ import annotations

import sqlite3
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

from lionagi.state.db import StateDB as PeerDB
from sqlalchemy import insert

from studio_tui.application.ports import Occurrence
from studio_tui.clock import SystemClock
from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.state.db import StateDB
from studio_tui.state.schema import schedules
from studio_tui.state.stores.scheduling import SchedulingStore
from tests.bench.measure import Line, Watch, median

OPEN_AIM: Final = 0.25
CLAIM_AIM: Final = 5.0
_LINE: Final = (
    "INSERT INTO status_transitions (id, entity_type, entity_id, previous_status, status, reason_code, reason_summary,"
    " evidence_refs, source, actor, created_at, metadata) VALUES (?, ?, ?, ?, 'running', ?, '', '[]', 'system', 'x', ?, '{}')"
)


async def opening(home: Path, pairs: int, watch: Watch) -> list[Line]:
    """An existing store opened, asked for its version, and closed."""
    store = home / "state.db"

    async def ours(readonly: bool) -> str | None:
        async with StateDB(store, readonly=readonly) as db:
            return await db.schema_version()

    async def peer(readonly: bool) -> str | None:
        async with PeerDB(store, readonly=readonly) as db:
            row = await db.fetch_one("SELECT value FROM schema_meta WHERE key = 'version'")
            return None if row is None else str(row["value"])

    if len({await ours(True), await ours(False), await peer(True), await peer(False)}) != 1:
        raise SystemExit("opening a store: the versions differ")
    sides: dict[str, Callable[[], Awaitable[object]]] = {
        "ours": lambda: ours(False),
        "peer": lambda: peer(False),
        "ours to read": lambda: ours(True),
        "peer to read": lambda: peer(True),
    }
    taken = await _in_turns(sides, min(pairs, 15), watch)
    return [
        Line("open a store to write", taken["ours"], taken["peer"], "ms", "lionagi's StateDB", OPEN_AIM),
        Line("open a store to read", taken["ours to read"], taken["peer to read"], "ms", "lionagi's, read-only"),
    ]


async def claiming(pairs: int, watch: Watch) -> list[Line]:
    """A firing claimed and written with its history, beside the same rows in one bare transaction."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "state.db"
        db = StateDB(store)
        await db.open(create=True)
        try:
            claim, bare = _Claims(db, await _a_schedule(db, "ours")), _BareClaims(store, await _a_schedule(db, "bare"))
            taken = await _in_turns({"ours": claim.next, "bare": bare.next}, pairs, watch)
            if not claim.count == bare.count == pairs:
                raise SystemExit("claiming a firing: not every claim succeeded")
            bare.close()
        finally:
            await db.close()
    return [Line("claim a firing and write it", taken["ours"], taken["bare"], "ms", "the bare transaction", CLAIM_AIM)]


async def _a_schedule(db: StateDB, name: str) -> ScheduleRecord:
    """A schedule that is due at 0."""
    record = ScheduleRecord(name, name, True, "interval", "command", interval_sec=60.0, next_fire_at=0.0)
    row = {"id": name, "name": name, "trigger_type": "interval", "action_kind": "command", "next_fire_at": 0.0}
    await db.write(lambda connection: connection.execute(insert(schedules).values(**row, created_at=1.0, updated_at=1.0)))
    return record


class _Claims:
    def __init__(self, db: StateDB, schedule: ScheduleRecord) -> None:
        self.count = 0
        self._store = SchedulingStore(db, SystemClock())
        self._schedule = schedule

    async def next(self) -> None:
        run, invocation, now, due = uuid.uuid4().hex[:12], uuid.uuid4().hex[:12], time.time(), float(self.count)
        occurrence = Occurrence(run, invocation, self._schedule, ("true",), None, {}, now, claimed=due, next_fire_at=due + 1)
        self.count += await self._store.claim(occurrence, now=now)


class _BareClaims:
    def __init__(self, store: Path, schedule: ScheduleRecord) -> None:
        self.count = 0
        self._schedule = schedule
        self._connection = sqlite3.connect(store, isolation_level=None, timeout=5)
        self._connection.execute("PRAGMA synchronous = NORMAL")

    async def next(self) -> None:
        run, invocation, now = uuid.uuid4().hex[:12], uuid.uuid4().hex[:12], time.time()
        ask = self._connection.execute
        ask("BEGIN IMMEDIATE")
        moved = ask(
            "UPDATE schedules SET next_fire_at = ?, last_fired_at = ?, updated_at = ?"
            " WHERE id = ? AND enabled = 1 AND next_fire_at = ?",
            (self.count + 1, now, now, self._schedule.schedule_id, self.count),
        ).rowcount
        ask(
            "INSERT INTO invocations (id, skill, plugin, started_at, status, session_count, created_at, updated_at,"
            " node_metadata) VALUES (?, 'scheduled:nightly', 'interval', ?, 'running', 0, ?, ?, '{}')",
            (invocation, now, now, now),
        )
        ask(
            "INSERT INTO schedule_runs (id, schedule_id, invocation_id, trigger_context, action_kind, action_args, status,"
            " chain_depth, fired_at, created_at, updated_at) VALUES (?, ?, ?, '{}', 'command', '[]', 'running', 0, ?, ?, ?)",
            (run, self._schedule.schedule_id, invocation, now, now, now),
        )
        for kind, key, before in (
            ("invocation", invocation, None),
            ("schedule_run", run, None),
            ("schedule_run", run, "running"),
        ):
            ask(_LINE, (uuid.uuid4().hex, kind, key, before, "run.started.ok", now))
        ask("COMMIT")
        self.count += moved

    def close(self) -> None:
        self._connection.close()


async def _in_turns(sides: dict[str, Any], times: int, watch: Watch) -> dict[str, float]:
    taken: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(times):
        for name, side in sides.items():
            begun = watch()
            await side()
            taken[name].append(watch() - begun)
    return {name: median(values) * 1e3 for name, values in taken.items()}
