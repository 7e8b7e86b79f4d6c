"""Engines: the PRAGMA profile, what a reader cannot do, what TLS words mean, and errors that hold no secret."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from studio_tui.application.errors import StateUnavailable
from studio_tui.state.engine import make_engine, make_readonly_engine
from studio_tui.state.urls import sqlite_url
from tests.state.threads import no_driver_thread


async def _pragma(connection: Any, name: str) -> object:
    return (await connection.exec_driver_sql(f"PRAGMA {name}")).scalar_one()


async def test_the_writer_has_the_profile_of_the_peer(tmp_path: Path) -> None:
    engine = make_engine(sqlite_url(tmp_path / "s.db"), busy_timeout_ms=1234)
    async with engine.connect() as connection:
        values = {
            name: await _pragma(connection, name)
            for name in ("busy_timeout", "journal_mode", "synchronous", "foreign_keys", "cache_size", "wal_autocheckpoint")
        }
    await engine.dispose()
    assert values == {
        "busy_timeout": 1234,
        "journal_mode": "wal",
        "synchronous": 1,
        "foreign_keys": 1,
        "cache_size": -64000,
        "wal_autocheckpoint": 1000,
    }


async def test_a_transaction_takes_the_write_lock_when_it_begins(tmp_path: Path) -> None:
    url = sqlite_url(tmp_path / "s.db")
    first, second = make_engine(url), make_engine(url, busy_timeout_ms=1)
    async with first.begin():
        with pytest.raises(Exception, match="locked"):
            async with second.begin():
                pass
    await first.dispose()
    await second.dispose()


async def test_a_reader_cannot_write_and_makes_no_file(native_file: Path) -> None:
    engine = make_readonly_engine(sqlite_url(native_file))
    async with engine.connect() as connection:
        assert await _pragma(connection, "query_only") == 1
        with pytest.raises(Exception, match="readonly"):
            await connection.execute(text("DELETE FROM schema_meta"))
    await engine.dispose()
    missing = make_readonly_engine(sqlite_url(native_file.parent / "none.db"))
    with pytest.raises(Exception, match="unable to open"):
        async with missing.connect():
            pass
    await missing.dispose()
    await no_driver_thread()
    assert not (native_file.parent / "none.db").exists()


async def test_text_that_is_not_utf8_fails_no_query(native_file: Path, script: Callable[..., None]) -> None:
    script(native_file, "INSERT INTO projects VALUES (CAST(x'61ff62' AS TEXT), 'studio', NULL, NULL, NULL, 1.0, 1.0, NULL)")
    engine = make_readonly_engine(sqlite_url(native_file))
    async with engine.connect() as connection:
        assert (await connection.execute(text("SELECT name FROM projects"))).scalar_one() == "a\ufffdb"
    await engine.dispose()


@pytest.mark.parametrize("url", ["sqlite+aiosqlite:///:memory:", "postgresql+asyncpg://h/db"])
def test_only_files_open_read_only(url: str) -> None:
    with pytest.raises(ValueError, match="SQLite file"):
        make_readonly_engine(url)


@pytest.mark.parametrize("url", ["mysql://u:s3cret@h/db", "postgresql+nosuch://u:s3cret@h/db", "file:/x?s3cret", "http://s3cret"])
def test_a_url_of_something_else_is_refused_without_its_secret(url: str) -> None:
    with pytest.raises(StateUnavailable) as caught:
        make_engine(url)
    assert "s3cret" not in str(caught.value)
    assert caught.value.__cause__ is None or "s3cret" not in str(caught.value.__cause__)
    assert not caught.value.retryable


def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "asyncpg", None)
    with pytest.raises(StateUnavailable, match="postgres extra"):
        make_engine("postgresql+asyncpg://u:s3cret@h/db")
