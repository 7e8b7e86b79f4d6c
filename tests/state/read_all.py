"""Every reading method of every store, asked once about everything that a store holds."""

from __future__ import annotations

from collections.abc import Awaitable, Iterator, Mapping
from typing import Any

from studio_tui.application.ports import RunFilter
from studio_tui.application.ports.invocations import EngineRunFilter, InvocationFilter
from studio_tui.domain.stats import WINDOWS
from studio_tui.state.db import StateDB
from studio_tui.state.stores.admin_events import AdminEventStore
from studio_tui.state.stores.approvals import ApprovalStore
from studio_tui.state.stores.artifacts import ArtifactStore
from studio_tui.state.stores.attention import AttentionStore
from studio_tui.state.stores.controls import ControlStore
from studio_tui.state.stores.definitions import DefinitionStore
from studio_tui.state.stores.engine_runs import EngineStore
from studio_tui.state.stores.invocations import InvocationStore
from studio_tui.state.stores.messages import MessageStore
from studio_tui.state.stores.outbox import OutboxStore
from studio_tui.state.stores.overview import OverviewStore
from studio_tui.state.stores.projects import ProjectStore
from studio_tui.state.stores.runs import RunStore
from studio_tui.state.stores.schedule_facts import ScheduleFactReads
from studio_tui.state.stores.schedules import ScheduleReadStore
from studio_tui.state.stores.scheduling import SchedulingStore
from studio_tui.state.stores.shows import ShowStore
from studio_tui.state.stores.signals import SignalStore
from studio_tui.state.stores.stats import StatsStore
from studio_tui.state.stores.tags import TagStore
from studio_tui.state.stores.teams import TeamStore
from tests.fakes.clock import SteeredClock

ALL, SOME = 1000, 5
"""How many records a page may have, and of which rows the questions about one row are asked: every fifth."""
Questions = Iterator[tuple[str, Awaitable[Any]]]
Ids = Mapping[str, list[str]]


async def read_all(db: StateDB, now: float) -> dict[str, int]:
    """How many records each question gave. Nothing that a store holds makes one of them fail."""
    tables = ("sessions", "schedules", "schedule_runs", "invocations", "teams", "messages")
    ids = {table: await _ids(db, table) for table in tables}
    ids |= {f"runs of {table}": await _owners(db, table) for table in ("session_controls", "session_signals", "artifacts")}
    found: dict[str, int] = {}
    for ask in (_runs, _schedules, _ledgers, _rest):
        for name, question in ask(db, ids, now):
            answer = await question
            found[name] = found.get(name, 0) + (len(answer) if isinstance(answer, tuple | dict) else answer is not None)
    return found | await _transcripts(db)


async def _ids(db: StateDB, table: str) -> list[str]:
    return [row["id"] for row in await db.fetch_all(f"SELECT id FROM {table} ORDER BY id")]


async def _owners(db: StateDB, table: str) -> list[str]:
    """The runs that have rows in a table."""
    rows = await db.fetch_all(f"SELECT DISTINCT session_id AS id FROM {table} WHERE session_id IS NOT NULL ORDER BY 1")
    return [row["id"] for row in rows]


async def _transcripts(db: StateDB) -> dict[str, int]:
    messages = MessageStore(db)
    windows = [await messages.tail(name, limit=50) for name in (await _ids(db, "progressions"))[::SOME]]
    return {"transcripts": len(windows)}


def _runs(db: StateDB, ids: Ids, now: float) -> Questions:
    runs, invocations = RunStore(db), InvocationStore(db)
    yield "runs", runs.get_runs(ids["sessions"])
    yield "count", runs.approximate_count()
    yield "newer", runs.count_newer(RunFilter(), (0.0, ""), limit=ALL)
    for text in (None, "a"):
        yield f"page {text}", runs.list_runs(RunFilter(text=text), after=None, backwards=False, limit=ALL)
    for run_id in ids["sessions"][::SOME]:
        yield "branches", runs.branches(run_id)
        yield "history", runs.transitions("session", run_id, limit=ALL)
    for invocation_id in ids["invocations"]:
        yield "runs of invocations", runs.runs_of_invocation(invocation_id, limit=ALL)
        yield "firings of invocations", runs.firing_of_invocation(invocation_id)
    yield "invocations", invocations.list_invocations(InvocationFilter(), before=None, limit=ALL)
    yield "messages", MessageStore(db).by_ids(ids["messages"])
    overview = OverviewStore(db)
    yield "running", overview.running_runs(limit=ALL)
    yield "failed", overview.count_failed_since(0.0)


def _schedules(db: StateDB, ids: Ids, now: float) -> Questions:
    reads, scheduling, facts = ScheduleReadStore(db), SchedulingStore(db, SteeredClock(at=now)), ScheduleFactReads(db)
    yield "schedules", reads.list_schedules(enabled=None, text=None, after=None, limit=ALL)
    yield "recent", reads.recent_firings(ids["schedules"], each=10)
    yield "executed", reads.executed_counts(ids["schedules"])
    for schedule_id in ids["schedules"]:
        yield "firings", reads.firings(schedule_id, before=None, limit=ALL)
        yield "spend", scheduling.sum_schedule_spend(schedule_id)
        yield "gates", facts.gate_facts(schedule_id, since=0.0)
        yield "vanishing", facts.vanishing(schedule_id)
    for firing_id in ids["schedule_runs"][::SOME]:
        yield "firing", reads.get_firing(firing_id)
    yield "due", scheduling.list_due(now + 1e7, limit=ALL)
    yield "unarmed", scheduling.list_unarmed()
    yield "armed", scheduling.list_armed_cron()
    yield "undispatched", scheduling.list_undispatched(older_than=now + 1e7)
    yield "dispatched", scheduling.list_dispatched()
    for invocation_id in ids["invocations"]:
        yield "sessions of firings", scheduling.list_sessions_for_invocation(invocation_id)


def _ledgers(db: StateDB, ids: Ids, now: float) -> Questions:
    clock = SteeredClock(at=now)
    approvals, attention, outbox = ApprovalStore(db, clock), AttentionStore(db, clock), OutboxStore(db, clock)
    artifacts, controls, signals = ArtifactStore(db, clock), ControlStore(db, clock), SignalStore(db, clock)
    yield "waiting approvals", approvals.waiting(limit=ALL)
    yield "evidence", approvals.evidence(before=None, limit=ALL)
    yield "decided", approvals.decided(before=None, limit=ALL)
    yield "chain", approvals.verify_chain()
    yield "dispositions", attention.current(after=None, limit=ALL)
    yield "decisions", attention.history(before=None, limit=ALL)
    yield "dispatches", outbox.list_dispatches(status=frozenset(), before=None, limit=ALL)
    yield "events", AdminEventStore(db, clock).list_events(action=None, target_id=None, before=None, limit=ALL)
    yield "artifacts", artifacts.recent_artifacts(before=None, limit=ALL)
    for run_id in ids["runs of session_controls"]:
        yield "controls", controls.list_controls(run_id, before=None, limit=ALL)
        yield "held", controls.pause_is_held(run_id)
    for run_id in ids["runs of session_signals"]:
        yield "signals", signals.tail(run_id, before=None, limit=ALL)
    for run_id in ids["runs of artifacts"]:
        yield "artifacts of runs", artifacts.artifacts_of_run(run_id, after=None, limit=ALL)


def _rest(db: StateDB, ids: Ids, now: float) -> Questions:
    clock = SteeredClock(at=now)
    engines, definitions, teams, stats = EngineStore(db), DefinitionStore(db), TeamStore(db), StatsStore(db)
    yield "engine runs", engines.list_engine_runs(EngineRunFilter(), before=None, limit=ALL)
    yield "engine definitions", engines.list_engine_definitions(kind=None, before=None, limit=ALL)
    yield "versions", definitions.latest_versions()
    yield "workflows", definitions.list_workflows()
    yield "teams", teams.list_teams(before=None, limit=ALL)
    for team_id in ids["teams"]:
        yield "team messages", teams.team_messages(team_id, before=None, limit=ALL)
    yield "shows", ShowStore(db).list_shows()
    yield "projects", ProjectStore(db, clock).list_projects()
    yield "tags", TagStore(db, clock).all_tags(limit=ALL)
    for window in WINDOWS.values():
        yield "activity", stats.activity(window, now)
        yield "spending", stats.spend(window, now)
