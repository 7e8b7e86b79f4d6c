"""A store of ours that the peer looks at while it is open."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from studio_tui.state.db import StateDB
from studio_tui.state.store import Store


@asynccontextmanager
async def our_store(home: Path) -> AsyncIterator[StateDB]:
    """The store of this home, made if there is none."""
    home.mkdir(exist_ok=True)
    store = Store(None, home=home)
    await store.open()
    if store.condition().mode == "missing":
        await store.create()
    assert store.condition().mode == "ready", store.condition()
    try:
        yield store.db
    finally:
        await store.close()
