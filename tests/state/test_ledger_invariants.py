"""Rules for whoever writes beside lionagi 0.36, by their numbers: those that hold for all of these writers at once.

What concerns one writer alone stands with its own tests.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from studio_tui.application.errors import StateUnavailable
from studio_tui.application.ports.artifacts import ArtifactDraft
from studio_tui.application.ports.attention import Decision
from studio_tui.application.ports.definition_writes import VersionDraft, WorkflowDraft
from studio_tui.application.ports.outbox import NewDispatch
from studio_tui.application.ports.projects import ProjectChanges
from studio_tui.domain.reasons import REASON_WORDS
from studio_tui.state.db import StateDB
from studio_tui.state.schema import (
    LenientJSON,
    admin_events,
    approvals,
    artifacts,
    definitions,
    dispatch_outbox,
    metadata,
    run_tags,
    session_controls,
    session_signals,
    sessions,
    status_transitions,
    workflow_defs,
)
from studio_tui.state.store import Store
from studio_tui.state.stores.admin_events import AdminEventStore
from studio_tui.state.stores.approvals import ApprovalStore
from studio_tui.state.stores.artifacts import ArtifactStore
from studio_tui.state.stores.attention import AttentionStore
from studio_tui.state.stores.controls import ControlStore
from studio_tui.state.stores.definition_writes import DefinitionVersionStore
from studio_tui.state.stores.outbox import OutboxStore
from studio_tui.state.stores.outbox_delivery import OutboxDeliveryStore
from studio_tui.state.stores.projects import ProjectStore
from studio_tui.state.stores.runs import RunStore
from studio_tui.state.stores.signals import SignalStore
from studio_tui.state.stores.tags import TagStore
from studio_tui.state.stores.workflow_writes import WorkflowWriteStore
from tests.builders import NOW, a_firing, a_run, a_schedule, an_invocation, run_sql
from tests.fakes.clock import SteeredClock
from tests.state.run_pages import listed

RUN = "r1"
METADATA = {"pid": 4110, "flow_control_poller": "active", "agents": [{"id": "ä"}]}


@dataclass(frozen=True)
class Writers:
    """Every store that writes, on one database."""

    db: StateDB
    clock: SteeredClock

    async def acts(self) -> list[Callable[[], Awaitable[object]]]:
        """Each writing method once; some need what earlier ones left, so they are done in order."""
        db, clock = self.db, self.clock
        approval, deliver, outbox = ApprovalStore(db, clock), OutboxDeliveryStore(db, clock), OutboxStore(db, clock)
        attention, tags, known = AttentionStore(db, clock), TagStore(db, clock), ProjectStore(db, clock)
        workflows, artifact = WorkflowWriteStore(db, clock), ArtifactStore(db, clock)
        granted, denied = await approval.propose("x", {}), await approval.propose("y", {})
        workflow = await workflows.create_workflow(WorkflowDraft("old", None, {"version": 1}))
        answer = await deliver.enqueue(NewDispatch("k", "x", ack_required=True, max_attempts=1, session_id=RUN))
        changes = ProjectChanges({"path": "/srv"})

        async def deliver_one() -> object:
            return await deliver.failed((await deliver.claim_due(limit=1))[0], "no")

        return [
            lambda: artifact.put_artifact(ArtifactDraft("report", "main", {"n": 1}, session_id=RUN, file_path="a.md")),
            lambda: artifact.put_artifact(ArtifactDraft("report", "main", {"n": 2}, session_id=RUN)),
            lambda: approval.propose("z", {"n": 1}),
            lambda: approval.grant(granted.approval_id),
            lambda: approval.consume(granted.approval_id, action_kind="x", params={}),
            lambda: approval.deny(denied.approval_id, reason_class=None, reason=None),
            lambda: attention.decide(Decision("run:r1", "acknowledged", "failed", "op")),
            lambda: attention.reopen("run:r1", actor="op"),
            lambda: ControlStore(db, clock).send(RUN, "message", text="Go on."),
            lambda: ControlStore(db, clock).send(RUN, "pause"),
            lambda: SignalStore(db, clock).append(RUN, "RunStart", {"n": [1]}),
            lambda: tags.add_tag(RUN, "nightly"),
            lambda: tags.set_label(RUN, "The one", seen=None),
            lambda: known.create_project("web"),
            lambda: known.register_project("web", "git_remote", github="o/web"),
            lambda: known.update_project("web", changes),
            lambda: known.assign_runs("web", [RUN]),
            lambda: known.assign_unassigned("web"),
            lambda: known.delete_project("web"),
            lambda: DefinitionVersionStore(db, clock).append_version(
                VersionDraft("agent", "a", "agents/a.md", "x"), expected_version=0
            ),
            lambda: workflows.create_workflow(WorkflowDraft("new")),
            lambda: workflows.update_workflow(workflow.workflow_id, {"spec": {"a": 1}}, expected_updated_at=NOW),
            deliver_one,
            lambda: deliver.enqueue(NewDispatch("k", "y", {"n": "ä"}, expires_at=NOW + 1)),
            lambda: outbox.retry(answer.dispatch_id),
            lambda: outbox.acknowledge(answer.dispatch_id, answer.ack_token or ""),
            lambda: outbox.purge_older(status="pending", before=None, actor="op"),
            lambda: AdminEventStore(db, clock).note("transition", {"ids": [RUN]}, target_id=None),
        ]


@pytest.fixture
async def writers(db: StateDB) -> Writers:
    await a_run(
        db, id=RUN, status="running", invocation_kind="flow", node_metadata=METADATA, last_message_at=NOW - 9, updated_at=NOW - 9
    )
    await a_run(db, id="r2", status="completed", updated_at=NOW - 5)
    return Writers(db, SteeredClock(at=NOW))


async def do_everything(writers: Writers) -> None:
    for act in await writers.acts():
        await act()


async def everything(db: StateDB, *columns: Any) -> list[dict[str, Any]]:
    return await db.fetch_all(select(*columns))


@pytest.mark.sqlite_only("it looks at the file itself")
async def test_invariants_04_05_08_no_writer_touches_schema_journal_or_version(writers: Writers, db: StateDB) -> None:
    async def shape() -> list[list[dict[str, Any]]]:
        questions = ("SELECT * FROM sqlite_master ORDER BY name", "PRAGMA journal_mode", "PRAGMA user_version")
        return [await db.fetch_all(sql) for sql in (*questions, "PRAGMA application_id", "SELECT * FROM schema_meta")]

    before = await shape()
    await do_everything(writers)
    assert await shape() == before
    assert before[1] == [{"journal_mode": "wal"}]
    assert before[2] == [{"user_version": 0}]


async def test_invariant_09_no_writer_leaves_a_reference_that_points_nowhere(writers: Writers, db: StateDB) -> None:
    await do_everything(writers)
    if db.dialect == "sqlite":
        assert await db.fetch_all("PRAGMA foreign_key_check") == []
    for table in (run_tags, session_signals, session_controls):
        row: dict[str, Any] = {"session_id": "gone", "id": "x", "seq": 1, "kind": "x", "verb": "pause", "tag": "x"}
        given = {name: value for name, value in row.items() if name in table.c}
        moment = {column.name: NOW for column in table.c if column.name in ("ts", "created_at")}
        with pytest.raises(StateUnavailable, match="a rule of its schema"):
            await db.execute(insert(table).values(**given, **moment))


async def test_invariant_10_each_act_is_one_transaction(writers: Writers, db: StateDB, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    real = db.transaction

    @asynccontextmanager
    async def counted() -> AsyncIterator[AsyncConnection]:
        begun.append(1)
        async with real() as connection:
            yield connection

    acts = await writers.acts()
    monkeypatch.setattr(db, "transaction", counted)
    for act in acts:
        begun.clear()
        await act()
        assert len(begun) == (2 if act.__name__ == "deliver_one" else 1)


async def test_invariants_11_26_34_no_writer_touches_times_or_metadata_of_a_run(writers: Writers, db: StateDB) -> None:
    written = {"user_label", "project", "project_source"}
    kept = [column for column in sessions.c if column.name not in written]
    before = await everything(db, *kept)
    await do_everything(writers)
    assert await everything(db, *kept) == before
    assert before[0]["node_metadata"] == METADATA


@pytest.mark.sqlite_only("a server's json columns hold JSON")
@pytest.mark.parametrize("stored", ["{broken", '{"pid": NaN}', "", "[1]"])
async def test_invariant_11_a_run_with_broken_metadata_stops_no_list(db: StateDB, stored: str) -> None:
    await a_run(db, id="r0", project="web")
    await a_run(db, id="r1", project="web")
    await run_sql(db, "UPDATE sessions SET node_metadata = :stored WHERE id = 'r0'", stored=stored)
    clock = SteeredClock(at=NOW)
    await TagStore(db, clock).add_tag("r0", "x")
    known = ProjectStore(db, clock)
    await known.assign_runs("web", ["r0"])
    assert (await known.list_projects()).projects[0].run_count == 2
    assert await listed(RunStore(db)) == ["r1", "r0"]


async def test_invariant_14_json_is_written_once_and_never_as_nothing(writers: Writers, db: StateDB) -> None:
    await do_everything(writers)
    tables = (artifacts, session_controls, session_signals, workflow_defs, dispatch_outbox, admin_events, status_transitions)
    looked_at = set()
    for table in tables:
        for column in (column for column in table.c if isinstance(column.type, LenientJSON)):
            for row in await db.fetch_all(f'SELECT CAST("{column.name}" AS text) AS stored FROM {table.name}'):
                value = None if row["stored"] is None else json.loads(row["stored"])
                assert value is None or isinstance(value, dict | list), (table.name, column.name, row)
                looked_at.add(table)
    assert looked_at == set(tables)


async def test_invariants_18_20_24_history_has_registered_reasons_and_no_evidence_of_reapers(
    writers: Writers, db: StateDB
) -> None:
    await do_everything(writers)
    lines = await db.fetch_all(status_transitions.select())
    assert {line["entity_type"] for line in lines} == {"dispatch"}
    assert {line["reason_code"] for line in lines} <= set(REASON_WORDS)
    assert all(line["reason_code"].startswith("dispatch.") for line in lines)
    assert [item for line in lines for item in line["evidence_refs"]] == []
    for row in await db.fetch_all(dispatch_outbox.select()):
        last = max((line for line in lines if line["entity_id"] == row["id"]), key=lambda line: line["created_at"])
        assert (last["created_at"], row["updated_at"]) == (NOW, NOW)


async def test_invariant_33_no_approval_of_ours_names_a_run(writers: Writers, db: StateDB) -> None:
    """Lionagi's own retention fails on one that does; the id belongs into the parameters."""
    await do_everything(writers)
    assert {row["session_id"] for row in await db.fetch_all(approvals.select())} == {None}


async def test_invariant_48_maintenance_is_noted_by_nobody_who_did_none(writers: Writers, db: StateDB) -> None:
    await do_everything(writers)
    actions = {row["action"] for row in await db.fetch_all(admin_events.select())}
    assert actions == {"dispatch_purge", "transition"}


async def test_invariant_48_events_are_added_and_never_changed(writers: Writers, db: StateDB) -> None:
    await AdminEventStore(db, writers.clock).note("first", {})
    before = await db.fetch_all(admin_events.select())
    await do_everything(writers)
    after = await db.fetch_all(admin_events.select())
    assert all(event in after for event in before)
    assert len(after) == len(before) + 2


async def test_invariant_58_booleans_are_numbers(writers: Writers, db: StateDB) -> None:
    await do_everything(writers)
    (row,) = await db.fetch_all(select(dispatch_outbox.c.ack_required))
    assert (type(row["ack_required"]), row["ack_required"]) == (int, 1)


# --- PostgreSQL -------------------------------------------------------------------------------------------------------


@pytest.fixture
async def server_db(postgres_url: str, tmp_path: Path) -> AsyncIterator[StateDB]:
    store = Store(postgres_url, home=tmp_path)
    await store.open()
    yield store.db
    await store.close()


async def _waits_for_a_lock(db: StateDB) -> None:
    """Until some transaction waits for an advisory lock."""
    while not (await db.fetch_all("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")):
        continue


async def test_invariant_56_writers_take_the_locks_of_the_peer(server_db: StateDB) -> None:
    """A signal waits for whoever holds the run's own lock; others go on."""
    await a_run(server_db, id="r1")
    await a_run(server_db, id="r2")
    signals = SignalStore(server_db, SteeredClock(at=NOW))
    async with server_db.transaction() as held:
        await held.execute(select(func.pg_advisory_xact_lock(func.hashtextextended("r1", 0))))
        await signals.append("r2", "RunStart", {})
        waiting = asyncio.create_task(signals.append("r1", "RunStart", {}))
        await asyncio.wait_for(_waits_for_a_lock(server_db), 30)
        assert not waiting.done()
    assert (await waiting).seq == 1


async def test_invariant_56_a_row_is_locked_before_its_status_is_written(server_db: StateDB) -> None:
    """Whoever comes second finds what the first has left, and not what both had seen."""
    clock = SteeredClock(at=NOW)
    made = await ApprovalStore(server_db, clock).propose("x", {})
    others = [StateDB(url=server_db.url) for _ in range(4)]
    for other in others:
        await other.open()
    try:
        acts = (ApprovalStore(other, clock).grant(made.approval_id) for other in others)
        outcomes = await asyncio.gather(*acts, return_exceptions=True)
    finally:
        for other in others:
            await other.close()
    assert sum(not isinstance(outcome, Exception) for outcome in outcomes) == 1
    report = await ApprovalStore(server_db, clock).verify_chain()
    assert (report.entries, report.valid) == (2, True)


async def test_invariant_57_json_is_read_by_text_and_never_compared(server_db: StateDB) -> None:
    """The columns are ``json``, which knows neither equality nor the operators of ``jsonb``."""
    kinds = await server_db.fetch_all(
        "SELECT DISTINCT data_type FROM information_schema.columns WHERE table_name = 'admin_events' AND column_name = 'details'"
    )
    assert kinds == [{"data_type": "json"}]
    events = AdminEventStore(server_db, SteeredClock(at=NOW))
    await events.note("x", {"ids": ["r1"]})
    assert len(await events.list_events(action=None, target_id="r1", before=None, limit=5)) == 1


async def test_several_processes_write_versions_and_ledgers_at_once(server_db: StateDB) -> None:
    """Connections that share no lock of ours: the server alone keeps numbers apart."""
    clock = SteeredClock(at=NOW)
    others = [StateDB(url=server_db.url) for _ in range(4)]
    for other in others:
        await other.open()
    draft = VersionDraft("agent", "a", "agents/a.md", "x")
    try:
        await asyncio.gather(
            *(DefinitionVersionStore(other, clock).append_version(draft, expected_version=None) for other in others),
            *(
                AttentionStore(other, clock).decide(Decision(f"run:{n}", "resolved", "failed", "op"))
                for n, other in enumerate(others)
            ),
            *(OutboxDeliveryStore(other, clock).enqueue(NewDispatch("k", "x", dedup_key="d")) for other in others),
            *(ProjectStore(other, clock).register_project("web", "cwd_dir") for other in others),
        )
        claims = await asyncio.gather(*(OutboxDeliveryStore(other, clock).claim_due(limit=5) for other in others))
    finally:
        for other in others:
            await other.close()
    versions = await server_db.fetch_all(select(definitions.c.version).order_by(definitions.c.version))
    assert [row["version"] for row in versions] == [1, 2, 3, 4]
    history = await AttentionStore(server_db, clock).history(before=None, limit=9)
    assert [change.sequence for change in history] == [4, 3, 2, 1]
    assert sorted(map(len, claims)) == [0, 0, 0, 1]


def test_every_ledger_of_the_schema_has_its_tables() -> None:
    """Invariant 59: tables are named one by one, and nothing is found by a pattern of names."""
    assert all(table.schema is None for table in metadata.tables.values())


async def test_a_firing_that_a_message_names_stays_until_the_message_is_gone(db: StateDB) -> None:
    """Invariant 43: deleting a schedule is blocked by the outbox, and purging frees it."""
    schedule = await a_schedule(db)
    firing = await a_firing(db, schedule, invocation_id=await an_invocation(db))
    clock = SteeredClock(at=NOW)
    made = await OutboxDeliveryStore(db, clock).enqueue(NewDispatch("k", "x", schedule_run_id=firing))
    with pytest.raises(StateUnavailable, match="a rule of its schema"):
        await run_sql(db, "DELETE FROM schedules WHERE id = :i", i=schedule)
    await OutboxStore(db, clock).purge(made.dispatch_id, actor="op")
    await run_sql(db, "DELETE FROM schedules WHERE id = :i", i=schedule)
