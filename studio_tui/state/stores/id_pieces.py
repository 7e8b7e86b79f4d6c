"""Fetches pieces of a stored id list without reading it whole.

Places are byte offsets in the list written without blanks: an append may write the whole list anew, with blanks or without, and
a place must keep its meaning. lionagi 0.36 writes no blanks on SQLite. A list that somebody else wrote with blanks is reckoned
when it holds nothing but UUIDs, and is otherwise written anew by the database for each question, which takes milliseconds for a
long one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from sqlalchemy import Select

from studio_tui.state.dialect import read_in_place
from studio_tui.state.queries.messages import LAST_PIECE, PIECE
from studio_tui.state.schema import progressions
from studio_tui.state.stores.base import reading
from studio_tui.state.stores.reads import ReadStore

UUID_STEP: Final = 39
"""From one UUID to the next: its 36 characters, two quotes, a comma."""

_SPACED_STEP: Final = UUID_STEP + 1
_SPACED: Final = b'", "'


class Piece(NamedTuple):
    """Some bytes of a list: where they begin in it, and how long all of it is."""

    size: int
    offset: int
    data: bytes


class IdPieces(ReadStore):
    """Reads pieces of id lists."""

    async def before(self, progression_id: str, place: int | None, length: int) -> Piece | None:
        """About ``length`` bytes that end at ``place``, or with the list; ``None`` for an unknown list."""
        if place is None:
            return await self._last(progression_id, length)
        return await self._between(progression_id, max(0, place - length), place, known_end=True)

    async def after(self, progression_id: str, place: int, length: int) -> Piece | None:
        """About ``length`` bytes that begin at ``place``; ``None`` for an unknown list."""
        return await self._between(progression_id, place, place + length, known_end=False)

    async def _last(self, progression_id: str, length: int) -> Piece | None:
        if self._db.dialect == "sqlite":
            found = await self._stored(progression_id, None, length)
            if found is None or _SPACED not in found.data:
                return found
            if piece := _without_blanks(found, end=_size_without_blanks(found.size)):
                return piece
        found = await self._piece(LAST_PIECE, {"progression_id": progression_id, "length": length})
        return found and found._replace(offset=found.size - len(found.data))

    async def _between(self, progression_id: str, start: int, end: int, *, known_end: bool) -> Piece | None:
        if self._db.dialect == "sqlite":
            found = await self._stored(progression_id, start, end - start)
            if found is None or not _has_blanks(found.data, begins_between=not known_end):
                return found
            first = _with_blanks(start)
            reckoned = await self._stored(progression_id, first, _with_blanks(end) - first)
            place = {"end": end} if known_end else {"start": start}
            if reckoned is not None and (piece := _without_blanks(reckoned, **place)):
                return piece
        found = await self._piece(PIECE, {"progression_id": progression_id, "start": start, "length": end - start})
        return found and found._replace(offset=start)

    async def _piece(self, statement: Select[Any], values: Mapping[str, object]) -> Piece | None:
        """What a statement found in the list as the database writes it without blanks."""
        row = await self._first_row(statement, values)
        return None if row is None else Piece(int(row[0]), 0, bytes(row[1] or b""))

    async def _stored(self, progression_id: str, start: int | None, length: int) -> Piece | None:
        """SQLite: bytes of the list as it is stored, from ``start`` on or at its end."""
        async with reading(self._db) as connection:
            if connection is None:
                return None
            found = await read_in_place(connection, progressions.c.collection, progression_id, start, length)
        return None if found is None else Piece(found[0], found[0] - len(found[1]) if start is None else start, found[1])


def _has_blanks(data: bytes, *, begins_between: bool) -> bool:
    """Whether bytes of a list show that it was written with blanks; those that begin between two ids tell at once."""
    return _SPACED in data or (begins_between and (data[:1] == b" " or data[:2] == b", "))


def _with_blanks(place: int) -> int:
    """Where a place is in a list of UUIDs that was written with blanks."""
    return place + max(place - 1, 0) // UUID_STEP


def _size_without_blanks(size: int) -> int:
    return size - size // _SPACED_STEP + 1


def _without_blanks(found: Piece, *, start: int = 0, end: int | None = None) -> Piece | None:
    """A piece of a list with blanks as one of the list without; ``None`` if there is anything but UUIDs in it."""
    if found.size % _SPACED_STEP:
        return None
    data = (b'"' + found.data + b'"').replace(_SPACED, b'","')[1:-1]  # it may begin or end in the middle of a blank's place
    offset = start if end is None else end - len(data)
    quotes = data[(1 - offset) % UUID_STEP :: UUID_STEP] + data[(UUID_STEP - 1 - offset) % UUID_STEP :: UUID_STEP]
    if b"\\" in data or quotes.strip(b'"') or len(quotes) != data.count(b'"'):
        return None
    return Piece(_size_without_blanks(found.size), offset, data)
