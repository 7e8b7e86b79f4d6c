"""A writer that can be killed: one warm process forks a new one for each line that it reads.

python kill_writer.py URL    reads a line of two numbers: wait for the first answer of the child (1) or not (0), and the seconds
                             to wait from then until it is killed; prints how the child ended and how many lines of history its
                             answered changes have

The child changes statuses without end, several rows at a time, and says after each change that it was answered.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import sys
import time
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path

from sqlalchemy import insert

from studio_tui.application.ports import ActProvenance, Occurrence, Outcome
from studio_tui.application.ports.lifecycle import Override, StatusChange
from studio_tui.clock import SystemClock
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.db import StateDB
from studio_tui.state.lifecycle import creation, reason_columns, record
from studio_tui.state.schema import progressions, sessions
from studio_tui.state.store import Store
from studio_tui.state.stores.approvals import ApprovalStore
from studio_tui.state.stores.schedule_writes import ScheduleWriteStore
from studio_tui.state.stores.scheduling import SchedulingStore
from studio_tui.state.stores.statuses import StatusStore
from tests.interop.fired_store import new_schedule

BY = ActProvenance("cli", "op", "/srv/work")
STARTED, ENDED = "run.started.ok", "run.completed.ok"
Answered = Callable[[int], None]


class Writer:
    """Kinds of changes; ``answered`` is told of each how many lines of history it has."""

    def __init__(self, db: StateDB, answered: Answered) -> None:
        clock = SystemClock()
        self._db, self._answered = db, answered
        self._schedules, self._scheduling = ScheduleWriteStore(db), SchedulingStore(db, clock)
        self._statuses, self._approvals = StatusStore(db, clock), ApprovalStore(db, clock)

    @property
    def kinds(self) -> tuple[Callable[[str], Awaitable[None]], ...]:
        return self._fire, self._run, self._approve

    async def _fire(self, name: str) -> None:
        """A schedule that fires once and is turned off: up to five rows in one change."""
        schedule_id, firing_id, invocation_id = f"s{name}", f"f{name}", f"i{name}"
        created = self._schedules.create_schedule(new_schedule(schedule_id, schedule_id), now=time.time(), by=BY)
        schedule = await created
        self._answered(1)
        due = schedule.next_fire_at
        occurrence = Occurrence(firing_id, invocation_id, schedule, ("true",), None, {}, time.time(), due, None)
        await self._did(self._scheduling.claim(occurrence, now=time.time()), lines=3)
        now = time.time()
        outcome = Outcome(firing_id, invocation_id, "completed", "completed", ENDED, ENDED, "ended", now, exit_code=0)
        await self._did(self._scheduling.finish(outcome, now=now), lines=2)
        await self._scheduling.disable(
            schedule_id, reason_code="schedule_definition.disabled.max_runs", reason="", now=time.time()
        )
        self._answered(1)

    async def _run(self, name: str) -> None:
        """A run that ends, is taken up again by an override, and fails."""
        run_id = f"r{name}"
        await self._db.write(lambda connection: _begin(connection, run_id, time.time()))
        self._answered(1)
        resumed = Override("op", "resumed")
        for status, reason, override in (
            ("completed", ENDED, None),
            ("running", "session.reopened.by_resume", resumed),
            ("failed", "run.failed.exception", None),
        ):
            change = StatusChange("session", run_id, status, reason, status, "admin", "op", override=override)
            await self._did(self._statuses.change(change), lines=1)

    async def _approve(self, name: str) -> None:
        """An approval and its evidence, whose lines hang together."""
        proposed = await self._approvals.propose("kill", {"name": name})
        self._answered(0)
        await self._approvals.grant(proposed.approval_id)
        await self._approvals.consume(proposed.approval_id, action_kind="kill", params={"name": name})

    async def _did(self, change: Awaitable[bool], *, lines: int) -> None:
        assert await change
        self._answered(lines)


async def _begin(connection: AsyncConnection, run_id: str, now: float) -> None:
    await connection.execute(insert(progressions).values(id=run_id, created_at=now))
    row = {"id": run_id, "progression_id": run_id, "status": "running", "created_at": now, "updated_at": now, "started_at": now}
    await connection.execute(insert(sessions).values(**row, **reason_columns(STARTED, "", ())))
    await record(connection, creation("session", run_id, "running", actor="test", now=now))


async def write(url: str, answered: Answered) -> None:
    """Write until the end of the process, beginning with any kind of change."""
    store = Store(url, home=Path.cwd())
    await store.open()
    kinds, name = Writer(store.db, answered).kinds, uuid.uuid4()
    for number in itertools.count(name.int % len(kinds)):
        await kinds[number % len(kinds)](f"{name.hex[:8]}{number}")


def one(url: str, wait: bool, seconds: float) -> tuple[str, int]:
    """Kill a child after so many seconds; how it ended, and how many lines it was told to be stored."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            asyncio.run(write(url, lambda lines: os.write(writing, bytes([lines])) and None))
        except BaseException as error:
            print(f"failed: {error!r}", file=sys.stderr, flush=True)
        os._exit(1)
    os.close(writing)
    told = os.read(reading, 1) if wait else b""
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    with os.fdopen(reading, "rb") as rest:
        told += rest.read()
    return ("killed" if os.WIFSIGNALED(status) else "failed"), sum(told)


def main() -> None:
    asyncio.run(asyncio.sleep(0))
    for line in sys.stdin:
        wait, seconds = line.split()
        fate, lines = one(sys.argv[1], wait == "1", float(seconds))
        print(f"{fate} {lines}", flush=True)


if __name__ == "__main__":
    main()
