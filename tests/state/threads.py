"""The threads in which aiosqlite works: one a connection, and none when all are closed."""

from __future__ import annotations

import asyncio
import threading


def driver_threads() -> int:
    """How many there are now."""
    return len(_all())


async def driver_threads_at_most(count: int) -> None:
    """Wait until those that are closed have ended; fails if more than ``count`` stay."""
    async with asyncio.timeout(5):
        while driver_threads() > count:  # noqa: ASYNC110 - a thread tells nobody of its end
            await asyncio.sleep(0.001)


async def no_driver_thread() -> None:
    """Wait until the last has ended, which is just after it has answered its last question; fails if one stays."""
    for thread in _all():
        await asyncio.to_thread(thread.join, 5)
        assert not thread.is_alive()


def _all() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if "_connection_worker_thread" in repr(getattr(thread, "_target", ""))]
