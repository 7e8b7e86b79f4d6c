"""Runs whose rows hold what they should not: each is listed, says what is wrong, and harms no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio_tui.application.ports import RunFilter
from studio_tui.state.db import StateDB
from studio_tui.state.schema import sessions
from studio_tui.state.stores.runs import RunStore
from tests.builders import NOW, a_run, an_invocation, run_sql
from tests.state.run_pages import EVERYTHING, listed, walked

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture
def runs(db: StateDB) -> RunStore:
    return RunStore(db)


async def test_children_of_engine_runs_are_never_listed(db: StateDB, runs: RunStore) -> None:
    invocation = await an_invocation(db)
    await a_run(db, id="parent", invocation_id=invocation, updated_at=NOW)
    await a_run(db, id="child", invocation_id=invocation, node_metadata={"engine_parent_run_id": "parent"}, status="running")
    await a_run(db, id="none", node_metadata={"engine_parent_run_id": None}, updated_at=NOW + 1)
    await a_run(db, id="words", node_metadata={"note": "engine_parent_run_id"}, updated_at=NOW + 2)
    assert await listed(runs) == ["words", "none", "parent"]
    assert await listed(runs, RunFilter(status=frozenset({"running"}))) == []
    assert await runs.count_newer(EVERYTHING, (NOW - 1, ""), limit=10) == 3
    assert [run.run_id for run in await runs.runs_of_invocation(invocation, limit=10)] == ["parent"]
    assert [run.run_id for run in await runs.get_runs(["child"])] == ["child"]
    assert await runs.find_run_ids("chi", limit=5) == ("child",)


@pytest.mark.parametrize("stored", ["[1, 2]", '"text"', "7"])
@pytest.mark.parametrize("status", ["completed", "running"])
async def test_metadata_of_another_kind_harm_only_their_own_row(
    db: StateDB, runs: RunStore, stored: str | bytes, status: str
) -> None:
    await _only_the_row_itself_is_harmed(db, runs, stored, status)


@pytest.mark.sqlite_only("PostgreSQL stores no such value")
@pytest.mark.parametrize(
    "stored",
    [
        "{broken",
        '{"a": NaN}',
        '{"engine_parent_run_id": Infinity}',
        "",
        '{"engine_parent_run_id": "p"',
        b"\xff\xfe",
        b"engine_parent_run_id",
    ],
)
@pytest.mark.parametrize("status", ["completed", "running"])
async def test_broken_metadata_harm_only_their_own_row(db: StateDB, runs: RunStore, stored: str | bytes, status: str) -> None:
    await _only_the_row_itself_is_harmed(db, runs, stored, status)


async def _only_the_row_itself_is_harmed(db: StateDB, runs: RunStore, stored: str | bytes, status: str) -> None:
    await a_run(db, id="good", node_metadata={"pid": 7}, status="running", updated_at=NOW)
    await a_run(db, id="bad", status=status, updated_at=NOW + 1)
    await run_sql(db, "UPDATE sessions SET node_metadata = :stored WHERE id = 'bad'", stored=stored)
    page = (await runs.list_runs(EVERYTHING, after=None, backwards=False, limit=10)).runs
    assert [run.run_id for run in page] == ["bad", "good"]
    assert page[0].metadata == {}
    assert (page[1].metadata, page[1].defects) == ({"pid": 7}, ())
    (detail,) = await runs.get_runs(["bad"])
    assert (detail.metadata, detail.defects) == ({}, ("node_metadata",))
    assert await runs.count_newer(EVERYTHING, (NOW, "good"), limit=10) == 1


@pytest.mark.parametrize("stored", [None, "null"])
async def test_no_metadata_is_no_defect(db: StateDB, runs: RunStore, stored: str | None) -> None:
    await a_run(db, id="r", status="running")
    await run_sql(db, "UPDATE sessions SET node_metadata = :stored WHERE id = 'r'", stored=stored)
    (run,) = (await runs.list_runs(EVERYTHING, after=None, backwards=False, limit=10)).runs
    assert (run.metadata, run.defects) == ({}, ())


@pytest.fixture
async def odd_runs(db: StateDB) -> list[str]:
    """The rows of ``seed-rows.sql`` and some with times that no clock gives, in the order in which they are listed."""
    script = (DATA / "seed-rows.sql").read_text("utf-8")
    statements = script.replace("BEGIN;", "").replace("COMMIT;", "").split(";\n")
    for statement in statements:
        lines = [line for line in statement.splitlines() if not line.startswith("--")]
        if "".join(lines).strip():
            await run_sql(db, "\n".join(lines).replace(":", "\\:"))
    for name, stored in {"odd-text": "yesterday", "odd-word": "soon", "odd-blob": b"\x01", "odd-inf": float("inf")}.items():
        await a_run(db, id=name)
        await run_sql(db, "UPDATE sessions SET updated_at = :stored WHERE id = :id", stored=stored, id=name)
    rows = await db.fetch_all("SELECT id FROM sessions ORDER BY updated_at DESC, id DESC")
    return [row["id"] for row in rows]


@pytest.mark.sqlite_only("PostgreSQL stores no such value")
@pytest.mark.parametrize("limit", [1, 3, 7])
@pytest.mark.parametrize("backwards", [False, True])
async def test_odd_times_break_no_page(runs: RunStore, odd_runs: list[str], limit: int, backwards: bool) -> None:
    assert await walked(runs, EVERYTHING, limit=limit, backwards=backwards) == odd_runs


@pytest.mark.sqlite_only("PostgreSQL stores no such value")
async def test_what_stands_before_an_odd_time_is_counted(runs: RunStore, odd_runs: list[str]) -> None:
    page = await runs.list_runs(EVERYTHING, after=None, backwards=False, limit=100)
    for place, run in enumerate(page.runs):
        assert await runs.count_newer(EVERYTHING, (run.updated_at or 0.0, run.run_id), limit=100) == place


@pytest.mark.sqlite_only("PostgreSQL stores no such value")
async def test_odd_values_are_unknown_and_named(runs: RunStore, odd_runs: list[str]) -> None:
    page = await runs.list_runs(EVERYTHING, after=None, backwards=False, limit=100)
    by_id = {run.run_id: run for run in page.runs}
    assert set(by_id) == set(odd_runs)
    assert by_id["odd-text"].updated_at is None
    assert by_id["odd-text"].defects == ("updated_at",)
    milliseconds = by_id["time-ms-000000000000000000000000000a"]
    assert milliseconds.defects == ("created_at", "updated_at", "started_at", "ended_at")
    assert by_id["time-inf-00000000000000000000000000b"].defects == ("started_at", "ended_at")
    assert by_id["time-text-0000000000000000000000000e"].defects == ("started_at", "ended_at")
    assert by_id["time-neg-00000000000000000000000000c"].started_at is None
    assert by_id["sort-0004"].defects == ("output_tokens", "total_cost_usd")
    assert by_id["sort-0005"].total_cost_usd is None
    assert by_id["sort-0005"].status == "no_such_status"


@pytest.mark.sqlite_only("PostgreSQL stores no such value")
async def test_text_that_is_no_utf8_harms_nothing(db: StateDB, runs: RunStore) -> None:
    await a_run(db, id="bad", updated_at=NOW + 1)
    await a_run(db, id="good", updated_at=NOW)
    await run_sql(db, "UPDATE sessions SET name = CAST(x'61ff62' AS TEXT) WHERE id = 'bad'")
    page = (await runs.list_runs(EVERYTHING, after=None, backwards=False, limit=10)).runs
    assert [(run.run_id, run.name) for run in page] == [("bad", "a\ufffdb"), ("good", "agent")]


async def test_every_row_of_the_peer_is_read_without_a_defect(peer_home: Path) -> None:
    db = StateDB(peer_home / "state.db")
    await db.open()
    try:
        runs = RunStore(db)
        found = await runs.get_runs(await walked(runs, EVERYTHING, limit=13))
        stored = await db.fetch_all(sessions.select())
    finally:
        await db.close()
    children = [row for row in stored if (row["node_metadata"] or {}).get("engine_parent_run_id")]
    assert len(found) == len(stored) - len(children)
    assert not [run for run in found if run.defects]
