"""Shared handles: one per store, closed together, and never brought back by who waited across that (ADR-0056 D6)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from studio_tui.application.errors import StateUnavailable
from studio_tui.state.db import StateDB
from studio_tui.state.shared import close_shared_db, get_shared_db, register_shared_db, unregister_shared_db
from tests.state.files import make_native_file
from tests.state.threads import no_driver_thread


@pytest.fixture
async def address(backend: str, location: str | None, native_file: Path) -> AsyncIterator[str]:
    """Where a store is; every shared handle is closed at the end."""
    yield str(native_file) if location is None else location
    await close_shared_db()


async def test_there_is_one_however_it_is_spelled(address: str, backend: str) -> None:
    found = await asyncio.gather(*(get_shared_db(address) for _ in range(20)))
    assert len(set(map(id, found))) == 1
    assert found[0].is_open
    assert await found[0].schema_version() == "4"
    other = f"sqlite:///{address}" if backend == "sqlite" else address.replace("postgresql://", "POSTGRES://")
    assert await get_shared_db(other) is found[0]


async def test_another_store_has_its_own(address: str, tmp_path: Path) -> None:
    make_native_file(tmp_path / "second.db")
    assert await get_shared_db(tmp_path / "second.db") is not await get_shared_db(address)


async def test_all_are_closed_together_and_opened_anew(address: str) -> None:
    first = await get_shared_db(address)
    await close_shared_db()
    await close_shared_db()
    assert not first.is_open
    second = await get_shared_db(address)
    assert second is not first
    assert second.is_open


async def test_a_callers_own_handle_takes_the_place_of_another(address: str) -> None:
    first = await get_shared_db(address)
    async with StateDB(url=address) as own:
        await register_shared_db(own)
        assert not first.is_open
        assert await get_shared_db(address) is own
        await register_shared_db(own)
        assert own.is_open
        unregister_shared_db(first)
        assert await get_shared_db(address) is own
        unregister_shared_db(own)
        assert own.is_open
        assert await get_shared_db(address) is not own


async def test_who_waited_across_the_end_brings_nothing_back(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opening, go = asyncio.Event(), asyncio.Event()
    opened: list[StateDB] = []
    original = StateDB.open

    async def slowly(db: StateDB, *, create: bool = False) -> None:
        opening.set()
        await go.wait()
        await original(db, create=create)
        opened.append(db)

    monkeypatch.setattr(StateDB, "open", slowly)
    first = asyncio.create_task(get_shared_db(address))
    await opening.wait()
    second = asyncio.create_task(get_shared_db(address))
    own = StateDB(url=address)
    third = asyncio.create_task(register_shared_db(own))
    await asyncio.sleep(0)
    await close_shared_db()
    go.set()
    for waiting in (first, second, third):
        with pytest.raises(StateUnavailable, match="closed while"):
            await waiting
    assert [db.is_open for db in opened] == [False]
    monkeypatch.undo()
    assert (await get_shared_db(address)).is_open


async def test_a_store_that_cannot_be_opened_is_not_shared(address: str, backend: str, tmp_path: Path) -> None:
    missing = str(tmp_path / "none.db") if backend == "sqlite" else address.replace("/t", "/none_t", 1)
    for _ in range(2):
        with pytest.raises(StateUnavailable):
            await get_shared_db(missing)
    assert (await get_shared_db(address)).is_open


async def test_one_that_cannot_be_closed_keeps_no_other_open(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_native_file(tmp_path / "second.db")
    bad, good = await get_shared_db(address), await get_shared_db(tmp_path / "second.db")

    async def refuse() -> None:
        raise StateUnavailable("no", retryable=False)

    monkeypatch.setattr(bad, "close", refuse)
    with pytest.raises(StateUnavailable, match="no"):
        await close_shared_db()
    assert not good.is_open
    monkeypatch.undo()
    await bad.close()
    await no_driver_thread()


def test_another_event_loop_begins_afresh(native_file: Path) -> None:
    async def use() -> str | None:
        version = await (await get_shared_db(native_file)).schema_version()
        await close_shared_db()
        return version

    assert [asyncio.run(use()) for _ in range(2)] == ["4", "4"]
