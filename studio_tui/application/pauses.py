"""Long work on the event loop, done in slices."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_SLICE: Final = 25


async def in_slices(items: Iterable[T], work: Callable[[T], R]) -> list[R]:
    """``work`` on each item in order, letting others run in between: the loop also draws screens and fires schedules."""
    results: list[R] = []
    for position, item in enumerate(items):
        if position and position % _SLICE == 0:
            await asyncio.sleep(0)
        results.append(work(item))
    return results
