"""Two programs write one store at the same time, the real lionagi and ours: no row is lost, no history, and nobody sees an error.

``--two-writer-seconds N`` lets them write for longer.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from studio_tui.application.ports import Occurrence, Outcome, RunFilter
from studio_tui.application.ports.definition_writes import VersionDraft
from studio_tui.application.ports.lifecycle import StatusChange
from studio_tui.clock import SystemClock
from studio_tui.state.db import StateDB
from studio_tui.state.schema import (
    branches,
    definitions,
    messages,
    progressions,
    run_tags,
    schedule_runs,
    schedules,
    session_signals,
    sessions,
    status_transitions,
)
from studio_tui.state.store import Store
from studio_tui.state.stores.definition_writes import DefinitionVersionStore
from studio_tui.state.stores.messages import MessageStore
from studio_tui.state.stores.runs import RunStore
from studio_tui.state.stores.schedule_writes import ScheduleWriteStore
from studio_tui.state.stores.scheduling import SchedulingStore
from studio_tui.state.stores.signals import SignalStore
from studio_tui.state.stores.statuses import StatusStore
from studio_tui.state.stores.tags import TagStore
from tests.builders import a_run
from tests.interop.fired_store import NOW, new_schedule
from tests.interop.fired_store import OPERATOR as BY
from tests.interop.peer_writer import DUEL, MESSAGES, SHARED

pytestmark = pytest.mark.interop
LINES = status_transitions.c


class Ours:
    """Our half of the writing, through our own stores, and what a console reads meanwhile."""

    def __init__(self, db: StateDB) -> None:
        clock = SystemClock()
        self.db, self.done = db, Counter[str]()
        self.statuses, self.signals, self.tags = StatusStore(db, clock), SignalStore(db, clock), TagStore(db, clock)
        self.versions, self.schedules = DefinitionVersionStore(db, clock), ScheduleWriteStore(db)
        self.scheduling = SchedulingStore(db, clock)
        self.runs, self.messages = RunStore(db), MessageStore(db)
        self.read = 0

    async def write(self, number: int) -> None:
        """One run from its start to its end, a schedule with a firing, and a share in what is shared."""
        run = await a_run(self.db, id=f"ours-run-{number}", status="running")
        assert await self.change("session", run, "completed", "run.completed.ok", expected=frozenset({"running"}))
        await self.fire(f"ours-schedule-{number}", f"ours-firing-{number}")
        self.done["rounds"] += 1

        self.done["reports"] += await self.change("session", SHARED, "running", "run.started.ok")
        await self.signals.append(SHARED, "NodeStarted", {"n": number})
        self.done["signals"] += 1
        await self.versions.append_version(
            VersionDraft("agent", SHARED, "agents/shared.md", f"ours {number}"), expected_version=None
        )
        self.done["versions"] += 1
        await self.tags.add_tag(SHARED, f"tag-{number}")
        for here, there in (("queued", "waiting_dependency"), ("waiting_dependency", "queued")):
            reason, seen = "schedule.queued.created", frozenset({here})
            self.done[f"{here} {there}"] += await self.change("schedule_run", DUEL, there, reason, expected=seen)

    async def change(self, entity: str, row_id: str, status: str, reason: str, **values: Any) -> bool:
        change = StatusChange(entity, row_id, status, reason, "ours", source="system", actor="ours", **values)
        return await self.statuses.change(change)

    async def fire(self, schedule_id: str, firing_id: str) -> None:
        made = await self.schedules.create_schedule(new_schedule(schedule_id, schedule_id), now=time.time(), by=BY)
        occurrence = Occurrence(
            firing_id, f"{firing_id}-invocation", made, ("true",), None, {"scheduled": True}, NOW, made.next_fire_at, NOW + 60
        )
        assert await self.scheduling.claim(occurrence, now=time.time())
        await self.scheduling.mark_dispatched(firing_id, time.time())
        code, ends = "run.completed.ok", ("completed", "completed")
        outcome = Outcome(firing_id, occurrence.invocation_id, *ends, code, code, "ended", time.time(), exit_code=0)
        assert await self.scheduling.finish(outcome, now=time.time())

    async def look(self) -> None:
        """A page of runs and the end of the shared transcript, which never gets shorter."""
        page = await self.runs.list_runs(RunFilter(), after=None, backwards=False, limit=20)
        window = await self.messages.tail(f"{SHARED}-branch-prog", limit=10)
        assert page.runs
        assert window.end >= self.read
        self.read = window.end


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a store that both open."""
    if request.param == "postgresql":
        return str(request.getfixturevalue("lent_url"))
    return f"sqlite:///{tmp_path}/state.db"


async def test_both_write_at_once_and_lose_nothing(url: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    seconds = request.config.getoption("--two-writer-seconds")
    store = Store(url, home=tmp_path)
    await store.open()
    if store.condition().mode == "missing":
        await store.create()
    try:
        ours, theirs, errors = await _write_together(store.db, url, seconds)
        print(f"{store.db.dialect}: {seconds:g} s, ours {dict(ours)}, theirs {dict(theirs)}")
        assert errors == []
        await _nothing_is_lost(store.db, ours, theirs)
        await _history_is_whole(store.db, ours, theirs)
    finally:
        await store.close()


async def _write_together(db: StateDB, url: str, seconds: float) -> tuple[Counter[str], Counter[str], list[str]]:
    """What both did, and the errors of the peer; ours are raised."""
    script = Path(__file__).with_name("peer_writer.py")
    pipes = {"stdin": asyncio.subprocess.PIPE, "stdout": asyncio.subprocess.PIPE}
    peer = await asyncio.create_subprocess_exec(sys.executable, str(script), url, str(seconds), **pipes, cwd="/")
    try:
        assert peer.stdout is not None
        assert (await peer.stdout.readline()).strip() == b"ready"
        ours, end = Ours(db), time.monotonic() + seconds
        answer = asyncio.create_task(peer.communicate(b"go\n"))
        while time.monotonic() < end:
            await ours.write(ours.done["rounds"])
            await ours.look()
        said = json.loads((await answer)[0])
    finally:
        if peer.returncode is None:
            peer.kill()
            await peer.wait()
    return ours.done, Counter(said["done"]), said["errors"]


async def _count(db: StateDB, column: Any, *where: Any) -> int:
    row = await db.fetch_one(select(func.count(column).label("n")).where(*where))
    return int(row["n"]) if row else 0


async def _nothing_is_lost(db: StateDB, ours: Counter[str], theirs: Counter[str]) -> None:
    """Every row that either was told to be stored is there, whole."""
    assert min(ours["rounds"], theirs["rounds"]) > 0
    for prefix, rounds in (("ours", ours["rounds"]), ("peer", theirs["rounds"])):
        run, firing, schedule = (f"{prefix}-{kind}-%" for kind in ("run", "firing", "schedule"))
        assert await _count(db, sessions.c.id, sessions.c.id.like(run), sessions.c.status == "completed") == rounds
        ended = (schedule_runs.c.id.like(firing), schedule_runs.c.status == "completed", schedule_runs.c.exit_code == 0)
        assert await _count(db, schedule_runs.c.id, *ended) == rounds
        assert await _count(db, schedules.c.id, schedules.c.id.like(schedule)) == rounds
    assert await _count(db, messages.c.id) == MESSAGES * (theirs["rounds"] + theirs["said"])
    for table in (sessions, branches):
        listed = select(progressions.c.collection).join(table, table.c.progression_id == progressions.c.id)
        lists = [json.loads(row["collection"]) for row in await db.fetch_all(listed)]
        ids = [name for names in lists for name in names]
        assert len(ids) == len(set(ids)) == MESSAGES * (theirs["rounds"] + theirs["said"])
    assert await _count(db, run_tags.c.tag) == ours["rounds"]
    for table, column, word in (
        (session_signals, session_signals.c.seq, "signals"),
        (definitions, definitions.c.version, "versions"),
    ):
        numbers = sorted(row[column.name] for row in await db.fetch_all(select(column).select_from(table)))
        assert numbers == list(range(1, ours[word] + theirs[word] + 1))


async def _history_is_whole(db: StateDB, ours: Counter[str], theirs: Counter[str]) -> None:
    """A line for each change that succeeded, and none for one that did not."""
    assert await _count(db, LINES.id, LINES.entity_id == SHARED) == 1 + ours["reports"] + theirs["reports"]
    for prefix, kind, lines in (
        ("ours", "session", 1),
        ("peer", "session", 2),
        ("ours", "schedule_run", 3),
        ("peer", "schedule_run", 2),
        ("ours", "schedule", 1),
        ("peer", "schedule", 2),
        ("ours", "invocation", 2),
    ):
        rounds = (ours if prefix == "ours" else theirs)["rounds"]
        found = await _count(db, LINES.id, LINES.entity_type == kind, LINES.entity_id.like(f"{prefix}-%"))
        assert found == lines * rounds, (prefix, kind)
    moved = {}
    for here, there in (("queued", "waiting_dependency"), ("waiting_dependency", "queued")):
        moved[here] = await _count(db, LINES.id, LINES.entity_id == DUEL, LINES.previous_status == here, LINES.status == there)
        assert moved[here] == ours[f"{here} {there}"] + theirs[f"{here} {there}"]
    last = await db.fetch_one(select(schedule_runs).where(schedule_runs.c.id == DUEL))
    assert last is not None
    assert last["status"] == ("queued" if moved["queued"] == moved["waiting_dependency"] else "waiting_dependency")
    same = (
        LINES.entity_id == DUEL,
        LINES.created_at == last["updated_at"],
        LINES.reason_summary == last["status_reason_summary"],
    )
    assert await _count(db, LINES.id, *same) >= 1
