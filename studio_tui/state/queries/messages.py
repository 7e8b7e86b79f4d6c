"""Statements about transcripts: pieces of a stored id list, and messages by id."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Integer, Select, Text, bindparam, case, func, literal_column, select

from studio_tui.state.queries.columns import IDS, labelled
from studio_tui.state.queries.sql_forms import id_list, last_bytes, stored_bytes
from studio_tui.state.rows import message_record
from studio_tui.state.schema import message_types, messages, progressions

WITHHELD_FROM: Final = 1_048_576
"""Bodies above this many bytes are not read (lionagi 0.36)."""

_PROGRESSION_ID: Final = bindparam("progression_id", type_=Text)
_LENGTH: Final = bindparam("length", type_=Integer)
_START: Final = bindparam("start", type_=Integer)
_LARGEST: Final = bindparam("largest", type_=Integer)

_LIST: Final = (
    select(id_list(progressions.c.collection).label("ids"))
    .where(progressions.c.id == _PROGRESSION_ID)
    .limit(literal_column("1"))
    .offset(literal_column("0"))
    .subquery()
)
"""The OFFSET keeps SQLite from computing the list anew for every use of it; even so, each use copies it."""


PIECE: Final[Select[Any]] = select(func.length(_LIST.c.ids), func.substr(_LIST.c.ids, _START + 1, _LENGTH))
"""Size of the list in bytes, and the ``:length`` bytes behind the first ``:start`` ones."""

LAST_PIECE: Final[Select[Any]] = select(func.length(_LIST.c.ids), last_bytes(_LIST.c.ids, _LENGTH))
"""The same with the last ``:length`` bytes."""

_SIZE: Final = stored_bytes(messages.c.content)
MESSAGES_BY_ID: Final[Select[Any]] = (
    select(
        *labelled(
            message_record,
            messages,
            lion_class=message_types.c.lion_class,
            content=case((_SIZE <= _LARGEST, messages.c.content)),
            size_bytes=_SIZE,
        )
    )
    .select_from(messages.outerjoin(message_types, message_types.c.type_id == messages.c.lion_class))
    .where(messages.c.id.in_(IDS))
)
"""In no order; ``content`` is NULL for bodies above ``:largest`` bytes."""

CONTENT_BY_ID: Final[Select[Any]] = select(messages.c.id, messages.c.content).where(messages.c.id.in_(IDS))
