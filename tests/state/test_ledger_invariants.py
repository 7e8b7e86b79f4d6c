"""Rules for whoever writes beside lionagi 0.36, by their numbers: those that hold for all of these writers at once.

What concerns one writer alone stands with its own tests.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, insert, select

from studio_tui.application.errors import StateUnavailable
from studio_tui.application.ports.attention import Decision
from studio_tui.application.ports.definition_writes import VersionDraft
from studio_tui.application.ports.outbox import NewDispatch
from studio_tui.domain.reasons import REASON_WORDS
from studio_tui.domain.statuses import VOCABULARIES
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.db import StateDB
from studio_tui.state.lifecycle import STATUS_TABLES
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
from studio_tui.state.stores.attention import AttentionStore
from studio_tui.state.stores.definition_writes import DefinitionVersionStore
from studio_tui.state.stores.outbox import OutboxStore
from studio_tui.state.stores.outbox_delivery import OutboxDeliveryStore
from studio_tui.state.stores.projects import ProjectStore
from studio_tui.state.stores.runs import RunStore
from studio_tui.state.stores.signals import SignalStore
from studio_tui.state.stores.tags import TagStore
from tests.builders import NOW, a_firing, a_run, a_schedule, an_invocation, run_sql
from tests.fakes.clock import SteeredClock
from tests.state.raw import raw_rows
from tests.state.run_pages import listed
from tests.state.writers import METADATA, Writers, all_writers


@pytest.fixture
async def writers(db: StateDB) -> Writers:
    return await all_writers(db)


async def everything(db: StateDB, *columns: Any) -> list[dict[str, Any]]:
    return await db.fetch_all(select(*columns))


@pytest.mark.sqlite_only("it looks at the file itself")
async def test_invariants_04_05_08_no_writer_touches_schema_journal_or_version(writers: Writers, db: StateDB) -> None:
    async def shape() -> list[list[dict[str, Any]]]:
        questions = ("SELECT * FROM sqlite_master ORDER BY name", "PRAGMA journal_mode", "PRAGMA user_version")
        return [await db.fetch_all(sql) for sql in (*questions, "PRAGMA application_id", "SELECT * FROM schema_meta")]

    before = await shape()
    await writers.do_everything()
    assert await shape() == before
    assert before[1] == [{"journal_mode": "wal"}]
    assert before[2] == [{"user_version": 0}]


async def test_invariant_09_no_writer_leaves_a_reference_that_points_nowhere(writers: Writers, db: StateDB) -> None:
    await writers.do_everything()
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
    await writers.do_everything()
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
    await writers.do_everything()
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
    await writers.do_everything()
    lines = await raw_rows(db, "status_transitions")
    assert {line["entity_type"] for line in lines} == VOCABULARIES.keys() - {"session"}
    for line in lines:
        assert line["reason_code"] in REASON_WORDS
        assert line["reason_code"].partition(".")[0] in VOCABULARIES[line["entity_type"]].reason_prefixes
        kinds = {item["kind"] for item in json.loads(line["evidence_refs"])}
        assert "invocation" not in kinds or line["entity_type"] != "invocation"
    last = {(line["entity_type"], line["entity_id"]): line for line in lines}
    for entity, table in STATUS_TABLES.items():
        for row in await db.fetch_all(table.select()):
            if (line := last.get((entity, row["id"]))) is not None:
                assert (row["status"], row["updated_at"]) == (line["status"], pytest.approx(line["created_at"], abs=1e-4))
                assert row.get("status_reason_code", line["reason_code"]) == line["reason_code"]
    assert {entity for entity, _ in last} == VOCABULARIES.keys() - {"session"}


async def test_invariant_33_no_approval_of_ours_names_a_run(writers: Writers, db: StateDB) -> None:
    """Lionagi's own retention fails on one that does; the id belongs into the parameters."""
    await writers.do_everything()
    assert {row["session_id"] for row in await db.fetch_all(approvals.select())} == {None}


async def test_invariant_48_maintenance_is_noted_by_nobody_who_did_none(writers: Writers, db: StateDB) -> None:
    await writers.do_everything()
    actions = {row["action"] for row in await db.fetch_all(admin_events.select())}
    assert actions == {"dispatch_purge", "transition"}


async def test_invariant_48_events_are_added_and_never_changed(writers: Writers, db: StateDB) -> None:
    await AdminEventStore(db, writers.clock).note("first", {})
    before = await db.fetch_all(admin_events.select())
    await writers.do_everything()
    after = await db.fetch_all(admin_events.select())
    assert all(event in after for event in before)
    assert len(after) == len(before) + 2


async def test_invariant_58_booleans_are_numbers(writers: Writers, db: StateDB) -> None:
    await writers.do_everything()
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


def test_invariant_59_tables_are_named_one_by_one() -> None:
    """Nothing is found by a pattern of names."""
    assert all(table.schema is None for table in metadata.tables.values())


async def test_invariant_43_a_firing_that_a_message_names_stays_until_the_message_is_gone(db: StateDB) -> None:
    """Deleting a schedule is blocked by the outbox, and purging frees it."""
    schedule = await a_schedule(db)
    firing = await a_firing(db, schedule, invocation_id=await an_invocation(db))
    clock = SteeredClock(at=NOW)
    made = await OutboxDeliveryStore(db, clock).enqueue(NewDispatch("k", "x", schedule_run_id=firing))
    with pytest.raises(StateUnavailable, match="a rule of its schema"):
        await run_sql(db, "DELETE FROM schedules WHERE id = :i", i=schedule)
    await OutboxStore(db, clock).purge(made.dispatch_id, actor="op")
    await run_sql(db, "DELETE FROM schedules WHERE id = :i", i=schedule)
