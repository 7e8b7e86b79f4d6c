"""Shows and plays as the store knows them."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio_tui.state.db import StateDB
from studio_tui.state.stores.shows import ShowStore
from tests.builders import NOW, a_play, a_run, a_show, run_sql


@pytest.fixture
def shows(db: StateDB) -> ShowStore:
    return ShowStore(db)


async def test_shows_come_with_their_plays_in_order(db: StateDB, shows: ShowStore) -> None:
    await a_show(db, topic="old", updated_at=NOW, play_names=("zeta", "alpha"))
    await a_show(db, topic="new", updated_at=NOW + 5, status="completed", goal="Ship it", repo="owner/repo")
    new, old = await shows.list_shows()
    assert (new.topic, new.status, new.goal, new.repo, new.plays) == ("new", "completed", "Ship it", "owner/repo", ())
    assert (old.topic, [play.name for play in old.plays]) == ("old", ["zeta", "alpha"])
    assert (old.updated_at, old.error) == (NOW, None)


async def test_one_show_by_topic(db: StateDB, shows: ShowStore) -> None:
    await a_show(db, topic="other", play_names=("x",))
    show_id = await a_show(db, topic="mine", play_names=("a", "b"))
    found = await shows.get_show("mine")
    assert found is not None
    assert (found.show_id, [play.name for play in found.plays]) == (show_id, ["a", "b"])
    assert await shows.get_show("none") is None


async def test_a_play_is_read_whole(db: StateDB, shows: ShowStore) -> None:
    run = await a_run(db)
    show_id = await a_show(db, topic="mine")
    await a_play(
        db,
        show_id,
        name="build",
        status="gated",
        attempt=2,
        playbook="make",
        session_id=run,
        started_at=NOW,
        ended_at=NOW + 9,
        exit_code=1,
        worktree="/w",
        branch="b",
        merge_sha="abc",
        merged_at=NOW + 10,
        gate_passed=0,
        gate_feedback="again",
        depends_on=["prepare"],
        sort_order=3,
        status_reason_code="play.gate_failed.verdict",
        status_reason_summary="no",
    )
    found = await shows.get_show("mine")
    assert found is not None
    (play,) = found.plays
    assert (play.name, play.status, play.attempt, play.playbook, play.session_id) == ("build", "gated", 2, "make", run)
    assert (play.started_at, play.ended_at, play.exit_code, play.merged_at) == (NOW, NOW + 9, 1, NOW + 10)
    assert (play.worktree, play.branch, play.merge_sha) == ("/w", "b", "abc")
    assert (play.gate_passed, play.gate_feedback, play.depends_on, play.sort_order) == (False, "again", ("prepare",), 3)
    assert (play.reason_code, play.reason_summary) == ("play.gate_failed.verdict", "no")
    assert (play.attention_opt_in, play.updated_at, play.error) == (False, NOW, None)


async def test_a_play_without_a_verdict_has_none(db: StateDB, shows: ShowStore) -> None:
    await a_show(db, play_names=("a",))
    (show,) = await shows.list_shows()
    assert (show.plays[0].gate_passed, show.plays[0].status, show.plays[0].depends_on) == (None, "pending", ())


@pytest.mark.sqlite_only("PostgreSQL stores no such value")
async def test_odd_values_hide_no_play(db: StateDB, shows: ShowStore) -> None:
    await a_show(db, topic="odd", play_names=("a", "b"))
    await run_sql(db, "UPDATE plays SET depends_on = '{oops', started_at = 'noon', attempt = 'two' WHERE name = 'a'")
    await run_sql(db, "UPDATE shows SET updated_at = 'noon'")
    (show,) = await shows.list_shows()
    assert (show.updated_at, [play.name for play in show.plays]) == (None, ["a", "b"])
    assert (show.plays[0].depends_on, show.plays[0].started_at, show.plays[0].attempt) == ((), None, None)


async def test_while_there_is_no_store_there_are_no_shows(tmp_path: Path) -> None:
    db = StateDB(tmp_path / "state.db")
    db.missing = True
    assert await ShowStore(db).list_shows() == ()
    assert await ShowStore(db).get_show("x") is None


async def test_every_show_of_the_peer_is_read(peer_home: Path) -> None:
    db = StateDB(peer_home / "state.db")
    await db.open()
    try:
        found = await ShowStore(db).list_shows()
        rows = await db.fetch_all("SELECT topic, name FROM shows JOIN plays ON show_id = shows.id")
    finally:
        await db.close()
    assert {(show.topic, play.name) for show in found for play in show.plays} == {(row["topic"], row["name"]) for row in rows}
