"""One handle per store and process (ADR-0056 D6), for callers that cannot hand one on.

The program itself makes its store once and hands it on; these four names are the contract of the seed. Handles belong to one
event loop, like the connections in them. Closing them all raises a generation: whoever waited across that gets an error instead
of a handle that nobody would close.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from studio_tui.application.errors import StateUnavailable
from studio_tui.state.db import StateDB
from studio_tui.state.urls import normalize_state_db_url

_CLOSED_MEANWHILE: Final = "The shared stores were closed while this one was being opened."


@dataclass
class _Shared:
    """The handles of one event loop by their full address. The lock is made with the first of them, in that loop."""

    instances: dict[str, StateDB] = field(default_factory=dict)
    generation: int = 0
    lock: asyncio.Lock | None = None


_shared: Final = _Shared()


async def get_shared_db(path: str | Path | None = None) -> StateDB:
    """The handle for the store at this path or address, opened on first use; ``None`` is the home's own store.

    Raises what :meth:`StateDB.open` raises, and :class:`StateUnavailable` when everything was closed meanwhile.
    """
    url = normalize_state_db_url(path)
    if (found := _shared.instances.get(url)) is not None:
        return found
    generation = _shared.generation
    async with _lock():
        _same(generation)
        if (found := _shared.instances.get(url)) is not None:
            return found
        db = StateDB(url=url)
        await db.open()
        if generation != _shared.generation:
            await db.close()
        _same(generation)
        _shared.instances[url] = db
        return db


async def register_shared_db(db: StateDB) -> None:
    """Share this handle for its address, and close another one that was shared for it.

    Raises :class:`StateUnavailable` when everything was closed meanwhile; the handle stays the caller's then.
    """
    generation = _shared.generation
    async with _lock():
        _same(generation)
        old, _shared.instances[db.url] = _shared.instances.get(db.url), db
        if old is not None and old is not db:
            await old.close()


def unregister_shared_db(db: StateDB) -> None:
    """Share this handle no longer, and leave it open; nothing happens when another one is shared for its address."""
    if _shared.instances.get(db.url) is db:
        del _shared.instances[db.url]


async def close_shared_db() -> None:
    """Close every shared handle. One that cannot be closed does not keep the others open."""
    _shared.generation += 1
    open_ones, _shared.instances, _shared.lock = list(_shared.instances.values()), {}, None
    results = await asyncio.gather(*(db.close() for db in open_ones), return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result


def _lock() -> asyncio.Lock:
    """Made when it is first needed: an earlier event loop may have ended with its own."""
    if _shared.lock is None:
        _shared.lock = asyncio.Lock()
    return _shared.lock


def _same(generation: int) -> None:
    if generation != _shared.generation:
        raise StateUnavailable(_CLOSED_MEANWHILE, retryable=True)
