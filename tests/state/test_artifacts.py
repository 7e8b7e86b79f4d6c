"""Artifacts by their four natural keys, their lists, and what a row may not hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from studio_tui.application.errors import NotFound, StateUnavailable, ValidationFailure
from studio_tui.application.ports.artifacts import ArtifactDraft
from studio_tui.state.db import StateDB
from studio_tui.state.schema import artifacts
from studio_tui.state.stores.artifacts import ArtifactStore
from tests.builders import NOW, a_run, an_invocation, run_sql
from tests.fakes.clock import SteeredClock
from tests.state.ledger_rows import all_pages, an_artifact, not_refused


@pytest.fixture
def clock() -> SteeredClock:
    return SteeredClock(at=NOW)


@pytest.fixture
def store_of(db: StateDB, clock: SteeredClock) -> ArtifactStore:
    return ArtifactStore(db, clock)


async def rows(db: StateDB) -> list[dict[str, Any]]:
    return await db.fetch_all(artifacts.select().order_by(artifacts.c.created_at, artifacts.c.id))


OWNERS = {
    "both": {"session_id": "r1", "invocation_id": "i1"},
    "a run": {"session_id": "r1"},
    "an invocation": {"invocation_id": "i1"},
    "neither": {},
}


@pytest.mark.parametrize("owner", OWNERS)
async def test_a_known_artifact_keeps_its_id_and_the_time_of_its_making(
    db: StateDB, store_of: ArtifactStore, clock: SteeredClock, owner: str
) -> None:
    await a_run(db, id="r1")
    await an_invocation(db, id="i1")
    for others in OWNERS.values():
        await store_of.put_artifact(ArtifactDraft("report", "other", {}, **others))
    first = await store_of.put_artifact(ArtifactDraft("report", "main", {"n": 1}, file_path="a/b.md", **OWNERS[owner]))
    clock.advance(5)
    second = await store_of.put_artifact(ArtifactDraft("report", "main", {"n": 2}, **OWNERS[owner]))
    assert second.artifact_id == first.artifact_id
    assert len(first.artifact_id) == 12
    assert (second.created_at, second.updated_at) == (NOW, NOW + 5)
    assert (second.content, second.file_path) == ({"n": 2}, None)
    assert (second.session_id, second.invocation_id) == (OWNERS[owner].get("session_id"), OWNERS[owner].get("invocation_id"))
    assert len(await rows(db)) == len(OWNERS) + 1
    assert await store_of.get_artifact(first.artifact_id) == second


async def test_other_kinds_and_names_are_other_artifacts(store_of: ArtifactStore) -> None:
    made = {
        (await store_of.put_artifact(ArtifactDraft(kind, name, {}))).artifact_id for kind in ("a", "b") for name in ("a", "b")
    }
    assert len(made) == 4


async def test_what_no_row_may_hold(db: StateDB, store_of: ArtifactStore) -> None:
    paths = ("", "/etc/passwd", "a/../../b", "..", "..\\b", "\\\\host\\x", "C:/x", "a\0b")
    drafts = [
        ArtifactDraft("", "x", {}),
        ArtifactDraft("x", "  ", {}),
        ArtifactDraft("x", "y\ud800", {}),
        ArtifactDraft("x", "y", {"n": float("inf")}),
        ArtifactDraft("x", "y", {"n": {1, 2}}),
        *(ArtifactDraft("x", "y", {}, file_path=path) for path in paths),
    ]
    assert await not_refused(ValidationFailure, map(store_of.put_artifact, drafts)) == []
    assert await rows(db) == []


async def test_references_that_point_nowhere_are_refused(db: StateDB, store_of: ArtifactStore) -> None:
    with pytest.raises(NotFound, match="no run r9"):
        await store_of.put_artifact(ArtifactDraft("x", "y", {}, session_id="r9"))
    with pytest.raises(NotFound, match="no invocation i9"):
        await store_of.put_artifact(ArtifactDraft("x", "y", {}, invocation_id="i9"))
    assert await rows(db) == []


async def test_lists_of_a_run_and_of_an_invocation_page_by_page(db: StateDB, store_of: ArtifactStore) -> None:
    await a_run(db, id="r1")
    await an_invocation(db, id="i1")
    of_run = [await an_artifact(db, id=f"a{n}", session_id="r1", created_at=NOW + n // 2) for n in range(7)]
    of_invocation = [await an_artifact(db, id=f"b{n}", invocation_id="i1", created_at=NOW) for n in range(3)]
    alone = await an_artifact(db, id="c", created_at=NOW - 1)

    async def run_page(key: Any) -> Any:
        return await store_of.artifacts_of_run("r1", after=key, limit=2)

    async def invocation_page(key: Any) -> Any:
        return await store_of.artifacts_of_invocation("i1", after=key, limit=2)

    async def recent(key: Any) -> Any:
        return await store_of.recent_artifacts(before=key, limit=4)

    def key_of(record: Any) -> tuple[float, str]:
        return record.created_at, record.artifact_id

    assert [record.artifact_id for record in await all_pages(run_page, key_of, limit=2)] == of_run
    assert [record.artifact_id for record in await all_pages(invocation_page, key_of, limit=2)] == of_invocation
    newest = [record.artifact_id for record in await all_pages(recent, key_of, limit=4)]
    assert newest == ["a6", "a5", "a4", "a3", "a2", "b2", "b1", "b0", "a1", "a0", alone]


async def test_a_page_goes_on_where_it_ended_though_its_last_row_is_gone(db: StateDB, store_of: ArtifactStore) -> None:
    for number in range(4):
        await an_artifact(db, id=f"a{number}", created_at=NOW + number)
    (_, last) = await store_of.recent_artifacts(before=None, limit=2)
    await db.execute(artifacts.delete().where(artifacts.c.id == last.artifact_id))
    assert last.created_at is not None
    more = await store_of.recent_artifacts(before=(last.created_at, last.artifact_id), limit=9)
    assert [record.artifact_id for record in more] == ["a1", "a0"]


async def test_long_contents_come_one_at_a_time(db: StateDB, store_of: ArtifactStore) -> None:
    await an_artifact(db, id="long", content={"text": "ä" * 70_000})
    await an_artifact(db, id="short", content={"text": "x"}, created_at=NOW - 1)
    long, short = await store_of.recent_artifacts(before=None, limit=5)
    assert (long.content, long.defects, short.content) == (None, (), {"text": "x"})
    assert long.content_bytes > 65_536
    found = await store_of.get_artifact("long")
    assert found is not None
    assert found.content == {"text": "ä" * 70_000}


@pytest.mark.sqlite_only("a server's json columns hold JSON")
@pytest.mark.parametrize("stored", ["{broken", "NaN", "[1]", "null", "", "3"])
async def test_broken_contents_hide_no_row(db: StateDB, store_of: ArtifactStore, stored: str) -> None:
    await an_artifact(db, id="a1")
    await run_sql(db, "UPDATE artifacts SET content = :stored", stored=stored)
    (found,) = await store_of.recent_artifacts(before=None, limit=5)
    assert found.content is None
    assert found.defects == (() if stored == "null" else ("content",))
    assert await store_of.get_artifact("a1") == found


@pytest.mark.sqlite_only("a server's columns hold what they are for")
async def test_times_that_are_none_do_not_stop_the_pages(db: StateDB, store_of: ArtifactStore) -> None:
    for number in range(4):
        await an_artifact(db, id=f"a{number}")
    await run_sql(db, "UPDATE artifacts SET created_at = 'yesterday' WHERE id IN ('a1', 'a2')")

    async def page(key: Any) -> Any:
        return await store_of.recent_artifacts(before=key, limit=1)

    found = await all_pages(page, lambda record: (record.created_at or 0.0, record.artifact_id), limit=1)
    assert [record.artifact_id for record in found] == ["a2", "a1", "a3", "a0"]


@pytest.mark.sqlite_only("compared with the peer on SQLite")
async def test_invariant_06_without_the_natural_key_nothing_is_stored_twice(db: StateDB, store_of: ArtifactStore) -> None:
    """A store that lost the index is refused in words; an insert without it would make a second row."""
    await run_sql(db, "DROP INDEX idx_artifacts_natural_key_unattached")
    with pytest.raises(StateUnavailable, match="tables are not what this version expects") as raised:
        await store_of.put_artifact(ArtifactDraft("x", "y", {}))
    assert not raised.value.retryable
    assert await rows(db) == []


async def test_while_there_is_no_store_there_is_nothing(tmp_path: Path) -> None:
    db = StateDB(tmp_path / "state.db")
    db.missing = True
    store = ArtifactStore(db, SteeredClock())
    assert await store.recent_artifacts(before=None, limit=5) == ()
    assert await store.get_artifact("x") is None
    with pytest.raises(StateUnavailable):
        await store.put_artifact(ArtifactDraft("x", "y", {}))
