"""JSON columns that never raise on what somebody else stored."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from sqlalchemy import JSON
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

from studio_tui.state.storable import storable_value


@dataclass(frozen=True, slots=True)
class BrokenJSON:
    """A stored value that is not JSON: malformed text, a bare NaN or Infinity, or bytes that are no text."""

    text: str


def encode_json(value: object) -> str:
    """ASCII JSON text as lionagi 0.36 writes it; ``None`` becomes ``null``. Raises :class:`ValueError` for NaN and Infinity.

    PostgreSQL takes JSON that spells a NUL or half a character, and then cannot look into it: they are replaced by marks.
    """
    text = json.dumps(value, allow_nan=False)
    if "\\u0000" in text or "\\ud" in text:
        return json.dumps(storable_value(value), allow_nan=False)
    return text


def decode_json(stored: object) -> Any:
    """What a JSON column holds: the decoded value, ``None`` for SQL NULL and JSON ``null``, or :class:`BrokenJSON`.

    SQLite gives the column type JSON numeric affinity, so a stored number arrives as a number.
    """
    if stored is None or isinstance(stored, int):
        return stored
    if isinstance(stored, float):
        return stored if stored - stored == 0.0 else BrokenJSON(str(stored))
    text = stored.decode("utf-8", "replace") if isinstance(stored, bytes) else str(stored)
    try:
        return _decode(text)
    except (ValueError, RecursionError):
        return BrokenJSON(text)


def _refuse_constant(name: str) -> NoReturn:
    """``json_extract`` of SQLite and the json type of PostgreSQL take neither NaN nor Infinity, so neither do we."""
    raise ValueError(f"{name} is not JSON")


_decode: Final = json.JSONDecoder(parse_constant=_refuse_constant).decode
"""Made once: ``json.loads`` with an option makes a decoder for every value."""


class LenientJSON(TypeDecorator[Any]):
    """A JSON column: DDL type ``JSON``; see :func:`encode_json` and :func:`decode_json`.

    An explicit ``None`` is stored as the text ``null``, as lionagi 0.36 does; a column left out of an INSERT, or given
    ``sqlalchemy.null()``, becomes SQL NULL. Readers treat both alike.
    """

    impl = JSON
    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], str]:
        """Both drivers take JSON as text."""
        return encode_json

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any] | None:
        """Both drivers hand over the text (see ``postgres.StudioDialect``)."""
        return decode_json
