"""Tags and labels: what people write on runs, without a trace on the runs' times."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from studio_tui.application.errors import Conflict, NotFound, ValidationFailure
from studio_tui.application.ports import RunFilter
from studio_tui.state.db import StateDB
from studio_tui.state.schema import run_tags, sessions
from studio_tui.state.stores.runs import RunStore
from studio_tui.state.stores.tags import TagStore
from tests.builders import NOW, a_run
from tests.fakes.clock import SteeredClock
from tests.state.ledger_rows import not_refused
from tests.state.run_pages import listed


@pytest.fixture
def tags(db: StateDB) -> TagStore:
    return TagStore(db, SteeredClock(at=NOW + 500))


async def run_row(db: StateDB, run_id: str) -> dict[str, Any]:
    found = await db.fetch_one(sessions.select().where(sessions.c.id == run_id))
    assert found is not None
    return found


async def test_tags_come_and_go(db: StateDB, tags: TagStore) -> None:
    await a_run(db, id="r1")
    await a_run(db, id="r2")
    assert await tags.add_tag("r1", "  nightly ") == ("nightly",)
    assert await tags.add_tag("r1", "Bad % tag") == ("Bad % tag", "nightly")
    assert await tags.add_tag("r1", "nightly") == ("Bad % tag", "nightly")
    await tags.add_tag("r2", "nightly")
    assert await tags.tags_of(["r1", "r2", "r3"]) == {"r1": ("Bad % tag", "nightly"), "r2": ("nightly",)}
    assert await tags.all_tags(limit=9) == (("Bad % tag", 1), ("nightly", 2))
    assert await tags.all_tags(limit=1) == (("Bad % tag", 1),)
    assert await tags.remove_tag("r1", "nightly") == ("Bad % tag",)
    assert await tags.remove_tag("r1", "nightly") == ("Bad % tag",)
    assert await tags.remove_tag("r9", "nightly") == ()


async def test_runs_are_found_by_all_of_the_tags_asked_for(db: StateDB, tags: TagStore) -> None:
    for number, names in enumerate((("a",), ("a", "b"), ("b", "c", "a"))):
        await a_run(db, id=f"r{number}", updated_at=NOW + number)
        for name in names:
            await tags.add_tag(f"r{number}", name)
    runs = RunStore(db)
    assert await listed(runs, RunFilter(tags=("a", "b"))) == ["r2", "r1"]
    assert await listed(runs, RunFilter(tags=("c",))) == ["r2"]


async def test_what_is_no_tag(db: StateDB, tags: TagStore) -> None:
    await a_run(db, id="r1")
    for tag in ("", "  ", "\ud800", "a\0b"):
        with pytest.raises(ValidationFailure):
            await tags.add_tag("r1", tag)
    with pytest.raises(NotFound, match="no run r9"):
        await tags.add_tag("r9", "x")
    assert await db.fetch_all(run_tags.select()) == []


async def test_a_label_and_its_removal(db: StateDB, tags: TagStore) -> None:
    await a_run(db, id="r1")
    assert await tags.set_label("r1", "  The good one ", seen=None) == "The good one"
    assert (await run_row(db, "r1"))["user_label"] == "The good one"
    assert await tags.set_label("r1", "x" * 160, seen="The good one") == "x" * 160
    assert await tags.set_label("r1", "  ", seen="x" * 160) is None
    assert (await run_row(db, "r1"))["user_label"] is None


async def test_a_label_that_somebody_else_changed_stays(db: StateDB, tags: TagStore) -> None:
    await a_run(db, id="r1")
    outcomes = await asyncio.gather(
        *(tags.set_label("r1", f"label {number}", seen=None) for number in range(4)), return_exceptions=True
    )
    assert sum(isinstance(outcome, Conflict) for outcome in outcomes) == 3
    stored = (await run_row(db, "r1"))["user_label"]
    with pytest.raises(Conflict) as raised:
        await tags.set_label("r1", "mine", seen="another")
    assert (raised.value.expected, raised.value.actual) == ("another", stored)
    with pytest.raises(NotFound):
        await tags.set_label("r9", "x", seen=None)


async def test_what_is_no_label(db: StateDB, tags: TagStore) -> None:
    await a_run(db, id="r1")
    wrong = ("x" * 161, "a\nb", "a\x1b[31mb", "a\u200bb", "a\u2028b", "\ud800")
    assert await not_refused(ValidationFailure, (tags.set_label("r1", label, seen=None) for label in wrong)) == []
    assert (await run_row(db, "r1"))["user_label"] is None


async def test_invariant_26_tags_and_labels_move_no_time(db: StateDB, tags: TagStore) -> None:
    await a_run(db, id="r1", status="running", last_message_at=NOW - 5, node_metadata={"pid": 1})
    before = await run_row(db, "r1")
    await tags.add_tag("r1", "x")
    await tags.remove_tag("r1", "x")
    await tags.set_label("r1", "x", seen=None)
    assert await run_row(db, "r1") == {**before, "user_label": "x"}


async def test_invariant_09_tags_go_with_their_run(db: StateDB, tags: TagStore) -> None:
    await a_run(db, id="r1")
    await tags.add_tag("r1", "x")
    await db.execute(sessions.delete().where(sessions.c.id == "r1"))
    assert await db.fetch_all(run_tags.select()) == []


async def test_while_there_is_no_store_there_is_nothing(tmp_path: Path) -> None:
    db = StateDB(tmp_path / "state.db")
    db.missing = True
    tags = TagStore(db, SteeredClock())
    assert await tags.tags_of(["r1"]) == {}
    assert await tags.all_tags(limit=5) == ()
