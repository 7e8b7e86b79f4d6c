"""Engine runs and definitions of engines, by their keysets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from studio_tui.application.ports.invocations import EngineRunFilter
from studio_tui.domain.engine_runs import EngineRunRecord
from studio_tui.state.db import StateDB
from studio_tui.state.stores.engine_runs import EngineStore
from tests.builders import NOW, a_run, an_invocation, run_sql
from tests.state.ledger_rows import all_pages, an_engine_definition, an_engine_run

EVERYTHING = EngineRunFilter()


@pytest.fixture
def engines(db: StateDB) -> EngineStore:
    return EngineStore(db)


async def listed(engines: EngineStore, where: EngineRunFilter) -> list[str]:
    return [record.run_id for record in await engines.list_engine_runs(where, before=None, limit=99)]


async def test_an_engine_run_with_all_of_it(db: StateDB, engines: EngineStore) -> None:
    await an_invocation(db, id="i1")
    await a_run(db, id="s1")
    await an_engine_run(
        db,
        id="e1",
        invocation_id="i1",
        signal_session_id="s1",
        status="failed",
        outcome_json={"version": 1, "status": "failed"},
        export_dir="/srv/out",
        error="boom",
    )
    found = await engines.get_engine_run("e1")
    assert found == EngineRunRecord(
        run_id="e1",
        kind="research",
        status="failed",
        started_at=NOW,
        ended_at=NOW + 60,
        session_id=None,
        invocation_id="i1",
        signal_session_id="s1",
        parent_session_id=None,
        outcome={"version": 1, "status": "failed"},
        export_dir="/srv/out",
        has_error=True,
        spec={"topic": "bees"},
        error="boom",
    )
    assert found.shown_session_id == "s1"
    (short,) = await engines.list_engine_runs(EVERYTHING, before=None, limit=5)
    assert (short.spec, short.error, short.has_error, short.outcome) == (None, None, True, found.outcome)
    assert await engines.get_engine_run("none") is None


async def test_pages_and_conditions(db: StateDB, engines: EngineStore) -> None:
    for number in range(7):
        await an_engine_run(
            db,
            id=f"e{number}",
            kind="review" if number % 2 else "research",
            status="running" if number == 3 else "completed",
            started_at=NOW + number // 2,
        )

    async def page(key: Any) -> tuple[EngineRunRecord, ...]:
        return await engines.list_engine_runs(EVERYTHING, before=key, limit=2)

    found = await all_pages(page, lambda record: (record.started_at or 0.0, record.run_id), limit=2)
    assert [record.run_id for record in found] == [f"e{number}" for number in range(6, -1, -1)]
    assert await listed(engines, EngineRunFilter(kind="review")) == ["e5", "e3", "e1"]
    assert await listed(engines, EngineRunFilter(status="running")) == ["e3"]
    assert await listed(engines, EngineRunFilter(kind="research", status="running")) == []


async def test_engine_runs_of_a_run_and_of_its_parent(db: StateDB, engines: EngineStore) -> None:
    for run in ("s1", "s2"):
        await a_run(db, id=run)
    await an_engine_run(db, id="own", signal_session_id="s1")
    await an_engine_run(db, id="child", signal_session_id="s2", parent_session_id="s1")
    await an_engine_run(db, id="old", session_id="s1")
    await an_engine_run(db, id="misled", session_id="s1", signal_session_id="s2")
    await an_engine_run(db, id="other", session_id="s2")
    assert await listed(engines, EngineRunFilter(session_id="s1")) == ["own", "old", "child"]
    assert await listed(engines, EngineRunFilter(session_id="none")) == []


async def test_definitions(db: StateDB, engines: EngineStore) -> None:
    for number in range(5):
        kind = "coding" if number % 2 else "research"
        await an_engine_definition(
            db, id=f"d{number}", name=f"n{number}", kind=kind, updated_at=NOW + number // 2, options={"test_cmd": "x"}
        )
    await an_engine_definition(db, id="d9", name="d0", updated_at=NOW - 1)

    async def page(key: Any) -> Any:
        return await engines.list_engine_definitions(kind=None, before=key, limit=2)

    found = await all_pages(page, lambda record: (record.updated_at, record.definition_id), limit=2)
    assert [record.definition_id for record in found] == ["d4", "d3", "d2", "d1", "d0", "d9"]
    only = await engines.list_engine_definitions(kind="coding", before=None, limit=9)
    assert [record.name for record in only] == ["n3", "n1"]
    for asked, definition_id in (("d3", "d3"), ("n3", "d3"), ("d0", "d0")):
        one = await engines.get_engine_definition(asked)
        assert one is not None
        assert one.definition_id == definition_id
    assert await engines.get_engine_definition("none") is None


@pytest.mark.sqlite_only("a server's columns hold what they are for")
@pytest.mark.parametrize(("stored", "broken"), [("{broken", True), ("NaN", True), ("[]", True), ("", True), ("null", False)])
async def test_broken_documents_hide_no_row(db: StateDB, engines: EngineStore, stored: str, broken: bool) -> None:
    await an_engine_run(db, id="e1")
    await an_engine_definition(db, id="d1")
    await run_sql(db, "UPDATE engine_runs SET outcome_json = :s, spec_json = :s, ended_at = 'x'", s=stored)
    await run_sql(db, "UPDATE engine_defs SET options = :s, max_depth = 'deep'", s=stored)
    (short,) = await engines.list_engine_runs(EVERYTHING, before=None, limit=5)
    assert short.defects == (("ended_at", "outcome_json") if broken else ("ended_at",))
    whole = await engines.get_engine_run("e1")
    assert whole is not None
    assert (whole.spec, whole.outcome, "spec_json" in whole.defects) == (None, None, broken)
    (definition,) = await engines.list_engine_definitions(kind=None, before=None, limit=5)
    assert definition.defects == (("max_depth", "options") if broken else ("max_depth",))


async def test_while_there_is_no_store_there_is_nothing(tmp_path: Path) -> None:
    db = StateDB(tmp_path / "state.db")
    db.missing = True
    engines = EngineStore(db)
    assert await engines.list_engine_runs(EVERYTHING, before=None, limit=5) == ()
    assert await engines.list_engine_definitions(kind=None, before=None, limit=5) == ()
