"""Signals: numbered without a gap within their run, read forwards and from the end."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from studio_tui.application.errors import NotFound, ValidationFailure
from studio_tui.state.db import StateDB
from studio_tui.state.schema import session_signals, sessions
from studio_tui.state.stores.signals import SignalStore
from tests.builders import NOW, a_run, run_sql
from tests.fakes.clock import SteeredClock
from tests.state.ledger_rows import not_refused


@pytest.fixture
def signals(db: StateDB) -> SignalStore:
    return SignalStore(db, SteeredClock(at=NOW))


async def rows(db: StateDB) -> list[dict[str, Any]]:
    return await db.fetch_all(session_signals.select().order_by(session_signals.c.session_id, session_signals.c.seq))


async def test_a_signal(db: StateDB, signals: SignalStore) -> None:
    await a_run(db, id="r1")
    first = await signals.append("r1", "RunStart", {})
    second = await signals.append("r1", "NodeStarted", {"name": "ä", "depends_on": []}, op_id="op1", at=NOW + 0.5)
    assert [(row["seq"], row["kind"], row["op_id"], row["ts"]) for row in await rows(db)] == [
        (1, "RunStart", "", NOW),
        (2, "NodeStarted", "op1", NOW + 0.5),
    ]
    assert len(first.signal_id) == 32
    assert await signals.after("r1", 0, limit=9) == (first, second)
    assert await signals.after("r1", 1, limit=9) == (second,)
    assert await signals.after("r1", 2, limit=9) == ()


async def test_invariant_46_numbers_are_unique_within_their_run(db: StateDB, signals: SignalStore) -> None:
    """Also when many tell something at once."""
    await a_run(db, id="r1")
    await a_run(db, id="r2")
    await asyncio.gather(*(signals.append(run, "NodeQueued", {}) for run in ("r1", "r2") for _ in range(8)))
    numbers: dict[str, list[int]] = {}
    for row in await rows(db):
        numbers.setdefault(row["session_id"], []).append(row["seq"])
    assert numbers == {"r1": list(range(1, 9)), "r2": list(range(1, 9))}


async def test_pages_in_both_directions(db: StateDB, signals: SignalStore) -> None:
    await a_run(db, id="r1")
    for _ in range(7):
        await signals.append("r1", "MessageAdded", {})
    assert [signal.seq for signal in await signals.tail("r1", before=None, limit=3)] == [5, 6, 7]
    assert [signal.seq for signal in await signals.tail("r1", before=5, limit=3)] == [2, 3, 4]
    assert [signal.seq for signal in await signals.tail("r1", before=2, limit=3)] == [1]
    assert [signal.seq for signal in await signals.after("r1", 2, limit=3)] == [3, 4, 5]


async def test_what_is_no_signal(db: StateDB, signals: SignalStore) -> None:
    await a_run(db, id="r1")
    wrong: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("", {}, {}),
        ("x", {"n": float("nan")}, {}),
        ("x", {"n": b""}, {}),
        ("x", {"text": "x" * 16_380}, {}),
        ("x", {}, {"op_id": "\ud800"}),
        ("x", {}, {"at": float("inf")}),
    ]
    calls = (signals.append("r1", kind, payload, **options) for kind, payload, options in wrong)
    assert await not_refused(ValidationFailure, calls) == []
    assert await rows(db) == []


async def test_the_largest_payload(db: StateDB, signals: SignalStore) -> None:
    await a_run(db, id="r1")
    payload = {"text": "x" * (16_384 - len('{"text": ""}'))}
    assert (await signals.append("r1", "x", payload)).payload == payload


async def test_an_unknown_run(signals: SignalStore) -> None:
    with pytest.raises(NotFound, match="no run r9"):
        await signals.append("r9", "RunStart", {})
    assert await signals.tail("r9", before=None, limit=5) == ()


@pytest.mark.sqlite_only("a server's json columns hold JSON")
@pytest.mark.parametrize("stored", ["{broken", "[]", "NaN", "", "null"])
async def test_a_broken_payload_hides_no_signal(db: StateDB, signals: SignalStore, stored: str) -> None:
    await a_run(db, id="r1")
    await signals.append("r1", "RunStart", {"a": 1})
    await run_sql(db, "UPDATE session_signals SET payload = :stored", stored=stored)
    (found,) = await signals.after("r1", 0, limit=5)
    assert found.payload == {}
    assert found.defects == (() if stored == "null" else ("payload",))


async def test_invariant_09_signals_go_with_their_run(db: StateDB, signals: SignalStore) -> None:
    await a_run(db, id="r1")
    await signals.append("r1", "RunStart", {})
    await db.execute(sessions.delete().where(sessions.c.id == "r1"))
    assert await rows(db) == []


async def test_while_there_is_no_store_there_is_nothing(tmp_path: Path) -> None:
    db = StateDB(tmp_path / "state.db")
    db.missing = True
    assert await SignalStore(db, SteeredClock()).after("r1", 0, limit=5) == ()
