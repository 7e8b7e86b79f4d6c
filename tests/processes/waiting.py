"""Waiting for a condition instead of for a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

_LOOK_EVERY = 0.01
_LIMIT = 60.0


async def until(condition: Callable[[], object]) -> None:
    """Return as soon as the condition holds; fail the test when it never does."""
    for _ in range(int(_LIMIT / _LOOK_EVERY)):
        if condition():
            return
        await asyncio.sleep(_LOOK_EVERY)
    raise AssertionError("what was waited for never came")
