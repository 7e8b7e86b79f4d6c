"""Pieces of a stored id list: a JSON array of message ids that can be megabytes long and is never read whole.

A place is a byte offset in the list as ``queries.sql_forms.id_list`` writes it. Places that callers hand back are where an id
begins (or the list) and where one ends, so a piece has one end that is known to stand between two ids; the other end may cut
an id in two, which is then left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_QUOTE: Final = re.compile(rb'\\.|"', re.DOTALL)
_FIRST: Final = re.compile(rb'\s*,?\s*("(?:[^"\\]|\\.)*")', re.DOTALL)
_NEXT: Final = re.compile(rb'\s*,\s*("(?:[^"\\]|\\.)*")', re.DOTALL)


class IdAt(NamedTuple):
    """One id and where it stands: from its opening quote to behind its closing one."""

    text: str
    start: int
    end: int


class NotAnIdList(ValueError):
    """What is stored is no JSON array of texts, or the place is not between two ids of it."""


def ids_before(piece: bytes, offset: int, *, last: bool) -> list[IdAt]:
    """The ids that stand whole in a ``piece`` which begins at ``offset`` and ends between two ids; ``last``: with the list.

    Quotes are paired from the end, where the pairing is known. Unless the piece begins with the list, its first pair is left
    out: what looks like an opening quote may be the end of an id that was cut. Raises :class:`NotAnIdList`.
    """
    quotes = [match.start() for match in _QUOTE.finditer(piece) if match.group() == b'"']
    found: list[IdAt] = []
    behind, gaps = len(piece), (b"]",) if last else (b"", b",")
    for closing, opening in zip(quotes[::-2], quotes[-2::-2], strict=False):
        if piece[closing + 1 : behind].strip() not in gaps:
            raise NotAnIdList
        found.append(IdAt(_decoded(piece[opening : closing + 1]), offset + opening, offset + closing + 1))
        behind, gaps = opening, (b",",)
    if offset:
        return found[-2::-1]
    head = piece[:behind].strip()
    if len(quotes) % 2 or head != (b"[" if found or not last else b"[]"):
        raise NotAnIdList
    return found[::-1]


def ids_after(piece: bytes, offset: int, *, last: bool) -> list[IdAt]:
    """The ids that stand whole in a ``piece`` which begins between two ids at ``offset``; ``last``: it ends with the list.

    Raises :class:`NotAnIdList`.
    """
    place = 0
    if offset == 0:
        place = piece.find(b"[") + 1
        if piece[:place].strip() != b"[":
            raise NotAnIdList
    found = list(_forwards(piece, place, offset))
    rest = piece[found[-1].end - offset if found else place :].strip()
    if rest != b"]" if last else rest[:1] not in (b"", b",", b'"'):
        raise NotAnIdList
    return found


def _forwards(piece: bytes, place: int, offset: int) -> Iterator[IdAt]:
    match = _FIRST.match(piece, place)
    while match:
        yield IdAt(_decoded(match.group(1)), offset + match.start(1), offset + match.end(1))
        match = _NEXT.match(piece, match.end())


def _decoded(quoted: bytes) -> str:
    if b"\\" not in quoted:
        return quoted[1:-1].decode("utf-8", "replace")
    try:
        return str(json.loads(quoted))
    except ValueError as error:
        raise NotAnIdList from error
