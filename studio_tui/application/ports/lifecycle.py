"""Changes of a status as the operations need them (ADR-0057, ADR-0078 D3; rules of lionagi 0.36)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Override:
    """Who gives a row a status that may not follow the present one, and why. Both must be there."""

    actor: str
    justification: str


@dataclass(frozen=True, slots=True)
class StatusChange:
    """One change of a status, of a session, invocation, show, play, team, schedule_run or dispatch.

    ``source`` is the kind of actor (``admin``, ``system``, ``operator``…). ``expected`` are the statuses that the row may have
    now, ``expected_updated_at`` the exact stored instant in epoch seconds; ``None`` asks for nothing. ``extra`` are the columns
    that change along, by name.
    """

    entity: str
    entity_id: str
    status: str
    reason_code: str
    summary: str
    source: str
    actor: str
    evidence: tuple[Mapping[str, str], ...] = ()
    expected: frozenset[str | None] | None = None
    expected_updated_at: float | None = None
    extra: Mapping[str, object] = field(default_factory=dict)
    metadata: Mapping[str, object] = field(default_factory=dict)
    override: Override | None = None


class StatusPort(Protocol):
    """Changes statuses, one row a transaction, with reason and history."""

    async def change(self, change: StatusChange) -> bool:
        """Give a row a status; False when it is no longer as expected, and nothing was written then.

        Raises :class:`NotFound`; :class:`Conflict` when the status may not follow the present one, which is noted for
        administrators; :class:`ValidationFailure` for a word that the entity does not know, or half an override.
        """
        ...
