"""What nobody will end any more is ended, each kind as lionagi ends it; what may live, or cannot be judged here, is left."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from studio_tui.application.errors import StateUnavailable
from studio_tui.application.ports import LaunchNote
from studio_tui.domain.identity import ProcessIdentity
from studio_tui.domain.shows import ShowRecord
from studio_tui.scheduler.reaping import ACTOR, ReapAfter, Reapers, Upkeep
from studio_tui.state.store import Store
from studio_tui.state.stores.reaping import ReapingStore
from studio_tui.state.stores.statuses import StatusStore
from tests.builders import a_firing, a_play, a_run, a_schedule, a_show, an_invocation
from tests.fakes.clock import NOW, SteeredClock
from tests.fakes.processes import ToldProcesses, an_identity

HOUR = 3600.0
DEAD, LIVING = an_identity(50), an_identity(51)


@dataclass
class Folders:
    """Implements what the reapers ask of ``ShowFilesPort``."""

    shows: dict[str, ShowRecord] = field(default_factory=dict)

    async def read_show(self, topic: str) -> ShowRecord | None:
        return self.shows.get(topic)

    async def list_shows(self) -> tuple[ShowRecord, ...]:
        return tuple(self.shows.values())


@dataclass
class World:
    store: Store
    reapers: Reapers
    processes: ToldProcesses
    clock: SteeredClock
    folders: Folders
    followed: set[str]

    async def row(self, table: str, row_id: str) -> dict[str, Any]:
        found = await self.store.db.fetch_one(f"SELECT * FROM {table} WHERE id = :id", {"id": row_id})
        assert found is not None
        return found

    async def status(self, table: str, row_id: str) -> str | None:
        status: str | None = (await self.row(table, row_id))["status"]
        return status

    async def history(self) -> list[tuple[Any, ...]]:
        place = "rowid" if self.store.db.dialect == "sqlite" else "ctid"
        rows = await self.store.db.fetch_all(f"SELECT * FROM status_transitions ORDER BY created_at, {place}")
        return [(row["entity_type"], row["previous_status"], row["status"], row["reason_code"], row["actor"]) for row in rows]


@pytest.fixture(params=["sqlite", "postgresql"])
async def world(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[World]:
    """An empty store, once on each database, and reapers at work on it."""
    location = None if request.param == "sqlite" else str(request.getfixturevalue("lent_url"))
    store = Store(location, home=tmp_path)
    await store.open()
    if location is None:
        await store.create()
    clock, processes, folders, followed = SteeredClock(), ToldProcesses(), Folders(), set[str]()
    processes.living |= {LIVING, processes.identity}
    reapers = Reapers(
        Upkeep(ReapingStore(store.db), StatusStore(store.db, clock), folders),
        processes=processes,
        notes=processes,
        clock=clock,
        identity=processes.identity,
        after=ReapAfter(),
        deadline=lambda kind: 2 * HOUR if kind != "agent" else 8 * HOUR,
        looks_after=followed.__contains__,
    )
    yield World(store, reapers, processes, clock, folders, followed)
    await store.close()


def recorded(identity: ProcessIdentity, **more: object) -> dict[str, object]:
    """What a ``li`` child writes of its process."""
    return {
        "pid": identity.pid,
        "pid_create_time": identity.created_at,
        "pid_host": identity.host,
        "pid_boot_time": identity.boot_time,
        "process_identity_mode": "local",
        **more,
    }


def quiet(hours: float, **columns: Any) -> dict[str, Any]:
    """A row that was touched so long ago."""
    at = NOW - hours * HOUR
    return {"started_at": at, "created_at": at, "updated_at": at, "last_message_at": at, "ended_at": None, **columns}


# --- runs -------------------------------------------------------------------------------------------------------------


async def test_a_run_whose_process_is_gone_has_failed(world: World) -> None:
    run = await a_run(world.store.db, **quiet(2, status="running", current_phase="think", node_metadata=recorded(DEAD)))
    await world.reapers.sweep()
    row = await world.row("sessions", run)
    assert (row["status"], row["status_reason_code"], row["status_reason_summary"]) == (
        "failed",
        "session.phantom.process_dead",
        "phantom_reaped",
    )
    assert (row["ended_at"], row["current_phase"]) == (NOW, None)
    assert await world.history() == [("session", "running", "failed", "session.phantom.process_dead", ACTOR)]
    await world.reapers.sweep()
    assert len(await world.history()) == 1, "once"


async def test_a_run_without_a_status_has_failed(world: World) -> None:
    run = await a_run(world.store.db, **quiet(2, status=None, node_metadata=recorded(DEAD)))
    await world.reapers.sweep()
    row = await world.row("sessions", run)
    assert (row["status"], row["status_reason_summary"]) == ("failed", "process_exited_without_status")
    assert await world.history() == [("session", None, "failed", "run.failed.exception", ACTOR)]


async def test_the_mirror_of_a_transcript_has_completed(world: World) -> None:
    run = await a_run(world.store.db, **quiet(2, status="running", agent_name="claude-code", node_metadata={}))
    await world.reapers.sweep()
    row = await world.row("sessions", run)
    assert (row["status"], row["status_reason_code"], row["status_reason_summary"]) == (
        "completed",
        "run.completed.ok",
        "mirror_idle_reaped",
    )


@pytest.mark.parametrize("status", ["running", None])
@pytest.mark.parametrize(
    "metadata",
    [
        pytest.param(recorded(LIVING), id="lives"),
        pytest.param(recorded(replace(DEAD, host="another-host")), id="another host"),
        pytest.param(recorded(DEAD, process_identity_mode="remote"), id="another mode"),
        pytest.param(recorded(replace(DEAD, boot_time=NOW - 90 * 86_400)), id="an earlier boot, yet heard of in this one"),
        pytest.param({}, id="no process recorded"),
    ],
)
async def test_what_lives_or_cannot_be_judged_here_is_left(world: World, status: str | None, metadata: dict[str, object]) -> None:
    run = await a_run(world.store.db, **quiet(2, status=status, invocation_kind="agent", node_metadata=metadata))
    await world.reapers.sweep()
    assert await world.status("sessions", run) == status
    assert await world.history() == []


async def test_a_run_of_an_earlier_boot_that_was_silent_since_is_over(world: World) -> None:
    boot = world.processes.identity.boot_time
    assert boot is not None
    earlier = recorded(replace(DEAD, boot_time=boot - 86_400))
    run = await a_run(world.store.db, **quiet((NOW - boot) / HOUR + 1, status="running", node_metadata=earlier))
    await world.reapers.sweep()
    assert await world.status("sessions", run) == "failed"


@pytest.mark.parametrize(("hours", "kind", "status"), [(7, "agent", "failed"), (7, "flow", "running"), (13, "flow", "failed")])
async def test_a_run_of_no_process_has_the_silence_of_its_kind(world: World, hours: float, kind: str, status: str) -> None:
    run = await a_run(world.store.db, **quiet(hours, status="running", invocation_kind=kind, node_metadata={}))
    await world.reapers.sweep()
    assert await world.status("sessions", run) == status


async def test_a_run_that_spoke_within_the_hour_is_left(world: World) -> None:
    run = await a_run(world.store.db, **quiet(0.9, status="running", node_metadata=recorded(DEAD)))
    await world.reapers.sweep()
    assert await world.status("sessions", run) == "running"


# --- invocations ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hours", "kind", "summary"),
    [
        (2.1, "flow", "invocation_deadline_exceeded"),
        (2.1, "command", "invocation_deadline_exceeded"),
        (0.1, "flow", "zero_session_invocation_timeout"),
        (2.1, "agent", "zero_session_invocation_timeout"),
        (0.1, "command", None),
        (0.05, "flow", None),
    ],
)
async def test_an_invocation_past_its_time(world: World, hours: float, kind: str, summary: str | None) -> None:
    at = {"started_at": NOW - hours * HOUR, "created_at": NOW - hours * HOUR, "updated_at": NOW - hours * HOUR}
    one = await an_invocation(world.store.db, status="running", node_metadata={"action_kind": kind}, **at)
    await world.reapers.sweep()
    row = await world.row("invocations", one)
    assert (row["status"], row["status_reason_summary"], row["ended_at"]) == (
        ("timed_out", summary, NOW) if summary else ("running", row["status_reason_summary"], None)
    )


async def test_an_invocation_whose_run_or_firing_may_live_is_left(world: World) -> None:
    db, late = world.store.db, quiet(9)
    late.pop("last_message_at")
    with_run = await an_invocation(db, status="running", **late)
    await a_run(db, invocation_id=with_run, status="running", node_metadata=recorded(LIVING), updated_at=NOW)
    followed, launched = await an_invocation(db, status="running", **late), await an_invocation(db, status="running", **late)
    schedule = await a_schedule(db)
    world.followed.add(await a_firing(db, schedule, status="running", invocation_id=followed, updated_at=NOW))
    other = await a_firing(db, schedule, status="running", invocation_id=launched, updated_at=NOW)
    world.processes.notes[other] = LaunchNote(other, NOW, LIVING, DEAD)
    lost = await an_invocation(db, status="running", **late)
    await world.reapers.sweep()
    assert [await world.status("invocations", one) for one in (with_run, followed, launched, lost)] == [
        *("running", "running", "running"),
        "timed_out",
    ]


# --- firings ----------------------------------------------------------------------------------------------------------


async def test_a_firing_of_the_peer_that_was_lost_blocks_its_schedule_for_a_day_and_no_longer(world: World) -> None:
    schedule = await a_schedule(world.store.db)
    at = NOW - 25 * HOUR
    columns = {"status": "running", "fired_at": at, "dispatched_at": at, "updated_at": at, "created_at": at, "ended_at": None}
    lost = await a_firing(world.store.db, schedule, **columns)
    fresh = await a_firing(world.store.db, schedule, **{**columns, "updated_at": NOW - 23 * HOUR})
    followed, elsewhere, handed_on = [await a_firing(world.store.db, schedule, **columns) for _ in range(3)]
    world.followed.add(followed)
    world.processes.notes[elsewhere] = LaunchNote(elsewhere, at, replace(DEAD, host="x"), replace(DEAD, host="x"))
    world.processes.unknown.add(replace(DEAD, host="x"))
    world.processes.notes[handed_on] = LaunchNote(handed_on, at, DEAD, LIVING)
    await world.reapers.sweep()
    assert [await world.status("schedule_runs", one) for one in (lost, fresh, followed, elsewhere, handed_on)] == [
        "timed_out",
        *("running", "running", "running", "running"),
    ]
    row = await world.row("schedule_runs", lost)
    assert (row["ended_at"], row["status_reason_code"]) == (NOW, "run.timed_out.deadline")
    assert row["status_reason_summary"].startswith("schedule_run_stale_running_reaped")
    assert "nothing was heard of it for 1 d" in row["error_detail"]


async def test_a_task_of_the_queue_has_its_own_lease(world: World) -> None:
    at = NOW - 99 * HOUR
    task = await a_firing(world.store.db, None, status="running", fired_at=at, updated_at=at, created_at=at)
    await world.reapers.sweep()
    assert await world.status("schedule_runs", task) == "running"


# --- plays and shows --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "hours", "ended"),
    [
        *((status, 7, True) for status in ("running", "running_complete", "prepared", "redoing")),
        *((status, 700, False) for status in ("gated", "pending", "merged")),
        ("running", 5, False),
    ],
)
async def test_a_play_that_nobody_works_on_is_blocked(world: World, status: str, hours: float, ended: bool) -> None:
    show = await a_show(world.store.db)
    play = await a_play(world.store.db, show, status=status, updated_at=NOW - hours * HOUR)
    await world.reapers.sweep()
    row = await world.row("plays", play)
    assert row["status"] == ("blocked" if ended else status)
    if ended:
        assert await world.history() == [("play", status, "blocked", "run.cancelled.stale_auto", ACTOR)]


async def test_a_play_whose_run_may_live_is_left(world: World) -> None:
    show = await a_show(world.store.db)
    kept = []
    for metadata in (recorded(LIVING), recorded(replace(DEAD, host="another-host"))):
        run = await a_run(world.store.db, status="running", node_metadata=metadata, updated_at=NOW)
        kept.append(await a_play(world.store.db, show, name=run, status="running", session_id=run, updated_at=NOW - 7 * HOUR))
    await world.reapers.sweep()
    assert [await world.status("plays", play) for play in kept] == ["running", "running"]


@pytest.mark.parametrize(
    ("found", "status"),
    [
        (("completed", "show.completed.final_gate"), "completed"),
        (("completed", None), "completed"),
        (("aborted", "show.aborted.operator"), "aborted"),
        (("active", None), "active"),
        (None, "active"),
    ],
)
async def test_a_show_ends_when_its_folder_says_so(world: World, found: tuple[str, str | None] | None, status: str) -> None:
    show = await a_show(world.store.db, topic="tour", status="active", show_dir="/shows/tour", updated_at=NOW - 7 * HOUR)
    if found is not None:
        world.folders.shows["tour"] = ShowRecord("tour", status=found[0], reason_code=found[1], show_dir="/shows/tour")
    await world.reapers.sweep()
    assert await world.status("shows", show) == status


async def test_a_show_in_another_folder_or_with_a_living_play_is_left(world: World) -> None:
    db, old = world.store.db, NOW - 7 * HOUR
    moved = await a_show(db, topic="moved", status="active", show_dir="/elsewhere/moved", updated_at=old)
    playing = await a_show(db, topic="playing", status="active", show_dir="/shows/playing", updated_at=old)
    run = await a_run(db, status="running", node_metadata=recorded(LIVING), updated_at=NOW)
    await a_play(db, playing, status="running", session_id=run, updated_at=NOW)
    for topic in ("moved", "playing"):
        world.folders.shows[topic] = ShowRecord(topic, status="completed", show_dir=f"/shows/{topic}")
    await world.reapers.sweep()
    assert [await world.status("shows", show) for show in (moved, playing)] == ["active", "active"]


# --- trouble ----------------------------------------------------------------------------------------------------------


async def test_what_moves_while_it_is_judged_is_left(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    run = await a_run(world.store.db, **quiet(2, status="running", node_metadata=recorded(DEAD)))
    (seen,) = await ReapingStore(world.store.db).open_runs(NOW - HOUR)
    await world.store.db.execute("UPDATE sessions SET updated_at = :now", {"now": NOW})

    async def stale(_since: float) -> tuple[Any, ...]:
        return (seen,)

    monkeypatch.setattr(world.reapers._rows, "open_runs", stale)
    await world.reapers.sweep()
    assert await world.status("sessions", run) == "running"


async def test_one_row_that_fails_does_not_cost_the_others_and_a_store_that_is_gone_does(world: World) -> None:
    runs = [await a_run(world.store.db, **quiet(2 + n, status="running", node_metadata=recorded(DEAD))) for n in range(2)]
    changing, failures = world.reapers._statuses.change, [RuntimeError("oh")]

    async def change(change: Any) -> bool:
        if failures:
            raise failures.pop()
        return await changing(change)

    world.reapers._statuses.change = change  # type: ignore[method-assign]
    await world.reapers.sweep()
    assert sorted([await world.status("sessions", run) or "" for run in runs]) == ["failed", "running"]
    await world.store.close()
    with pytest.raises(StateUnavailable):
        await world.reapers.sweep()
