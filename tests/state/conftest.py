"""Stores for the tests of the state layer: real SQLite files."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from studio_tui.state.db import StateDB
from studio_tui.state.store import Store
from tests.state.files import contents_of, make_native_file


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An empty home."""
    home = tmp_path / "home"
    home.mkdir()
    return home


@pytest.fixture
async def store(home: Path) -> AsyncIterator[Store]:
    """A new native store, open for writing."""
    store = Store(None, home=home)
    await store.open()
    await store.create()
    yield store
    await store.close()


@pytest.fixture
def db(store: Store) -> StateDB:
    """The database of the new store."""
    return store.db


@pytest.fixture
def native_file(home: Path) -> Path:
    """A complete native store made without our engine, closed, in WAL mode, nothing beside it."""
    path = home / "state.db"
    make_native_file(path)
    return path


@pytest.fixture
def script() -> Callable[..., None]:
    """``script(path, sql, …)``: run statements on a file with plain sqlite3 and close it."""

    def run(path: Path, *statements: str) -> None:
        with closing(sqlite3.connect(path, isolation_level=None, timeout=10)) as connection:
            for statement in statements:
                connection.execute(statement)

    return run


@pytest.fixture
def untouched() -> Iterator[Callable[[Path], None]]:
    """``untouched(folder)`` notes every file below; at the end of the test each must be the same, with none added."""
    noted: dict[Path, dict[str, tuple[str, int]]] = {}

    def note(folder: Path) -> None:
        noted[folder] = contents_of(folder)

    yield note
    for folder, before in noted.items():
        assert contents_of(folder) == before
