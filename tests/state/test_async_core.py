"""Core on asyncio: what SQLAlchemy's own layer promises holds without it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import InvalidRequestError

from studio_tui.state.async_core import AsyncConnection, create_async_engine
from studio_tui.state.engine import make_engine
from studio_tui.state.urls import sqlite_url
from tests.state.threads import no_driver_thread


def test_a_driver_that_would_block_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequestError, match="asynchronous"):
        create_async_engine(f"sqlite:///{tmp_path}/s.db")


async def test_a_connection_is_given_back_however_often_its_user_is_cancelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closing, go, close = asyncio.Event(), asyncio.Event(), AsyncConnection.close

    async def slowly(self: AsyncConnection) -> None:
        closing.set()
        await go.wait()
        await close(self)

    monkeypatch.setattr(AsyncConnection, "close", slowly)
    engine = make_engine(sqlite_url(tmp_path / "s.db"))

    async def use() -> None:
        async with engine.connect() as connection:
            await connection.execute(text("SELECT 1"))

    using = asyncio.create_task(use())
    await closing.wait()
    for _ in range(3):
        using.cancel()
        await asyncio.sleep(0)
    assert not using.done()
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await using
    async with asyncio.timeout(5), engine.begin() as connection:  # the pool has one connection only
        assert await connection.scalar(text("SELECT 2")) == 2
    await engine.dispose()
    await no_driver_thread()


async def test_a_transaction_commits_or_is_taken_back(tmp_path: Path) -> None:
    engine = make_engine(sqlite_url(tmp_path / "s.db"))
    async with engine.begin() as connection:
        await connection.exec_driver_sql("CREATE TABLE t (n INTEGER)")
    with suppress(ZeroDivisionError):
        async with engine.begin() as connection:
            await connection.exec_driver_sql("INSERT INTO t VALUES (1)")
            raise ZeroDivisionError
    async with engine.connect() as connection:
        transaction = await connection.begin()
        await connection.exec_driver_sql("INSERT INTO t VALUES (2)")
        await transaction.commit()
    async with engine.connect() as connection:
        assert list(await connection.scalars(text("SELECT n FROM t"))) == [2]
        assert await connection.run_sync(_counted, "t") == 1
    await engine.dispose()


def _counted(connection: Connection, table: str) -> int:
    return int(connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one())
