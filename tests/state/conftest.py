"""Stores for the tests of the state layer: real SQLite files, and databases on a real PostgreSQL server.

A test that asks for ``store`` or ``db`` runs once on each. ``sqlite_only("why")`` marks what is about files only.
"""

from __future__ import annotations

import sqlite3
import subprocess
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


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what works on a store on both databases."""
    if "backend" in metafunc.fixturenames:
        only_sqlite = metafunc.definition.get_closest_marker("sqlite_only") is not None
        metafunc.parametrize("backend", ["sqlite"] if only_sqlite else ["sqlite", "postgresql"])


@pytest.fixture
def location(backend: str, request: pytest.FixtureRequest) -> str | None:
    """Where the store of this test is: an address, or ``None`` for the file in the home."""
    return None if backend == "sqlite" else str(request.getfixturevalue("lent_url"))


@pytest.fixture
async def store(home: Path, location: str | None) -> AsyncIterator[Store]:
    """A new native store, open for writing."""
    store = Store(location, home=home)
    await store.open()
    if location is None:
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


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 24 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(folder)], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("only root can mount a small file system")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)
