"""On a home that the real package made: our readings and its own are the same."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from studio_tui.application.ports.invocations import EngineRunFilter, InvocationFilter
from studio_tui.domain.stats import WINDOWS, SpendSum
from studio_tui.state.db import StateDB
from studio_tui.state.stores.admin_events import AdminEventStore
from studio_tui.state.stores.approvals import ApprovalStore
from studio_tui.state.stores.artifacts import ArtifactStore
from studio_tui.state.stores.attention import AttentionStore
from studio_tui.state.stores.controls import ControlStore
from studio_tui.state.stores.engine_runs import EngineStore
from studio_tui.state.stores.invocations import InvocationStore
from studio_tui.state.stores.outbox import OutboxStore
from studio_tui.state.stores.projects import ProjectStore
from studio_tui.state.stores.signals import SignalStore
from studio_tui.state.stores.stats import StatsStore
from studio_tui.state.stores.tags import TagStore
from studio_tui.state.stores.teams import TeamStore
from tests.conftest import PEER_NOW
from tests.fakes.clock import SteeredClock
from tests.interop.peer_call import ask_peer
from tests.interop.written import our_store

pytestmark = pytest.mark.interop

EVERYTHING = """
import time
time.time = lambda: ARGUMENTS["now"]
from lionagi.dispatch import outbox
from lionagi.studio.services import approvals, attention, engine_runs, invocations, projects, run_tags, sessions, signals, stats
async with StateDB() as db:
    ids = [row["id"] for row in await db.list_sessions(limit=500)]
    artifacts = await db.fetch_all("SELECT id FROM artifacts ORDER BY created_at DESC, id DESC")
    items = await db.fetch_all("SELECT DISTINCT item_id AS id FROM attention_disposition_history")
    teams = await db.fetch_all("SELECT * FROM teams ORDER BY updated_at DESC, id DESC")
    answer = {
        "ids": ids,
        "dispatches": await outbox.list_dispatches(db, limit=500),
        "events": await db.list_admin_events(limit=500),
        "definitions": await db.list_engine_defs(limit=500),
        "artifacts": [await db.get_artifact(row["id"]) for row in artifacts],
        "children": await db.list_sessions_for_invocations([row["id"] for row in await db.list_invocations(limit=200)]),
        "teams": teams,
    }
answer["tags"] = await run_tags.tags_for_sessions(ids)
answer["projects"] = await projects.list_projects()
answer["project"] = {row["name"]: await projects.get_project(row["name"]) for row in answer["projects"]["projects"]}
answer["chain"] = await approvals.verify_evidence_chain()
answer["dispositions"] = await attention.list_dispositions()
answer["history"] = {row["id"]: await attention.disposition_history(row["id"]) for row in items}
answer["engine_runs"] = (await engine_runs.list_engine_run_page(limit=500))["items"]
answer["invocations"] = await invocations.list_invocations(limit=200)
answer["signals"] = {id: await signals.get_signals_after(id, 0) for id in ids}
answer["held"] = {id: (await sessions.get_session(id))["pause_is_held"] for id in ids[:40]}
answer["stats"] = {
    window: [await stats.get_activity_stats(window), await stats.get_spend_stats(window), await stats.get_spend_rollup(window)]
    for window in ("24h", "7d")
}
return answer
"""


@pytest.fixture(scope="module")
def theirs(peer_home_template: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the peer reads from a copy of the home."""
    import shutil

    home = tmp_path_factory.mktemp("read") / "home"
    shutil.copytree(peer_home_template, home)
    answer: dict[str, Any] = ask_peer(home, EVERYTHING, now=PEER_NOW)
    return answer


@pytest.fixture
async def db(peer_home: Path) -> AsyncIterator[StateDB]:
    async with our_store(peer_home) as db:
        yield db


@pytest.fixture
def clock() -> SteeredClock:
    return SteeredClock(at=PEER_NOW)


def names(row: Any, *fields: str) -> dict[str, Any]:
    return {field: getattr(row, field) for field in fields}


async def test_projects(db: StateDB, clock: SteeredClock, theirs: dict[str, Any]) -> None:
    known = ProjectStore(db, clock)
    found = await known.list_projects()
    columns = ("name", "source", "path", "github", "description", "created_at", "updated_at", "last_seen_at")
    ours = [
        {
            **names(project, *columns),
            "session_count": project.run_count,
            "running_count": project.running_count,
            "editable": project.is_editable,
        }
        for project in found.projects
    ]
    assert ours == theirs["projects"]["projects"]
    assert found.unassigned == theirs["projects"]["unassigned_count"]
    for name, project in theirs["project"].items():
        use = await known.project_use(name)
        for column, used in (("agent_name", use.agents), ("playbook_name", use.playbooks)):
            listed = {row[column]: row["run_count"] for row in project[f"{column.removesuffix('_name')}s_used"]}
            assert dict(used) == listed


async def test_tags_and_signals_and_pauses(db: StateDB, clock: SteeredClock, theirs: dict[str, Any]) -> None:
    tags = await TagStore(db, clock).tags_of(theirs["ids"])
    assert {run: list(names) for run, names in tags.items()} == theirs["tags"]
    signals, controls = SignalStore(db, clock), ControlStore(db, clock)
    for run_id, rows in theirs["signals"].items():
        found = await signals.after(run_id, 0, limit=500)
        keys = ("seq", "kind", "op_id", "payload")
        assert [names(signal, *keys) for signal in found] == [{key: row[key] for key in keys} for row in rows]
    assert {run_id: await controls.pause_is_held(run_id) for run_id in theirs["held"]} == theirs["held"]
    assert any(theirs["signals"].values())


async def test_artifacts(db: StateDB, clock: SteeredClock, theirs: dict[str, Any]) -> None:
    found = await ArtifactStore(db, clock).recent_artifacts(before=None, limit=500)
    keys = ("invocation_id", "session_id", "kind", "name", "created_at", "updated_at", "content", "file_path")
    ours = [{"id": record.artifact_id, **names(record, *keys)} for record in found]
    assert ours == theirs["artifacts"]
    assert len(ours) == 8


async def test_approvals_and_attention(db: StateDB, clock: SteeredClock, theirs: dict[str, Any]) -> None:
    report = await ApprovalStore(db, clock).verify_chain()
    assert (report.valid, report.entries) == (theirs["chain"]["valid"], theirs["chain"]["total_entries"]) == (True, 12)
    attention = AttentionStore(db, clock)
    keys = ("item_id", "state", "note", "created_at", "updated_at", "expires_at", "actor", "source_status", "revision")
    assert {record.item_id: names(record, *keys) for record in await attention.current(after=None, limit=500)} == theirs[
        "dispositions"
    ]
    for item, lines in theirs["history"].items():
        line_keys = ("item_id", "prior_state", "new_state", "note", "actor", "source_status", "created_at")
        found = await attention.history_of(item)
        assert [{"id": change.change_id, **names(change, *line_keys)} for change in found] == lines


async def test_outbox_and_events(db: StateDB, clock: SteeredClock, theirs: dict[str, Any]) -> None:
    outbox = OutboxStore(db, clock)
    found = await outbox.list_dispatches(status=frozenset(), before=None, limit=500)
    assert [record.dispatch_id for record in found] == [row["id"] for row in theirs["dispatches"]]
    for row in theirs["dispatches"]:
        record = await outbox.get_dispatch(row["id"])
        assert record is not None
        assert {key: row[key] for key in ("status", "attempt", "payload", "ack_required", "last_error")} == names(
            record, "status", "attempt", "payload", "ack_required", "last_error"
        )
    events = await AdminEventStore(db, clock).list_events(action=None, target_id=None, before=None, limit=500)
    assert [(event.event_id, event.action) for event in events] == [(row["id"], row["action"]) for row in theirs["events"]]


async def test_engine_runs_and_definitions_and_teams(db: StateDB, theirs: dict[str, Any]) -> None:
    engines = EngineStore(db)
    found = await engines.list_engine_runs(EngineRunFilter(), before=None, limit=500)
    keys = ("kind", "status", "started_at", "ended_at", "invocation_id", "signal_session_id", "parent_session_id")
    ours = [{"id": run.run_id, **names(run, *keys), "session_id": run.shown_session_id} for run in found]
    assert ours == [{key: row[key] for key in ("id", *keys, "session_id")} for row in theirs["engine_runs"]]
    assert [bool(run.has_error) for run in found] == [row["error_code"] is not None for row in theirs["engine_runs"]]
    definitions = await engines.list_engine_definitions(kind=None, before=None, limit=500)
    assert sorted(definition.name for definition in definitions) == sorted(row["name"] for row in theirs["definitions"])
    teams = TeamStore(db)
    listed = await teams.list_teams(before=None, limit=500)
    assert [(team.team_id, team.status) for team in listed] == [(row["id"], row["status"]) for row in theirs["teams"]]
    assert any([await teams.team_messages(team.team_id, before=None, limit=9) for team in listed])


async def test_invocations(db: StateDB, theirs: dict[str, Any]) -> None:
    found = await InvocationStore(db).list_invocations(InvocationFilter(), before=None, limit=200)
    assert len(found) == len(theirs["invocations"]) == 11
    rows = {row["id"]: row for row in theirs["invocations"]}
    keys = ("skill", "plugin", "status", "session_count", "project", "project_source", "last_activity_at", "updated_at")
    for record in found:
        row = rows[record.invocation_id]
        assert names(record, *keys) == {key: row[key] for key in keys}
        assert record.firing_exit_code == row["schedule_run_exit_code"]
        assert (record.firing_error or "") == (row["schedule_run_error_detail"] or "")[:500]
        children = theirs["children"][record.invocation_id]
        assert sum(record.children.values()) == len(children)
        assert [run.run_id for run in record.running] == [row["id"] for row in children if row["status"] == "running"]
    order = [record.updated_at or 0.0 for record in found]
    assert order == [row["updated_at"] for row in theirs["invocations"]]


@pytest.mark.parametrize("name", WINDOWS)
async def test_figures(db: StateDB, theirs: dict[str, Any], name: str) -> None:
    """But for the cost of codex runs, which means nothing and which the peer leaves out everywhere but here."""
    figures, window = StatsStore(db), WINDOWS[name]
    activity, spend, rollup = theirs["stats"][name]
    found = await figures.activity(window, PEER_NOW)
    buckets = [{"t": b.start, **names(b, "completed", "failed", "cancelled", "running")} for b in found.buckets]
    assert (buckets, found.total, found.completion_rate) == (activity["buckets"], activity["total"], activity["completion_rate"])
    since = float(window.start(PEER_NOW))
    codex = await db.fetch_all(
        "SELECT project, agent_name AS agent, total_cost_usd AS usd FROM sessions WHERE provider = 'codex' "
        "AND total_cost_usd IS NOT NULL AND coalesce(ended_at, started_at, created_at) >= :since",
        {"since": since},
    )
    assert await figures.spend(window, PEER_NOW) == _without(spend, codex)
    for dimension in ("project", "agent"):
        expected = {
            row["key"]: _without(row, [run for run in codex if run[dimension] == row["key"]]) for row in rollup[f"by_{dimension}"]
        }
        shares = await figures.spend_by(dimension, window, PEER_NOW, limit=20)
        assert {share.key: share.spend for share in shares} == expected


def _without(row: dict[str, Any], codex: list[dict[str, Any]]) -> SpendSum:
    reported = row["reported_count"] - len(codex)
    usd = None if not reported else pytest.approx(row["reported_usd"] - sum(run["usd"] for run in codex))
    return SpendSum(usd, reported, row["unreported_count"] + len(codex))
