"""Ids cut short, but never so short that two of them look the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from studio_tui.application.errors import Conflict, NotFound, ValidationFailure
from studio_tui.application.wellformed import require_wellformed

SHORTEST: Final = 8
SHOWN: Final = 10
"""How many candidates an ambiguity names."""


def distinct(identifiers: Sequence[str], *, shortest: int = SHORTEST) -> tuple[str, ...]:
    """The ids, cut to the fewest characters that still tell them all apart."""
    longest = max((len(identifier) for identifier in identifiers), default=0)
    for length in range(shortest, longest):
        cut = tuple(identifier[:length] for identifier in identifiers)
        if len(set(cut)) == len(set(identifiers)):
            return cut
    return tuple(identifiers)


def typed_prefix(resource: str, text: str) -> str:
    """What somebody typed for a record, without blanks around it. Raises :class:`ValidationFailure` when nothing is left."""
    prefix = text.strip()
    if not prefix:
        raise ValidationFailure.of("id", "empty", f"name a {resource} by its id or the beginning of it")
    require_wellformed(id=prefix)
    return prefix


def only_one(resource: str, prefix: str, found: Sequence[str], labels: Sequence[str]) -> str:
    """The one record among ``found``; ``labels`` name them for people.

    Raises :class:`NotFound` for none, and :class:`Conflict` that lists the candidates for several.
    """
    if not found:
        raise NotFound(resource, prefix)
    if len(found) == 1:
        return found[0]
    more = f" and {len(found) - SHOWN} or more others" if len(found) > SHOWN else ""
    listed = ", ".join(labels[:SHOWN])
    message = f"{prefix!r} fits several {resource}s: {listed}{more}"
    raise Conflict(resource, expected="one", actual=f"{len(found)}", message=message)
