"""An upgrade while it runs: what it tells, how it is stopped, and others who write, upgrade or lock at the same time."""

from __future__ import annotations

import asyncio
import fcntl
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from studio_tui.application.errors import Conflict, StateUnavailable, StudioApplicationError
from studio_tui.application.models.state import MigrationProgress
from studio_tui.state.migrations.backup import back_up
from studio_tui.state.store import Store
from tests.state.filled import make_filled_file
from tests.state.older import FORMS, MARKERS, Rows, plainly, reshape, rows_of

NARROW = {"source_kind IN ('live','imported_fs','imported_codex')": "source_kind IN ('live','imported_fs')"}
INSERT = "INSERT INTO progressions VALUES (?, 1.0, '[]')"


@pytest.fixture
def path(home: Path) -> Path:
    """A store whose sessions must be made anew, that lacks two indexes, and whose ended runs have no end."""
    found = home / "state.db"
    make_filled_file(found, sessions=1300)
    with plainly(found) as connection:
        reshape(connection, "sessions", replaced=NARROW)
        connection.execute("DROP INDEX idx_run_tags_tag")
        connection.execute("DROP INDEX idx_sessions_updated")
        connection.execute("DELETE FROM schema_meta WHERE key = ?", (MARKERS[3],))
        connection.execute("UPDATE sessions SET ended_at = NULL, duration_ms = 5")
    return found


async def upgrade(path: Path, listen: Callable[[MigrationProgress], None] | None = None, timeout_ms: int = 5000) -> list[str]:
    store = Store(path, home=path.parent, busy_timeout_ms=timeout_ms)
    await store.open()
    try:
        return list((await store.migrate(listen)).backups)
    finally:
        await store.close()


def without_ends(rows: Rows) -> Rows:
    """The rows without what the backfill writes."""
    kept = {key: value for key, value in rows.items() if key not in ("schema_meta", "sessions")}
    written = {"ended_at", "ended_at_is_approximate", "duration_ms"}
    return {**kept, "sessions": [{key: row[key] for key in row if key not in written} for row in rows["sessions"]]}


def files(path: Path, ending: str) -> list[Path]:
    return sorted(item for item in path.parent.iterdir() if item.name.endswith(ending))


def ended(path: Path) -> int:
    with plainly(path) as connection:
        found: int = connection.execute("SELECT count(*) FROM sessions WHERE ended_at_is_approximate = 1").fetchone()[0]
        return found


async def test_it_tells_how_far_it_is(path: Path) -> None:
    said: list[MigrationProgress] = []
    await upgrade(path, said.append)
    assert [item.done for item in said] == sorted(item.done for item in said)
    assert {item.total for item in said} == {4}
    assert said[-1].done == 4
    assert list(dict.fromkeys(item.step for item in said)) == [
        "rebuilding sessions",
        "making the index idx_sessions_updated",
        "making the index idx_run_tags_tag",
        "giving ended runs an end",
        "done",
    ]
    ends = [(item.part_done, item.part_total) for item in said if item.step == "giving ended runs an end" and item.part_total]
    assert ends == [(500, 975), (975, 975)]


async def test_it_stops_between_two_steps_and_goes_on_later(path: Path) -> None:
    before = rows_of(path)
    task: asyncio.Task[list[str]]

    def stop(progress: MigrationProgress) -> None:
        if progress.step == "making the index idx_sessions_updated":
            task.cancel()

    task = asyncio.create_task(upgrade(path, stop))
    with pytest.raises(asyncio.CancelledError):
        await task
    with plainly(path) as connection:
        indexes = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'index'")}
        assert "idx_sessions_updated" in indexes  # the step under way was finished
        assert "idx_run_tags_tag" not in indexes
    assert ended(path) == 0
    assert not [name for name in os.listdir(path.parent) if name.endswith(("-wal", "-shm"))]
    assert await upgrade(path) == []
    assert without_ends(rows_of(path)) == without_ends(before)
    assert ended(path) == 975


async def test_the_long_backfill_stops_between_two_batches_and_goes_on_later(path: Path) -> None:
    task: asyncio.Task[list[str]]

    def stop(progress: MigrationProgress) -> None:
        if progress.part_done == 500:
            task.cancel()

    task = asyncio.create_task(upgrade(path, stop))
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended(path) == 500
    await upgrade(path)
    rows = rows_of(path)["sessions"]
    assert ended(path) == 975
    assert all(row["ended_at"] is None for row in rows if row["status"] == "running")
    approximate = [row for row in rows if row["ended_at_is_approximate"]]
    assert all(row["duration_ms"] is None for row in approximate)
    for row in approximate:
        assert row["ended_at"] == max(row["updated_at"], row["last_message_at"], row["started_at"], row["created_at"])


@pytest.mark.parametrize("commits", [1, 2])
async def test_a_backup_holds_what_was_written_while_it_was_made(path: Path, commits: int) -> None:
    """Whoever commits between the copy and the change makes it copied again; at last the store is held for the copy."""
    written: list[str] = []

    def write(progress: MigrationProgress) -> None:
        if progress.step == "rebuilding sessions" and progress.part_total and len(written) < commits:
            written.append(f"x{len(written)}")
            with closing(sqlite3.connect(path, isolation_level=None)) as other:
                other.execute(INSERT, (written[-1],))

    (backup,) = await upgrade(path, write)
    assert len(written) == commits
    assert files(path, ".bak") == [Path(backup)]
    assert set(written) < {row["id"] for row in rows_of(Path(backup))["progressions"]}
    assert set(written) < {row["id"] for row in rows_of(path)["progressions"]}


async def test_somebody_who_was_faster_is_not_undone(path: Path) -> None:
    """Another process makes the same table anew between our plan and our step."""
    form = FORMS["sessions without imported_codex"]

    def overtake(progress: MigrationProgress) -> None:
        if progress.step == "rebuilding sessions" and not progress.part_total and not done:
            done.append(1)
            with plainly(path) as connection:
                wide = "source_kind IN ('live','imported_fs','imported_codex')"
                theirs = {"source_kind IN ('live','imported_fs')": wide, "\tname TEXT, ": "\tname TEXT /* theirs */, "}
                reshape(connection, form.table, replaced=theirs)
                connection.execute("UPDATE sessions SET source_kind = 'imported_codex' WHERE id = 's000001'")

    done: list[int] = []
    await upgrade(path, overtake)
    assert done
    assert [row["source_kind"] for row in rows_of(path)["sessions"]][:2] == ["live", "imported_codex"]
    with plainly(path) as connection:
        assert "/* theirs */" in connection.execute("SELECT sql FROM sqlite_master WHERE name = 'sessions'").fetchone()[0]


async def test_two_at_once_do_no_harm(path: Path) -> None:
    before = rows_of(path)
    outcomes = await asyncio.gather(upgrade(path), upgrade(path), return_exceptions=True)
    assert any(isinstance(outcome, list) for outcome in outcomes)
    assert all(isinstance(outcome, list | StudioApplicationError) for outcome in outcomes), outcomes
    assert without_ends(rows_of(path)) == without_ends(before)
    assert not files(path, ".partial")
    await upgrade(path)


async def test_a_locked_store_is_told_and_stays_as_it_is(path: Path) -> None:
    before = rows_of(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute(INSERT, ("x",))
        with pytest.raises(StateUnavailable, match="locked") as caught:
            await upgrade(path, timeout_ms=50)
        assert caught.value.retryable
        other.execute("ROLLBACK")
    assert rows_of(path) == before


# --- backups ------------------------------------------------------------------------------------------------------------


def _nothing(_done: int, _total: int) -> None: ...


def test_a_backup_that_is_given_up_leaves_nothing(path: Path) -> None:
    def stop(_done: int, _total: int) -> None:
        raise StateUnavailable("enough", retryable=True)

    with pytest.raises(StateUnavailable, match="enough"):
        back_up(path, "sessions", 5.0, stop)
    assert not files(path, ".bak")
    assert not files(path, ".partial")


def test_a_backup_has_a_name_of_its_own(path: Path) -> None:
    names = [back_up(path, "sessions", 5.9, _nothing).name for _ in range(3)]
    assert names == [f"state.db.pre-sessions.{second}.bak" for second in (5, 6, 7)]
    assert not [name for name in os.listdir(path.parent) if "bak-" in name or "partial" in name]


def test_what_an_interrupted_backup_left_is_written_over(path: Path) -> None:
    left = Path(f"{path}.pre-sessions.partial")
    left.write_bytes(b"half a store" * 100_000)
    backup = back_up(path, "sessions", 5.0, _nothing)
    assert rows_of(backup) == rows_of(path)
    assert not left.exists()


def test_a_backup_that_another_process_makes_is_not_disturbed(path: Path) -> None:
    partial = Path(f"{path}.pre-sessions.partial")
    with partial.open("wb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        other.write(b"theirs")
        other.flush()
        with pytest.raises(Conflict, match="Another process"):
            back_up(path, "sessions", 5.0, _nothing)
    assert partial.read_bytes() == b"theirs"


def test_a_backup_behind_a_link_is_not_written(path: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    Path(f"{path}.pre-sessions.partial").symlink_to(victim)
    with pytest.raises(OSError, match="symbolic links"):
        back_up(path, "sessions", 5.0, _nothing)
    assert victim.read_text() == "mine"


async def test_a_damaged_store_is_not_upgraded(path: Path) -> None:
    """Damage in a table that the plan does not read shows in the check of the copy."""
    with plainly(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'idx_messages_created'").fetchone()[0]
    with path.open("r+b") as file:
        file.seek((root - 1) * 4096 + 8)
        file.write(b"\xff" * 512)
    before = path.read_bytes()
    with pytest.raises(StateUnavailable, match="damaged"):
        await upgrade(path)
    assert path.read_bytes() == before
    assert not files(path, ".bak")
    assert not files(path, ".partial")


# --- backfills ----------------------------------------------------------------------------------------------------------


async def test_the_history_of_attention_is_numbered_by_time_where_its_index_is_there_already(path: Path) -> None:
    with plainly(path) as connection:
        connection.execute("DELETE FROM schema_meta WHERE key = ?", (MARKERS[0],))
        connection.execute("DELETE FROM attention_dispositions WHERE item_id = 'run:s000002'")
        connection.execute("UPDATE attention_disposition_history SET new_state = 'open' WHERE item_id = 'run:s000002'")
    await upgrade(path)
    rows = rows_of(path)
    assert [row["sequence"] for row in rows["attention_disposition_history"]] == [1, 2, 3, 4, 5, 6]
    assert [row["revision"] for row in rows["attention_dispositions"]] == [2, 2]
    kept = {row["item_id"]: row["revision"] for row in rows["attention_disposition_revisions"]}
    assert kept == {"run:s000000": 2, "run:s000001": 2, "run:s000002": 2}


@pytest.mark.parametrize("rebuilt", [False, True])
async def test_a_mark_is_not_believed_when_its_column_was_not_there(path: Path, rebuilt: bool) -> None:
    """Otherwise a firing that ran when the column came would count as never launched, and the peer would fire it again."""
    with plainly(path) as connection:
        reshape(connection, "schedule_runs", without=("dispatched_at",))
        if rebuilt:
            FORMS["schedule_runs without a queue"].apply(connection)
    await upgrade(path)
    rows = rows_of(path)
    running = [row for row in rows["schedule_runs"] if row["status"] == "running"]
    assert running
    assert all(row["dispatched_at"] == row["fired_at"] for row in running)
    assert MARKERS[1] in {row["key"] for row in rows["schema_meta"]}
