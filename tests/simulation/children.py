"""What processes record in the store while they run: their runs with cost, and now and then the end of their invocation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import Update, update

from studio_tui.application.ports import Clock
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.lifecycle import write_status
from studio_tui.state.schema import sessions
from tests.builders import a_run
from tests.simulation.machine import Process, RunScript
from tests.simulation.store import ACT, Act, SimDB

_CLOSED = {"completed": "run.completed.ok", "failed": "run.failed.exit_nonzero"}


class Children:
    """Implements ``Recorder``. ``reported`` is told of each cost once it is stored: firing, dollars, tokens."""

    def __init__(self, db: SimDB, clock: Clock, reported: Callable[[str, float, int], None]) -> None:
        self._db, self._clock, self._reported = db, clock, reported
        self._runs: dict[str, list[tuple[str, RunScript]]] = {}

    async def begins(self, process: Process) -> None:
        """Its runs are there as soon as it is."""
        for script in process.script.runs:
            now = self._clock.now()
            ACT.set(Act(f"child {process.identity.pid}", "begins a run"))
            times = {"created_at": now, "updated_at": now, "started_at": now}
            columns: dict[str, Any] = {**times, "invocation_id": process.invocation_id, "node_metadata": _recorded(process)}
            run_id = await a_run(self._db, status="running", **columns)
            process.recorded.append(run_id)
            self._runs.setdefault(process.run_id, []).append((run_id, script))

    async def ends(self, process: Process) -> None:
        """It ends by itself: its runs say how, and what they cost. Nobody writes that for one that is killed."""
        for run_id, script in self._runs.pop(process.run_id, ()):
            if script.status is not None and process.alive:
                ACT.set(Act(f"child {process.identity.pid}", f"ends a run as {script.status}"))
                await self._db.execute(self._end(run_id, script))
                self._reported(process.run_id, script.usd or 0.0, script.tokens)
        if process.script.closes and process.alive:
            await self._close(process)

    def _end(self, run_id: str, script: RunScript) -> Update:
        now = self._clock.now()
        values = {
            "status": script.status,
            "total_cost_usd": script.usd,
            "input_tokens": script.tokens,
            "ended_at": now,
            "updated_at": now,
        }
        return update(sessions).where(sessions.c.id == run_id).values(**values)

    async def _close(self, process: Process) -> None:
        status = "completed" if process.script.code == 0 else "failed"
        ACT.set(Act(f"child {process.identity.pid}", f"ends its invocation as {status}"))

        async def work(connection: AsyncConnection) -> bool:
            return await write_status(
                connection,
                "invocation",
                process.invocation_id,
                status,
                reason_code=_CLOSED[status],
                summary="",
                evidence=(),
                source="executor",
                actor=process.invocation_id,
                now=self._clock.now(),
                expected={"running"},
                extra={"ended_at": self._clock.now()},
            )

        await self._db.write(work)


def _recorded(process: Process) -> dict[str, Any]:
    """How a run names its process (lionagi 0.36)."""
    identity = process.identity
    return {
        "pid": identity.pid,
        "pid_create_time": identity.created_at,
        "pid_host": identity.host,
        "pid_boot_time": identity.boot_time,
    }
