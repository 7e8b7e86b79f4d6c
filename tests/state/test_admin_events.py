"""The trail of what was done to the store: added to, never changed, found by act and by target."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from studio_tui.application.errors import ValidationFailure
from studio_tui.state.db import StateDB
from studio_tui.state.schema import admin_events
from studio_tui.state.stores.admin_events import AdminEventStore
from tests.builders import NOW, run_sql
from tests.fakes.clock import SteeredClock
from tests.state.ledger_rows import all_pages, not_refused


@pytest.fixture
def clock() -> SteeredClock:
    return SteeredClock(at=NOW)


@pytest.fixture
def events(db: StateDB, clock: SteeredClock) -> AdminEventStore:
    return AdminEventStore(db, clock)


async def test_an_event(db: StateDB, events: AdminEventStore) -> None:
    made = await events.note("transition", {"ids": ["r1"]}, target_id="r1", actor="op")
    assert await db.fetch_all(admin_events.select()) == [
        {
            "id": made.event_id,
            "created_at": NOW,
            "action": "transition",
            "target_id": "r1",
            "details": {"ids": ["r1"]},
            "actor": "op",
        }
    ]
    assert len(made.event_id) == 12
    assert await events.get_event(made.event_id) == made
    assert (await events.note("x", {})).actor == "admin"


async def test_what_is_no_event(db: StateDB, events: AdminEventStore) -> None:
    wrong: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("", {}, {}),
        ("x", {"n": float("nan")}, {}),
        ("x", {}, {"actor": " "}),
        ("x", {}, {"target_id": "\ud800"}),
    ]
    calls = (events.note(action, details, **options) for action, details, options in wrong)
    assert await not_refused(ValidationFailure, calls) == []
    assert await db.fetch_all(admin_events.select()) == []


async def test_events_by_act_and_by_target_page_by_page(events: AdminEventStore, clock: SteeredClock) -> None:
    made = []
    for number in range(9):
        target = "r1" if number % 3 == 0 else None
        details = {"ids": ["r1", "r10"]} if number % 3 == 1 else {"ids": ["r10", "xr1"], "note": "r1 was here"}
        made.append((await events.note("prune" if number % 2 else "transition", details, target_id=target)).event_id)
        clock.advance(number % 2)

    async def found(action: str | None, target_id: str | None) -> set[int]:
        async def page(key: Any) -> Any:
            return await events.list_events(action=action, target_id=target_id, before=key, limit=2)

        pages = await all_pages(page, lambda event: (event.created_at, event.event_id), limit=2)
        order = [event.created_at for event in pages]
        assert order == sorted(order, reverse=True)
        assert len({event.event_id for event in pages}) == len(pages)
        return {made.index(event.event_id) for event in pages}

    assert await found(None, None) == set(range(9))
    assert await found("prune", None) == {1, 3, 5, 7}
    assert await found(None, "r1") == {0, 1, 3, 4, 6, 7}
    assert await found("prune", "r1") == {1, 3, 7}
    assert await found("nothing", None) == await found(None, "r") == set()


async def test_a_target_is_taken_literally(events: AdminEventStore) -> None:
    targets = ('a"b', "ä", "100%", "1000", "a_c", "abc", "A", "a", "\\", "\\\\")
    for target in targets:
        await events.note("x", {"ids": [target]})
    for target in targets:
        found = await events.list_events(action=None, target_id=target, before=None, limit=99)
        assert [event.details for event in found] == [{"ids": [target]}]


async def test_when_something_was_last_done(events: AdminEventStore, clock: SteeredClock) -> None:
    assert await events.last_event("checkpoint") is None
    for _ in range(2):
        clock.advance(5)
        await events.note("checkpoint", {"mode": "PASSIVE"})
    clock.advance(5)
    await events.note("vacuum", {})
    last = await events.last_event("checkpoint")
    assert last is not None
    assert last.created_at == NOW + 10


@pytest.mark.sqlite_only("a server's json columns hold JSON")
@pytest.mark.parametrize("stored", ["{broken", "[]", "NaN", "", "null"])
async def test_broken_details_hide_no_event(db: StateDB, events: AdminEventStore, stored: str) -> None:
    made = await events.note("x", {"ids": []}, target_id="r1")
    await run_sql(db, "UPDATE admin_events SET details = :stored", stored=stored)
    for target in (None, "r1"):
        (found,) = await events.list_events(action=None, target_id=target, before=None, limit=5)
        assert (found.event_id, found.details) == (made.event_id, {})
        assert found.defects == (() if stored == "null" else ("details",))


async def test_while_there_is_no_store_there_is_nothing(tmp_path: Path) -> None:
    db = StateDB(tmp_path / "state.db")
    db.missing = True
    events = AdminEventStore(db, SteeredClock())
    assert await events.list_events(action="x", target_id="y", before=None, limit=5) == ()
    assert await events.last_event("x") is None
