"""Decisions about attention items: revisions that outlive them, and one history of all."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from studio_tui.application.errors import Conflict, ValidationFailure
from studio_tui.application.ports.attention import Decision
from studio_tui.state.db import StateDB
from studio_tui.state.schema import (
    attention_disposition_history,
    attention_disposition_revisions,
    attention_dispositions,
)
from studio_tui.state.stores.attention import AttentionStore
from tests.builders import NOW, run_sql
from tests.fakes.clock import SteeredClock
from tests.state.ledger_rows import all_pages, not_refused

ITEM = "run:r1"


@pytest.fixture
def clock() -> SteeredClock:
    return SteeredClock(at=NOW)


@pytest.fixture
def attention(db: StateDB, clock: SteeredClock) -> AttentionStore:
    return AttentionStore(db, clock)


def seen(item_id: str = ITEM, state: str = "acknowledged", **values: Any) -> Decision:
    return Decision(item_id, state, **{"source_status": "failed", "actor": "op", **values})


async def history(db: StateDB) -> list[dict[str, Any]]:
    return await db.fetch_all(attention_disposition_history.select().order_by(attention_disposition_history.c.sequence))


async def revision(db: StateDB) -> object:
    found = await db.fetch_one(attention_disposition_revisions.select())
    return None if found is None else found["revision"]


async def test_a_decision_and_its_trace(db: StateDB, attention: AttentionStore, clock: SteeredClock) -> None:
    made = await attention.decide(seen(state="expected", note="long job", expires_at=NOW + 60))
    stored = await db.fetch_one(attention_dispositions.select())
    assert stored == {
        "item_id": ITEM,
        "state": "expected",
        "note": "long job",
        "created_at": NOW,
        "updated_at": NOW,
        "expires_at": NOW + 60,
        "actor": "op",
        "source_status": "failed",
        "revision": 1,
    }
    assert (made.revision, made.state) == (1, "expected")
    (line,) = await history(db)
    assert len(line.pop("id")) == 32
    assert line == {
        "item_id": ITEM,
        "sequence": 1,
        "prior_state": None,
        "new_state": "expected",
        "note": "long job",
        "actor": "op",
        "source_status": "failed",
        "created_at": NOW,
    }
    clock.advance(5)
    again = await attention.decide(seen(note=" "))
    assert (again.state, again.note, again.expires_at, again.created_at, again.updated_at) == (
        "acknowledged",
        None,
        None,
        NOW,
        NOW + 5,
    )
    assert again.revision == await revision(db) == 2
    assert (await history(db))[-1]["prior_state"] == "expected"


async def test_taking_it_back_keeps_the_revision(db: StateDB, attention: AttentionStore) -> None:
    await attention.decide(seen(note="x"))
    assert await attention.reopen(ITEM, actor="other")
    assert await attention.dispositions_of([ITEM]) == {}
    assert await revision(db) == 2
    assert await attention.revisions_of([ITEM, "run:none"]) == {ITEM: 2}
    last = (await history(db))[-1]
    assert (last["prior_state"], last["new_state"], last["note"], last["actor"]) == ("acknowledged", "open", None, "other")
    assert not await attention.reopen(ITEM, actor="other")
    assert (await revision(db), len(await history(db))) == (2, 2)


@pytest.mark.parametrize(("given", "late"), [(None, True), (1, True), (2, False), (3, False)])
async def test_a_decision_from_before_it_was_opened_again_is_refused(
    db: StateDB, attention: AttentionStore, given: int | None, late: bool
) -> None:
    await attention.decide(seen())
    await attention.reopen(ITEM, actor="op")
    if late:
        with pytest.raises(Conflict, match="opened again since you looked"):
            await attention.decide(seen(revision=given))
        assert await revision(db) == 2
        assert await attention.dispositions_of([ITEM]) == {}
    else:
        made = await attention.decide(seen(revision=given))
        assert made.revision == await revision(db) == 3
        assert (await history(db))[-1]["prior_state"] is None


async def test_what_still_holds_is_replaced_by_whoever_comes_last(attention: AttentionStore) -> None:
    await attention.decide(seen())
    await attention.decide(seen(state="resolved"))
    made = [await attention.decide(seen(state="acknowledged", revision=given)) for given in (None, 1, 99)]
    assert [(record.state, record.revision) for record in made] == [("acknowledged", number) for number in (3, 4, 5)]


WRONG = (
    seen(state="forgotten"),
    seen(state="open"),
    seen(state="expected", expires_at=NOW + 1),
    seen(state="expected", note="  ", expires_at=NOW + 1),
    seen(state="expected", note="x"),
    seen(state="snoozed"),
    seen(state="snoozed", expires_at=float("nan")),
    seen(item_id=" "),
    seen(source_status=""),
    seen(actor=""),
    seen(note="\ud800"),
)


async def test_what_is_no_decision(db: StateDB, attention: AttentionStore) -> None:
    assert await not_refused(ValidationFailure, map(attention.decide, WRONG)) == []
    assert await history(db) == []


async def test_lapsed_ones_stay_in_the_table_and_do_not_hold(db: StateDB, attention: AttentionStore, clock: SteeredClock) -> None:
    await attention.decide(seen("run:a", "snoozed", expires_at=NOW + 10))
    await attention.decide(seen("run:b"))
    assert set(await attention.dispositions_of(["run:a", "run:b", "run:c"])) == {"run:a", "run:b"}
    clock.advance(10)
    assert set(await attention.dispositions_of(["run:a", "run:b", "run:c"])) == {"run:b"}
    assert [record.item_id for record in await attention.current(after=None, limit=9)] == ["run:b"]
    assert len(await db.fetch_all(attention_dispositions.select())) == 2
    assert (await attention.decide(seen("run:a"))).revision == 2
    assert (await history(db))[-1]["prior_state"] == "snoozed"


async def test_pages(attention: AttentionStore) -> None:
    items = [f"run:{number:02}" for number in range(7)]
    for item in items:
        await attention.decide(seen(item))
    found = await all_pages(lambda key: attention.current(after=key, limit=3), lambda record: record.item_id, limit=3)
    assert [record.item_id for record in found] == items
    changes = await all_pages(lambda key: attention.history(before=key, limit=3), lambda change: change.sequence, limit=3)
    assert [change.sequence for change in changes] == [7, 6, 5, 4, 3, 2, 1]
    await attention.decide(seen(items[0], "resolved"))
    assert [change.new_state for change in await attention.history_of(items[0])] == ["acknowledged", "resolved"]


async def test_invariant_45_sequence_is_global_and_revisions_move_along(db: StateDB, attention: AttentionStore) -> None:
    """Also when many decide at once, and after decisions were taken back."""
    items = [f"run:{number}" for number in range(8)]
    await asyncio.gather(*(attention.decide(seen(item)) for item in items))
    await asyncio.gather(*(attention.reopen(item, actor="op") for item in items))
    await asyncio.gather(*(attention.decide(seen(item, revision=2)) for item in items))
    assert [line["sequence"] for line in await history(db)] == list(range(1, 25))
    revisions = await db.fetch_all(attention_disposition_revisions.select())
    assert {row["item_id"]: row["revision"] for row in revisions} == dict.fromkeys(items, 3)
    assert [record.revision for record in await attention.current(after=None, limit=99)] == [3] * 8


async def test_invariant_45_decision_revision_and_history_are_one_transaction(
    db: StateDB, attention: AttentionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object) -> None:
        raise Conflict("x", expected=None, actual=None)

    monkeypatch.setattr("studio_tui.state.stores.attention._note", refuse)
    with pytest.raises(Conflict):
        await attention.decide(seen())
    assert await db.fetch_all(attention_dispositions.select()) == []
    assert await revision(db) is None


@pytest.mark.sqlite_only("a server's columns hold what they are for")
async def test_rows_that_hold_anything_are_read(db: StateDB, attention: AttentionStore) -> None:
    await attention.decide(seen())
    await run_sql(db, "UPDATE attention_dispositions SET updated_at = 'x', revision = 'y', note = x'ff'")
    found = (await attention.dispositions_of([ITEM]))[ITEM]
    assert found.defects == ("note", "updated_at", "revision")
    assert await attention.reopen(ITEM, actor="op")


async def test_while_there_is_no_store_there_is_nothing(tmp_path: Path) -> None:
    db = StateDB(tmp_path / "state.db")
    db.missing = True
    attention = AttentionStore(db, SteeredClock())
    assert await attention.dispositions_of([ITEM]) == {}
    assert await attention.current(after=None, limit=5) == ()
    assert await attention.history(before=None, limit=5) == ()
