"""Looking at a store that is open takes none of our locks on it: what others do then must not pull the log away from us.

Closing any descriptor of a file drops every POSIX lock of the process on it. Another program that closes the store would find it
unused and delete its log, and what we commit after that is lost.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from studio_tui.state import native
from studio_tui.state.db import StateDB
from studio_tui.state.store import Store

_VISIT = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit(); c.close()"


def visit(path: Path, sql: str) -> None:
    """Another process opens the store, writes, and closes it as its last user, as far as it can tell."""
    subprocess.run([sys.executable, "-c", _VISIT, str(path), sql], check=True)


def insert(key: str) -> str:
    return f"INSERT INTO schema_meta VALUES ('{key}', '1')"


async def keys(db: StateDB) -> set[str]:
    return {str(row["key"]) for row in await db.fetch_all("SELECT key FROM schema_meta WHERE length(key) = 1")}


@pytest.mark.parametrize("look", ["made", "looked at", "opened again"])
async def test_another_program_finds_an_open_store_in_use(home: Path, look: str) -> None:
    store = Store(None, home=home)
    await store.open()
    await store.create()
    path = home / "state.db"
    if look == "looked at":
        assert native.look(path).verdict == "native"
    elif look == "opened again":
        await store.reopen()
    assert await keys(store.db) == set()
    visit(path, insert("a"))
    assert Path(f"{path}-wal").exists()
    await store.db.execute(insert("b"))
    visit(path, insert("c"))
    assert await keys(store.db) == {"a", "b", "c"}
    await store.close()
    assert not Path(f"{path}-wal").exists()
    async with StateDB(path) as again:
        assert await keys(again) == {"a", "b", "c"}


@pytest.mark.parametrize("content", [b"x", b"hello world, no database", b"\x00" * 5000, b"SQLite format 4\x00" + b"\x00" * 5000])
def test_what_is_no_database_is_told_without_reading_the_file_ourselves(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "state.db"
    path.write_bytes(content)
    found = native.look(path)
    assert (found.verdict, found.reason) == ("unreadable", f"The file {path} is not an SQLite database.")
    assert [entry.name for entry in tmp_path.iterdir()] == ["state.db"]
    assert path.read_bytes() == content
