"""Pages of lists that go by a time, or a running number, and an id."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from studio_tui.application.models.common import Page, PageQuery
from studio_tui.application.paging import cut, encode_cursor, time_key

Key = tuple[float, str]
R = TypeVar("R")
M = TypeVar("M")


async def page_of(
    query: PageQuery,
    order: str,
    fetch: Callable[[Key | None, int], Awaitable[Sequence[R]]],
    key: Callable[[R], tuple[float | None, str]],
    show: Callable[[R], M],
) -> Page[M]:
    """One page: ``fetch`` gets the key of the page before and how many records to bring, ``key`` is that of a record.

    Raises :class:`ValidationFailure` for a cursor of another list.
    """
    found = await fetch(time_key(order, query.cursor), query.limit + 1)
    shown, more = cut(found, query.limit)
    at, identifier = key(shown[-1]) if more else (None, "")
    cursor = encode_cursor(order, (at if at is not None else 0.0, identifier)) if more else None
    return Page(items=tuple(map(show, shown)), limit=query.limit, has_next=more, next_cursor=cursor)


def number_of(key: Key | None) -> int | None:
    """The running number of a cursor's key."""
    return None if key is None else int(key[0])
