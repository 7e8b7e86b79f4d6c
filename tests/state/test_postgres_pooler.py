"""Behind a pooler in transaction mode: no statement and no setting is relied on after its transaction (B055, B058)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest
from sqlalchemy import insert, select, text

from studio_tui.application.errors import PermissionDenied, StateUnavailable
from studio_tui.application.ports import RunFilter
from studio_tui.processes.liveness import own_identity
from studio_tui.state import lease_keeper
from studio_tui.state.schema import projects
from studio_tui.state.server_connections import ServerConnections
from studio_tui.state.server_lease import ServerLease
from studio_tui.state.store import Store
from studio_tui.state.stores.runs import RunStore
from studio_tui.state.urls import normalize_state_db_url
from tests.builders import a_run
from tests.pooler import Pooler
from tests.postgres import OPERATOR, Server, wait_until


@pytest.fixture
async def pooler(postgres: Server, postgres_database: str) -> AsyncIterator[Pooler]:
    async with Pooler(postgres.folder, user=OPERATOR, database=postgres_database) as pooler:
        yield pooler


@pytest.fixture
def pooled_url(pooler: Pooler, postgres_database: str) -> str:
    return f"postgresql://{OPERATOR}@/{postgres_database}?host={pooler.folder}"


async def _opened(url: str, home: Path, *, read_only: bool = False) -> Store:
    store = Store(url, home=home, read_only=read_only)
    await store.open()
    return store


def _is_pooled(store: Store) -> bool:
    return cast("ServerConnections", store.db._connections).pooled


def _project(name: str) -> dict[str, Any]:
    return {"name": name, "source": "studio", "created_at": 1.0, "updated_at": 1.0}


async def test_a_direct_connection_is_told_from_a_pooler(postgres_url: str, pooled_url: str, home: Path) -> None:
    for url, pooled in ((postgres_url, False), (pooled_url, True)):
        store = await _opened(url, home)
        assert store.condition().mode == "ready"
        assert _is_pooled(store) is pooled
        await store.close()


async def test_two_consoles_at_once_meet_no_statement_of_another(pooled_url: str, home: Path) -> None:
    stores = [await _opened(pooled_url, home) for _ in range(2)]
    await a_run(stores[0].db, id="one")

    async def use(store: Store, number: int) -> None:
        for turn in range(15):
            await store.db.execute(insert(projects), _project(f"{number}-{turn}"))
            page = await RunStore(store.db).list_runs(RunFilter(), after=None, backwards=False, limit=5)
            assert [run.run_id for run in page.runs] == ["one"]
            assert await store.db.fetch_one(select(projects.c.name).where(projects.c.name == f"{number}-{turn}"))
            await store.db.data_version()

    await asyncio.gather(*(use(store, number) for number, store in enumerate(stores * 3)))
    assert len(await stores[0].db.fetch_all(select(projects.c.name))) == 90
    for store in stores:
        await store.close()


async def test_read_only_is_said_by_each_transaction(pooler: Pooler, pooled_url: str, home: Path) -> None:
    store = await _opened(pooled_url, home, read_only=True)
    assert (store.condition().mode, _is_pooled(store)) == ("read_only", True)
    assert pooler.refused == ["default_transaction_read_only"]
    with pytest.raises(PermissionDenied):
        await store.db.execute(insert(projects), _project("a"))
    with pytest.raises(StateUnavailable, match="may not be written"):
        await store.db.fetch_all(text("DELETE FROM projects RETURNING name"))
    other = await _opened(pooled_url, home)
    await other.db.execute(insert(projects), _project("a"))
    await other.close()
    await store.close()


async def test_a_setting_that_a_pooler_refuses_is_named(pooled_url: str, home: Path) -> None:
    store = await _opened(f"{pooled_url}&search_path=public&application_name=me", home)
    assert store.condition().mode == "unavailable"
    assert "refuses a setting in the address of the store (application_name, search_path)" in (store.condition().reason or "")


async def test_the_hosts_lock_is_held_steadily_and_never_stranded(pooled_url: str, home: Path) -> None:
    first, second = (
        ServerLease(normalize_state_db_url(pooled_url), identity=own_identity(), label="studio-tui", now=time.time)
        for _ in range(2)
    )
    store = await _opened(pooled_url, home)
    try:
        assert await asyncio.to_thread(first.acquire)
        for turn in range(20):
            await store.db.execute(insert(projects), _project(str(turn)))
            assert not await asyncio.to_thread(second.acquire)
            assert first.holds()
        holder = await asyncio.to_thread(second.holder)
        assert holder is not None
        assert holder.identity.pid == own_identity().pid
        await asyncio.to_thread(first.release)
        assert await asyncio.to_thread(second.acquire)
    finally:
        await asyncio.to_thread(first.release)
        await asyncio.to_thread(second.release)
        await store.close()


async def test_a_quiet_holder_behind_a_pooler_is_replaced(
    postgres_url: str, pooled_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease_keeper, "KEEP_EVERY", 0.05)
    monkeypatch.setattr(lease_keeper, "QUIET_LIMIT", 0.5)
    monkeypatch.setattr(lease_keeper, "SURE_FOR", 0.4)
    monkeypatch.setattr(lease_keeper, "CONSOLE_QUIET", 0.2)
    pooled, direct = (
        ServerLease(normalize_state_db_url(url), identity=own_identity(), label="studio-tui", now=time.time)
        for url in (pooled_url, postgres_url)
    )
    try:
        assert await asyncio.to_thread(pooled.acquire)
        await asyncio.to_thread(wait_until, direct.acquire, "the place of the one behind the pooler")
        await asyncio.to_thread(wait_until, lambda: not pooled.holds(), "the loss to be noticed")
        await asyncio.to_thread(wait_until, pooled.acquire, "the place of the direct one")
    finally:
        await asyncio.to_thread(pooled.release)
        await asyncio.to_thread(direct.release)


async def test_a_pooler_that_goes_ends_the_hosts_lock(postgres: Server, postgres_database: str, postgres_url: str) -> None:
    direct = ServerLease(normalize_state_db_url(postgres_url), identity=own_identity(), label="studio-tui", now=time.time)
    async with Pooler(postgres.folder, user=OPERATOR, database=postgres_database) as pooler:
        url = normalize_state_db_url(f"postgresql://{OPERATOR}@/{postgres_database}?host={pooler.folder}")
        lease = ServerLease(url, identity=own_identity(), label="studio-tui", now=time.time)
        assert await asyncio.to_thread(lease.acquire)
        assert not await asyncio.to_thread(direct.acquire)
    await asyncio.to_thread(wait_until, lambda: not lease.holds(), "the loss to be noticed")
    await asyncio.to_thread(wait_until, direct.acquire, "the lock")
    await asyncio.to_thread(lease.release)
    await asyncio.to_thread(direct.release)
