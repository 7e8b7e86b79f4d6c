"""Reads transcripts (implements ``MessageReadPort``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from studio_tui.domain.runs import MessageRecord, MessageWindow
from studio_tui.state.db import StateDB
from studio_tui.state.queries.messages import CONTENT_BY_ID, MESSAGES_BY_ID, WITHHELD_FROM
from studio_tui.state.readers import as_object
from studio_tui.state.rows import message_record
from studio_tui.state.stores.id_lists import IdAt, NotAnIdList, ids_after, ids_before
from studio_tui.state.stores.id_pieces import UUID_STEP, IdPieces
from studio_tui.state.stores.reads import ReadStore, in_parts

_LOOKS: Final = 8
"""How often a window looks further when ids name no message (any more): 200 at first, each time twice as many."""

_MOST_IDS: Final = 8000
_AT_ONCE: Final = 65_536
"""Bodies up to this many bytes come with their row; longer ones are fetched for the rows that the window keeps."""

_WINDOW_BYTES: Final = 64 * 1_048_576
"""A window ends early when its bodies come to more than this (lionagi 0.36 has the same ceiling)."""

_NOTHING: Final = MessageWindow((), 0, 0, older=False)


class MessageStore(ReadStore):
    """Implements ``MessageReadPort``: a window costs two statements, however long the list is that it is cut from."""

    def __init__(self, db: StateDB) -> None:
        super().__init__(db)
        self._pieces = IdPieces(db)

    async def tail(self, progression_id: str, *, limit: int) -> MessageWindow:
        """The newest messages; none for an unknown list and for one that is no JSON array of texts."""
        return await self._backwards(progression_id, None, limit)

    async def before(self, progression_id: str, position: int, *, limit: int) -> MessageWindow:
        """The messages that end at ``position``."""
        return await self._backwards(progression_id, position, limit)

    async def after(self, progression_id: str, position: int, *, limit: int) -> MessageWindow:
        """The messages that begin at ``position``.

        When the list was replaced meanwhile (lionagi repairs lists so) and ``position`` is no place in it any more, the window
        is empty and ends where the list now does.
        """
        found: list[tuple[IdAt, MessageRecord]] = []
        end, ask = position, limit
        for _ in range(_LOOKS):
            piece = await self._pieces.after(progression_id, end, (ask + 1) * UUID_STEP)
            if piece is None:
                break
            last = end + len(piece.data) >= piece.size
            try:
                ids = ids_after(piece.data, end, last=last)
            except NotAnIdList:
                end = max(piece.size - 1, 0)
                break
            ids, rest = ids[:ask], ids[ask:]
            found += await self._named(ids)
            end = ids[-1].end if ids else end
            if len(found) >= limit or (last and not rest):
                break
            ask = min(ask * 2, _MOST_IDS)
        kept = _within(found, limit)
        end = kept[-1][0].end if len(kept) < len(found) else end
        return MessageWindow(await self._filled(kept), min(position, end), end, older=position > 1)

    async def by_ids(self, message_ids: Sequence[str]) -> MessageWindow:
        """These messages in this order; those that do not exist are left out."""
        found = await self._named([IdAt(message_id, 0, 0) for message_id in message_ids])
        return replace(_NOTHING, messages=await self._filled(found))

    async def _backwards(self, progression_id: str, position: int | None, limit: int) -> MessageWindow:
        found: list[tuple[IdAt, MessageRecord]] = []
        start, end, older, ask = position or 0, None, False, limit
        for _ in range(_LOOKS):
            piece = await self._pieces.before(progression_id, position, (ask + 2) * (UUID_STEP + 1))
            if piece is None:
                break
            try:
                ids = ids_before(piece.data, piece.offset, last=position is None)
            except NotAnIdList:
                return _NOTHING
            older = piece.offset > 0 or len(ids) > ask
            ids = ids[-ask:]
            if ids:
                found = [*await self._named(ids), *found]
                start, end = ids[0].start, ids[-1].end if end is None else end
                position = start
            if len(found) >= limit or not older:
                break
            ask = min(ask * 2, _MOST_IDS)
        kept = _within(found[::-1], limit)[::-1]
        if len(kept) < len(found):
            start, older = kept[0][0].start, True
        return MessageWindow(await self._filled(kept), start, start if end is None else end, older=older)

    async def _named(self, ids: Sequence[IdAt]) -> list[tuple[IdAt, MessageRecord]]:
        """The ids that name a message, in their order, with the message; long bodies are not there yet."""
        messages: dict[str, MessageRecord] = {}
        for part in in_parts([place.text for place in ids]):
            rows = await self._rows(MESSAGES_BY_ID, {"ids": part, "largest": _AT_ONCE})
            messages |= {record.message_id: record for record in map(message_record, rows)}
        return [(place, messages.pop(place.text)) for place in ids if place.text in messages]

    async def _filled(self, found: Sequence[tuple[IdAt, MessageRecord]]) -> tuple[MessageRecord, ...]:
        """The messages, with the bodies that are long and not too long."""
        messages = tuple(message for _, message in found)
        long = [message.message_id for message in messages if _AT_ONCE < message.size_bytes <= WITHHELD_FROM]
        bodies: dict[str, Mapping[str, object] | None] = {}
        for part in in_parts(long):
            for message_id, content in await self._rows(CONTENT_BY_ID, {"ids": part}):
                bodies[message_id] = as_object(content, "content", [])
        if not bodies:
            return messages
        return tuple(replace(m, content=bodies[m.message_id]) if m.message_id in bodies else m for m in messages)


def _within(found: Sequence[tuple[IdAt, MessageRecord]], limit: int) -> Sequence[tuple[IdAt, MessageRecord]]:
    """The first of ``found`` that a window may hold, at least one."""
    total = 0
    for count, (_, message) in enumerate(found[:limit]):
        total += message.size_bytes if message.size_bytes <= WITHHELD_FROM else 0
        if total > _WINDOW_BYTES and count:
            return found[:count]
    return found[:limit]
