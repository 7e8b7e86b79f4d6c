"""The history of schedule definitions: who turned what on or off, and from where (lionagi 0.36, lifecycle of schedules)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, Final

from sqlalchemy import literal, select

from studio_tui.application.ports import ActProvenance
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.dialect import advisory_lock
from studio_tui.state.lifecycle import transition
from studio_tui.state.schema import status_transitions

ENTITY: Final = "schedule"
CREATED: Final = "schedule_definition.created.observed"
DELETED: Final = "schedule_definition.deleted.observed"


async def lock_definition(connection: AsyncConnection, schedule_id: str) -> None:
    """Hold off other writers of this definition until the transaction ends, also while its row does not exist."""
    await advisory_lock(connection, f"lionagi:schedule-definition:{schedule_id}")


async def is_used_id(connection: AsyncConnection, *schedule_ids: str) -> bool:
    """Whether a schedule of one of these ids has ever been: the id of a deleted one may not be used again."""
    history = status_transitions.c
    ids = history.entity_id.in_(schedule_ids)
    asked = select(literal(1)).where(history.entity_type == ENTITY, ids).limit(1)
    return (await connection.execute(asked)).first() is not None


def definition_change(
    schedule_id: str,
    name: str,
    *,
    previous: str | None,
    status: str,
    reason_code: str,
    summary: str,
    by: ActProvenance,
    now: float,
    details: Mapping[str, object] | None = None,
) -> dict[str, Any]:
    """The line of history of a definition. Raises :class:`ValueError` for a reason that does not fit the status."""
    expected = "created" if previous is None else status
    if not reason_code.startswith(f"schedule_definition.{expected}."):
        raise ValueError(f"{reason_code} does not say that a schedule was {expected}")
    metadata = {**(details or {}), "schedule_name": name, "provenance": provenance(by)}
    return transition(ENTITY, schedule_id, previous, status, reason_code, summary, (), by.origin, by.actor or None, now, metadata)


def provenance(by: ActProvenance) -> dict[str, object]:
    """What is known of the one who acts. The peer refuses an actor or a directory that is not marked as available."""
    cwd = by.cwd if by.cwd and PurePath(by.cwd).is_absolute() else None
    return {
        "origin": by.origin,
        "submitting_cwd": cwd,
        "actor_status": "available" if by.actor else "unavailable",
        "cwd_status": "available" if cwd else "unavailable",
        "assurance": _assurance(by.origin, known=bool(by.actor or cwd)),
        "failure_category": _failure(actor=bool(by.actor), cwd=bool(cwd)),
    }


def _assurance(origin: str, *, known: bool) -> str:
    if origin == "scheduler":
        return "system"
    if not known:
        return "unavailable"
    return "client_reported" if origin == "http" else "client_resolved"


def _failure(*, actor: bool, cwd: bool) -> str | None:
    if not actor and not cwd:
        return "not_provided"
    if not actor:
        return "resolver_unavailable"
    return None if cwd else "cwd_unavailable"
