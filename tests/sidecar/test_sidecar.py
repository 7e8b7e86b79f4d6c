"""Our own small store: made when something is kept, private, and never in the way."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from studio_tui.sidecar.store import Sidecar


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "studio-tui" / "sidecar.db"


@pytest.fixture
def sidecar(path: Path) -> Sidecar:
    return Sidecar(path.parent)


def rows(path: Path, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(sql).fetchall()


def noted(number: int) -> dict[str, Any]:
    return {"at": float(number), "act": "fire", "target": "s", "result": "done", "detail": {"number": number}}


async def test_looking_makes_nothing(sidecar: Sidecar, tmp_path: Path) -> None:
    assert await sidecar.get("x") is None
    assert list(tmp_path.iterdir()) == []


async def test_an_answer_is_kept_for_the_next_start(sidecar: Sidecar, path: Path) -> None:
    await sidecar.put("host", "yes")
    await sidecar.put("host", "no")
    assert await sidecar.get("host") == "no"
    assert await Sidecar(path.parent).get("host") == "no"
    assert await sidecar.get("other") is None
    assert rows(path, "SELECT * FROM answers") == [("host", "no")]
    assert sidecar.unwritable is None


async def test_it_is_private_and_in_wal_mode(sidecar: Sidecar, path: Path) -> None:
    await sidecar.put("host", "yes")
    await sidecar.put("host", "no")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert rows(path, "PRAGMA journal_mode") == [("wal",)]


async def test_the_journal_keeps_the_newest(sidecar: Sidecar, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio_tui.sidecar.store.JOURNAL_KEPT", 3)
    for number in range(6):
        await sidecar.journal(**noted(number))
    kept = rows(path, "SELECT at, act, target, result, detail FROM journal ORDER BY id")
    assert [json.loads(row[4])["number"] for row in kept] == [3, 4, 5]
    assert kept[0][:4] == (3.0, "fire", "s", "done")
    assert [entry[0] for entry in await sidecar.entries(limit=2)] == [5.0, 4.0]


async def test_several_consoles_and_tasks_write_at_once(sidecar: Sidecar, path: Path) -> None:
    other = Sidecar(path.parent)
    await asyncio.gather(*(made.journal(**noted(number)) for number in range(20) for made in (sidecar, other)))
    assert rows(path, "SELECT count(*) FROM journal") == [(40,)]
    assert (sidecar.unwritable, other.unwritable) == (None, None)


def a_file_in_the_way(path: Path) -> None:
    path.parent.parent.mkdir()
    path.parent.write_text("not a directory")


def a_directory_in_the_way(path: Path) -> None:
    path.mkdir(parents=True)


def not_a_database(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(b"this is no database, and it is long enough to be looked at" * 20)


def a_newer_one(path: Path) -> None:
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 9")


@pytest.mark.parametrize("obstacle", [a_file_in_the_way, a_directory_in_the_way, not_a_database, a_newer_one])
async def test_what_cannot_be_kept_is_known_for_this_run(sidecar: Sidecar, path: Path, obstacle: Any) -> None:
    obstacle(path)
    assert await sidecar.get("host") is None
    await sidecar.put("host", "yes")
    await sidecar.journal(**noted(1))
    assert await sidecar.get("host") == "yes"
    assert await sidecar.entries(limit=5) == ()
    assert sidecar.unwritable


async def test_it_is_kept_again_once_the_obstacle_is_gone(sidecar: Sidecar, path: Path) -> None:
    a_file_in_the_way(path)
    await sidecar.put("host", "yes")
    path.parent.unlink()
    await sidecar.put("host", "no")
    assert sidecar.unwritable is None
    assert await Sidecar(path.parent).get("host") == "no"


async def test_a_newer_one_is_left_as_it_is(sidecar: Sidecar, path: Path) -> None:
    a_newer_one(path)
    before = path.read_bytes()
    await sidecar.put("host", "yes")
    assert path.read_bytes() == before
    assert "newer studio-tui (version 9" in (sidecar.unwritable or "")


async def test_an_answer_of_another_console_is_seen(sidecar: Sidecar, path: Path) -> None:
    await sidecar.put("host", "yes")
    await Sidecar(path.parent).put("host", "no")
    assert await sidecar.get("host") == "no"


async def test_a_write_outlives_a_caller_that_goes_away(sidecar: Sidecar) -> None:
    kept = asyncio.ensure_future(sidecar.put("host", "yes"))
    await asyncio.sleep(0)
    kept.cancel()
    with pytest.raises(asyncio.CancelledError):
        await kept
    await sidecar.put("other", "x")  # calls wait for each other
    assert await sidecar.get("host") == "yes"


async def test_details_that_are_not_json_are_written_as_text(sidecar: Sidecar, path: Path) -> None:
    await sidecar.journal(at=1.0, act="a", target="t", result="r", detail={"path": path})
    assert rows(path, "SELECT detail FROM journal") == [(json.dumps({"path": str(path)}),)]
