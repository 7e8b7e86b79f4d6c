"""New versions of file definitions: the next number for one writer only, and nothing ever changed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import IntegrityError

from studio_tui.application.errors import Conflict, NotFound, StateUnavailable, ValidationFailure
from studio_tui.application.ports.definition_writes import VersionDraft
from studio_tui.state.db import StateDB
from studio_tui.state.schema import definitions
from studio_tui.state.stores import definition_writes
from studio_tui.state.stores.definition_writes import TRIES, DefinitionVersionStore
from tests.builders import NOW, a_version, run_sql
from tests.fakes.clock import SteeredClock
from tests.state.ledger_rows import not_refused

HELPER = VersionDraft("agent", "helper", "agents/helper.md", "---\nname: ä\n---\n", "first")


@pytest.fixture
def clock() -> SteeredClock:
    return SteeredClock(at=NOW)


@pytest.fixture
def versions(db: StateDB, clock: SteeredClock) -> DefinitionVersionStore:
    return DefinitionVersionStore(db, clock)


async def rows(db: StateDB) -> list[dict[str, Any]]:
    return await db.fetch_all(definitions.select().order_by(definitions.c.kind, definitions.c.name, definitions.c.version))


async def test_a_version(db: StateDB, versions: DefinitionVersionStore) -> None:
    made = await versions.append_version(HELPER, expected_version=0)
    assert await rows(db) == [
        {
            "id": made.version_id,
            "kind": "agent",
            "name": "helper",
            "path": "agents/helper.md",
            "content": "---\nname: ä\n---\n",
            "version": 1,
            "created_at": NOW,
            "message": "first",
        }
    ]
    assert len(made.version_id) == 36
    assert await versions.latest_version("agent", "helper") == made
    assert await versions.latest_version("skill", "helper") is None


async def test_invariant_47_the_next_version_is_the_highest_and_one(db: StateDB, versions: DefinitionVersionStore) -> None:
    """Also with gaps, for each definition apart, and when many save at once."""
    await a_version(db, "agent", "helper", 7)
    await a_version(db, "playbook", "helper", 2)
    made = await asyncio.gather(*(versions.append_version(HELPER, expected_version=None) for _ in range(6)))
    assert sorted(version.version for version in made) == [8, 9, 10, 11, 12, 13]
    assert [(row["kind"], row["version"]) for row in await rows(db)][-1] == ("playbook", 2)


async def test_a_version_that_the_caller_has_not_seen_is_a_conflict(db: StateDB, versions: DefinitionVersionStore) -> None:
    await versions.append_version(HELPER, expected_version=None)
    for seen in (0, 2):
        with pytest.raises(Conflict) as raised:
            await versions.append_version(HELPER, expected_version=seen)
        assert (raised.value.expected, raised.value.actual) == (str(seen), "1")
    assert len(await rows(db)) == 1
    saves = (versions.append_version(HELPER, expected_version=1) for _ in range(4))
    outcomes = await asyncio.gather(*saves, return_exceptions=True)
    assert sum(isinstance(outcome, Conflict) for outcome in outcomes) == 3
    assert [row["version"] for row in await rows(db)] == [1, 2]


@pytest.mark.parametrize("behind", [1, TRIES - 1, TRIES])
async def test_a_number_that_others_took_is_tried_anew_five_times(
    db: StateDB, versions: DefinitionVersionStore, monkeypatch: pytest.MonkeyPatch, behind: int
) -> None:
    """A server lets two writers count at the same moment; one of them then finds its number taken."""
    await a_version(db, "agent", "helper", 1)
    asked = []
    real = definition_writes._newest_number

    async def newest(connection: Any, draft: VersionDraft) -> int:
        asked.append(1)
        return 0 if len(asked) <= behind else await real(connection, draft)

    monkeypatch.setattr(definition_writes, "_newest_number", newest)
    if behind < TRIES:
        assert (await versions.append_version(HELPER, expected_version=None)).version == 2
    else:
        with pytest.raises(Conflict, match="at the same moment"):
            await versions.append_version(HELPER, expected_version=None)
        assert len(await rows(db)) == 1
    assert len(asked) == min(behind + 1, TRIES)


async def test_another_rule_of_the_schema_is_no_reason_to_try_anew(
    db: StateDB, versions: DefinitionVersionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An older store may not know a kind."""
    monkeypatch.setattr(definition_writes, "FILE_KINDS", ("ritual",))
    with pytest.raises(StateUnavailable, match="a rule of its schema") as raised:
        await versions.append_version(VersionDraft("ritual", "x", "y", ""), expected_version=None)
    assert isinstance(raised.value.__cause__, IntegrityError)


async def test_a_snapshot_is_taken_only_of_what_differs(
    db: StateDB, versions: DefinitionVersionStore, clock: SteeredClock
) -> None:
    assert (await versions.snapshot(HELPER)) is not None
    clock.advance(5)
    assert await versions.snapshot(HELPER) is None
    changed = VersionDraft("agent", "helper", "agents/helper.md", "other", "snapshot from disk")
    made = await versions.snapshot(changed)
    assert made is not None
    assert (made.version, made.created_at, made.message) == (2, NOW + 5, "snapshot from disk")
    assert len(await rows(db)) == 2


async def test_going_back_reads_an_old_version(versions: DefinitionVersionStore) -> None:
    first = await versions.append_version(HELPER, expected_version=None)
    await versions.append_version(VersionDraft("agent", "helper", "x", "other"), expected_version=None)
    assert await versions.rollback_source("agent", "helper", 1) == first
    with pytest.raises(NotFound, match="no version 3 of agent helper"):
        await versions.rollback_source("agent", "helper", 3)


async def test_what_is_no_version(db: StateDB, versions: DefinitionVersionStore) -> None:
    wrong = [
        VersionDraft("workflow", "x", "y", ""),
        VersionDraft("agent", " ", "y", ""),
        VersionDraft("agent", "x", "", ""),
        VersionDraft("agent", "x", "y", "\udcff"),
        VersionDraft("agent", "x", "y", "", "\ud800"),
    ]
    calls = (versions.append_version(draft, expected_version=None) for draft in wrong)
    assert await not_refused(ValidationFailure, calls) == []
    assert await rows(db) == []


@pytest.mark.sqlite_only("a server's columns hold what they are for")
async def test_a_version_that_is_no_number(db: StateDB, versions: DefinitionVersionStore) -> None:
    await a_version(db, "agent", "helper", 3)
    await run_sql(db, "UPDATE definitions SET created_at = 'x', content = x'ff'")
    found = await versions.latest_version("agent", "helper")
    assert found is not None
    assert (found.version, found.created_at, found.content) == (3, None, "\ufffd")


async def test_while_there_is_no_store_there_is_nothing(tmp_path: Path) -> None:
    db = StateDB(tmp_path / "state.db")
    db.missing = True
    assert await DefinitionVersionStore(db, SteeredClock()).latest_version("agent", "x") is None
