"""What stores that write share: the clock, ids, and the refusals that keep bad values out."""

from __future__ import annotations

import json
import math
import uuid
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Column, Executable, literal, select

from studio_tui.application.errors import NotFound, ValidationFailure
from studio_tui.application.ports import Clock
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.db import StateDB
from studio_tui.state.stores.base import reading
from studio_tui.state.stores.reads import ReadStore


class WriteStore(ReadStore):
    """A store that writes. It reads the clock inside its transactions, so that later rows never carry earlier times."""

    def __init__(self, db: StateDB, clock: Clock) -> None:
        super().__init__(db)
        self._clock = clock

    def _now(self) -> float:
        """Epoch seconds, always a float: some of them are hashed as Python writes them."""
        return float(self._clock.now())

    async def _mappings(self, statement: Executable, values: Mapping[str, object]) -> list[dict[str, Any]]:
        """All rows with their columns by name; none while there is no store."""
        async with reading(self._db) as connection:
            if connection is None:
                return []
            return [dict(row) for row in (await connection.execute(statement, dict(values))).mappings()]


def hex_id() -> str:
    """A new id of 32 hex digits."""
    return uuid.uuid4().hex


def short_id() -> str:
    """A new id of 12 hex digits."""
    return uuid.uuid4().hex[:12]


def moment_after(seen: object, now: float) -> float:
    """``now``, or the next moment after ``seen`` when the clock stands or was set back.

    ``updated_at`` is what the next writer compares with, so it must differ after every change.
    """
    return max(now, math.nextafter(seen, math.inf)) if isinstance(seen, float) else now


async def require_row(connection: AsyncConnection, column: Column[Any], value: str | None, resource: str) -> None:
    """Raise :class:`NotFound` when a reference points nowhere; ``None`` points nowhere on purpose."""
    if value is None:
        return
    found = await connection.execute(select(literal(1)).where(column == value).with_for_update(read=True).limit(1))
    if found.first() is None:
        raise NotFound(resource, value)


def require(field: str, fault: str | None) -> None:
    """Raise :class:`ValidationFailure` when there is a fault."""
    if fault is not None:
        raise ValidationFailure.of(field, "invalid", fault)


def require_text(**fields: str | None) -> None:
    """Raise :class:`ValidationFailure` for a text that no database takes: half a character, or a NUL."""
    for field, text in fields.items():
        if text is not None and any("\ud800" <= character <= "\udfff" or character == "\0" for character in text):
            raise ValidationFailure.of(field, "not_text", "holds what is no text")


def require_some(**fields: str) -> None:
    """Raise :class:`ValidationFailure` for a text that is blank or no text."""
    for field, text in fields.items():
        if not text.strip():
            raise ValidationFailure.of(field, "empty", "must not be empty")
    require_text(**fields)


def require_json(**fields: object) -> None:
    """Raise :class:`ValidationFailure` for what JSON cannot say: NaN, Infinity, other types, endless nesting."""
    for field, value in fields.items():
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            raise ValidationFailure.of(field, "not_json", "cannot be written as JSON") from None
