"""Long work on the event loop, done in slices."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_SLICE: Final = 25
"""Short items after which others may run."""


async def in_slices(items: Iterable[T], work: Callable[[T], R], *, weight: Callable[[T], int] = lambda item: 1) -> list[R]:
    """``work`` on each item in order, letting others run in between: the loop also draws screens and fires schedules.

    ``weight`` says how many short items one is worth.
    """
    results: list[R] = []
    done = 0
    for item in items:
        if done >= _SLICE:
            await asyncio.sleep(0)
            done = 0
        results.append(work(item))
        done += weight(item)
    return results
