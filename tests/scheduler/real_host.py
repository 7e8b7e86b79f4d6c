"""A host on a real store with real processes; run as a program it is a console without a screen.

    python -m tests.scheduler.real_host HOME SECONDS [--no-lease] [--die WINDOW] [--beat SECONDS] [--github URL] [--hasty]

With ``--die`` it kills itself in that window of a firing (see :data:`WINDOWS`). It prints ``hosting`` when it first does,
``standby`` when it has lost its place, and at its end one line per firing with what became of it.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import inspect
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from studio_tui.application.ports import HostRecord
from studio_tui.clock import SystemClock
from studio_tui.domain.schedules import Zone
from studio_tui.files.transports import TransportFile
from studio_tui.processes.commands import Commands
from studio_tui.processes.liveness import alive, own_identity
from studio_tui.processes.notes import LaunchNotes
from studio_tui.processes.runlogs import RunLogs
from studio_tui.processes.spawn import Processes
from studio_tui.scheduler import host as hosting
from studio_tui.scheduler.engine import HostSettings, Outgoing, Outside
from studio_tui.scheduler.host import SchedulerHost
from studio_tui.scheduler.lease import FileLease, peer_daemon_listens
from studio_tui.state.store import Store
from studio_tui.state.stores.notices import NoticeStore
from studio_tui.state.stores.outbox_delivery import OutboxDeliveryStore
from studio_tui.state.stores.scheduling import SchedulingStore


class EveryonesLease:
    """A lease that everybody holds, so that only the claim in the database decides."""

    problem = None

    def acquire(self) -> bool:
        return True

    def holds(self) -> bool:
        return True

    def beat(self) -> None:
        return None

    def holder(self) -> HostRecord | None:
        return None

    def release(self) -> None:
        return None


_STORE = "studio_tui.state.stores.scheduling"
WINDOWS = {
    "answered": ("state", "note_poll", "before"),
    "polled": ("state", "note_poll", "after"),
    "claiming": ("state", "claim", "before"),
    "claimed": ("state", "claim", "after"),
    "noted": ("notes", "begin", "after"),
    "spawned": ("notes", "started", "before"),
    "started": ("notes", "started", "after"),
    "dispatched": ("state", "mark_dispatched", "after"),
    "ended": ("state", "finish", "before"),
    "half written": (_STORE, "write_status", "after"),
    "chain to come": (_STORE, "owe_end_of", "after"),
    "finished": ("state", "finish", "after"),
}
"""Where in a firing the console dies: before or after which call of which part. ``half written`` is between the rows of firing
and invocation, ``chain to come`` between those and the row of the step that follows; both in the middle of a transaction."""


@dataclass
class Console:
    """What a console without a screen consists of."""

    store: Store
    state: SchedulingStore
    host: SchedulerHost
    logs: RunLogs
    notes: LaunchNotes
    processes: Processes


@asynccontextmanager
async def console(
    home: Path, *, lease: Any = None, allowed: frozenset[str] = frozenset(), **settings: Any
) -> AsyncIterator[Console]:
    """A console on the store of a home; its host is not started yet."""
    store = Store(None, home=home)
    await store.open()
    assert store.path is not None
    directory = home / "studio-tui" / "logs" / "firings"
    logs, notes = RunLogs(directory), LaunchNotes(directory)
    processes = Processes(logs=logs, notes=notes, environment={**os.environ, "LIONAGI_HOME": str(home)})
    state, clock = SchedulingStore(store.db, SystemClock()), SystemClock()
    path = store.path
    host = SchedulerHost(
        Outside(state, processes, notes, logs, clock, own_identity(), outgoing=_outgoing(store, clock)),
        lease=lease or FileLease(path, identity=own_identity(), label="test", now=clock.now, alive=alive),
        settings=HostSettings(
            zone=Zone("UTC", "env:TZ"),
            scratch=directory,
            search_path=os.environ["PATH"],
            python=sys.executable,
            allowed=lambda: allowed,
            **settings,
        ),
        answer=True,
        peer_runs=lambda: peer_daemon_listens(path),
    )
    try:
        yield Console(store, state, host, logs, notes, processes)
    finally:
        await host.stop()
        await store.close()


def _outgoing(store: Store, clock: SystemClock) -> Outgoing:
    """Notices and messages go out by real commands; no command for messages is configured."""
    return Outgoing(
        OutboxDeliveryStore(store.db, clock),
        NoticeStore(store.db, clock),
        TransportFile(Path("/nowhere")),
        Commands(lambda: dict(os.environ)),
    )


HASTY = {
    "studio_tui.scheduler.adoption.FOLLOW_EVERY": 0.05,
    "studio_tui.scheduler.recovery.UNDISPATCHED_GRACE": 0.5,
    "studio_tui.scheduler.host.RECOVER_SOON": 0.6,
    "studio_tui.scheduler.polls.occurrence.SLOT_RETRY": 0.1,
}
"""Seconds that a test does not want to wait for."""


def github_at(base: str) -> dict[str, Any]:
    """Settings with which this is asked for GitHub, and accepted."""
    return {"github_api": base, "environment": lambda: {"GITHUB_TOKEN": "secret"}}


def die_in(window: str, made: Console) -> None:
    """Have the console kill itself the moment it gets there."""
    part, name, when = WINDOWS[window]
    target = importlib.import_module(part) if part == _STORE else getattr(made, part)
    original = getattr(target, name)

    def called(*args: Any, **named: Any) -> Any:
        if when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        original(*args, **named)
        os.kill(os.getpid(), signal.SIGKILL)

    async def awaited(*args: Any, **named: Any) -> Any:
        if when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        await original(*args, **named)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(target, name, awaited if inspect.iscoroutinefunction(original) else called)


async def _main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("home", type=Path)
    parser.add_argument("seconds", type=float)
    parser.add_argument("--no-lease", action="store_true")
    parser.add_argument("--die", choices=WINDOWS)
    parser.add_argument("--beat", type=float, default=hosting.BEAT_EVERY)
    parser.add_argument("--github")
    parser.add_argument("--hasty", action="store_true")
    chosen = parser.parse_args()
    settings = github_at(chosen.github) if chosen.github else {}
    for name, seconds in HASTY.items() if chosen.hasty else ():
        module, _, constant = name.rpartition(".")
        setattr(importlib.import_module(module), constant, seconds)
    lease = EveryonesLease() if chosen.no_lease else None
    hosting.BEAT_EVERY = chosen.beat  # type: ignore[misc]
    async with console(chosen.home, lease=lease, allowed=frozenset({"sh", "true"}), **settings) as made:
        if chosen.die:
            die_in(chosen.die, made)
        await made.host.start()
        end = asyncio.get_running_loop().time() + chosen.seconds
        told: str | None = None
        while asyncio.get_running_loop().time() < end:
            state = made.host.state
            if told != state and (state == "hosting" or (told and state == "standby")):
                told = state
                print(state, flush=True)
            await asyncio.sleep(0.02)
        for fate in await made.host.stop():
            print(fate.run_id, fate.what, fate.pid, flush=True)


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING)
    asyncio.run(_main())
