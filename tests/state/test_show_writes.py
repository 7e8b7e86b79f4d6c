"""Shows and plays that are made: once, with their line of history, and never over what is there."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from sqlalchemy import select

from studio_tui.application.errors import NotFound, ValidationFailure
from studio_tui.application.ports.show_writes import NewPlay, NewShow
from studio_tui.state.db import StateDB
from studio_tui.state.schema import plays, shows, status_transitions
from studio_tui.state.stores.show_writes import ShowWriteStore
from studio_tui.state.stores.shows import ShowStore
from tests.builders import NOW, a_run
from tests.fakes.clock import SteeredClock
from tests.state.raw import raw_row


@pytest.fixture
def writes(db: StateDB) -> ShowWriteStore:
    return ShowWriteStore(db, SteeredClock(at=NOW))


async def _lines(db: StateDB) -> list[tuple[Any, ...]]:
    line = status_transitions.c
    found = await db.fetch_all(select(line.entity_type, line.status, line.reason_code, line.actor).order_by(line.entity_type))
    return [tuple(row.values()) for row in found]


async def test_a_show_with_a_play(db: StateDB, writes: ShowWriteStore) -> None:
    run_id = await a_run(db)
    show_id, made = await writes.add_show(NewShow("bees", "/shows/bees", goal="Honey", base_branch="main"))
    assert made
    new = NewPlay(show_id, "build", session_id=run_id, depends_on=("plan",), gate_passed=False, sort_order=2, started_at=NOW - 9)
    assert (await writes.add_play(new))[1]
    assert await _lines(db) == [
        ("play", "pending", "play.pending.created", "create_play"),
        ("show", "active", "show.active.created", "create_show"),
    ]
    show = await ShowStore(db).get_show("bees")
    assert show is not None
    assert (show.show_id, show.goal, show.status, show.reason_code, show.created_at) == (
        show_id,
        "Honey",
        "active",
        "show.active.created",
        NOW,
    )
    (play,) = show.plays
    assert (play.name, play.session_id, play.depends_on, play.gate_passed, play.attempt) == ("build", run_id, ("plan",), False, 1)
    row = await raw_row(db, "plays")
    assert (row["depends_on"], row["gate_passed"], row["status_evidence_refs"]) == ('["plan"]', 0, "[]")


async def test_what_is_there_is_left_alone(db: StateDB, writes: ShowWriteStore) -> None:
    first, _ = await writes.add_show(NewShow("bees", "/shows/bees", goal="Honey"))
    assert await writes.add_show(NewShow("bees", "/elsewhere", goal="Wax")) == (first, False)
    play, _ = await writes.add_play(NewPlay(first, "build"))
    assert await writes.add_play(NewPlay(first, "build", status="merged")) == (play, False)
    assert (await raw_row(db, "shows"))["goal"] == "Honey"
    assert (await raw_row(db, "plays"))["status"] == "pending"
    assert len(await _lines(db)) == 2


async def test_of_several_at_once_one_is_made(db: StateDB, writes: ShowWriteStore) -> None:
    found = await asyncio.gather(*(writes.add_show(NewShow("bees", "/shows/bees")) for _ in range(4)))
    assert len({show_id for show_id, _ in found}) == 1
    assert sorted(made for _, made in found) == [False, False, False, True]
    assert len(await _lines(db)) == 1


@pytest.mark.parametrize(("status", "lines"), [("completed", 0), ("imported", 1)])
async def test_a_show_that_is_over_has_no_beginning(db: StateDB, writes: ShowWriteStore, status: str, lines: int) -> None:
    await writes.add_show(NewShow("bees", "/shows/bees", status=status))
    assert len(await _lines(db)) == lines


@pytest.mark.parametrize(
    "values",
    [{"topic": " "}, {"show_dir": ""}, {"status": "lost"}, {"goal": "half \ud800"}, {"created_at": float("nan")}],
)
async def test_what_no_show_can_be(db: StateDB, writes: ShowWriteStore, values: dict[str, Any]) -> None:
    with pytest.raises(ValidationFailure):
        await writes.add_show(NewShow(**{"topic": "bees", "show_dir": "/shows/bees", **values}))
    assert await db.fetch_all(shows.select()) == []


async def test_a_play_of_nothing(db: StateDB, writes: ShowWriteStore) -> None:
    with pytest.raises(NotFound, match="no show x"):
        await writes.add_play(NewPlay("x", "build"))
    show_id, _ = await writes.add_show(NewShow("bees", "/shows/bees"))
    with pytest.raises(NotFound, match="no run y"):
        await writes.add_play(NewPlay(show_id, "build", session_id="y"))
    assert await db.fetch_all(plays.select()) == []
