"""Opaque cursors: the key of the last record of a page, which fetches the records after it.

A cursor names an order by a short tag, so that one list's cursor is refused by another. Callers keep it and hand it back;
what is inside may change with any version.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Sequence
from typing import Final, TypeVar

from studio_tui.application.errors import ValidationFailure
from studio_tui.application.wellformed import is_wellformed

T = TypeVar("T")
_MAX_LENGTH: Final = 4096


def encode_cursor(order: str, key: tuple[float, str] | tuple[str, str]) -> str:
    """The cursor that stands behind ``key`` in ``order``."""
    document = json.dumps([order, *key], separators=(",", ":"), ensure_ascii=True)
    return base64.urlsafe_b64encode(document.encode("ascii")).decode("ascii").rstrip("=")


def time_key(order: str, cursor: str | None) -> tuple[float, str] | None:
    """The ``(epoch seconds, id)`` key inside a cursor. Raises :class:`ValidationFailure` for anything that is none."""
    if cursor is None:
        return None
    first, identifier = _decoded(order, cursor)
    if isinstance(first, bool) or not isinstance(first, int | float):
        raise _malformed()
    try:
        at = float(first)
    except OverflowError:
        raise _malformed() from None
    if math.isnan(at):
        raise _malformed()
    return at, identifier


def name_key(order: str, cursor: str | None) -> tuple[str, str] | None:
    """The ``(name, id)`` key inside a cursor. Raises :class:`ValidationFailure` for anything that is none."""
    if cursor is None:
        return None
    first, identifier = _decoded(order, cursor)
    if not isinstance(first, str) or not is_wellformed(first):
        raise _malformed()
    return first, identifier


def cut(records: Sequence[T], limit: int) -> tuple[tuple[T, ...], bool]:
    """The first ``limit`` of records that were asked for with one more, and whether there was one more."""
    return tuple(records[:limit]), len(records) > limit


def _decoded(order: str, cursor: str) -> tuple[object, str]:
    if len(cursor) > _MAX_LENGTH:
        raise _malformed()
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        document = json.loads(raw.decode("ascii"))
    except (ValueError, binascii.Error, RecursionError):
        raise _malformed() from None
    if not isinstance(document, list) or len(document) != 3 or document[0] != order or not isinstance(document[2], str):
        raise _malformed()
    if not is_wellformed(document[2]):
        raise _malformed()
    return document[1], document[2]


def _malformed() -> ValidationFailure:
    return ValidationFailure.of("cursor", "malformed", "is not a cursor of this list; leave it out to begin at the first page")
