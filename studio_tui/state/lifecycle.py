"""Every status write: the row, its reason, and its line of history, in the caller's transaction (ADR-0057; lionagi 0.36).

A status never changes alone. The history row and the row itself carry the same instant and the same reason; no status follows
another one that it may not follow, except by an override with a name and a reason, which leaves an administrator's event; and
who lost a race writes nothing.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from sqlalchemy import (
    ClauseElement,
    ColumnElement,
    Insert,
    RowMapping,
    Select,
    Table,
    Update,
    bindparam,
    func,
    insert,
    literal,
    select,
    update,
)

from studio_tui.application.errors import Conflict
from studio_tui.application.ports.lifecycle import Override
from studio_tui.domain.reasons import REASON_WORDS
from studio_tui.domain.statuses import VOCABULARIES, Vocabulary
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.queries.admin_events import new_event
from studio_tui.state.schema import (
    dispatch_outbox,
    invocations,
    plays,
    schedule_runs,
    sessions,
    shows,
    status_transitions,
    teams,
)

Evidence = Sequence[Mapping[str, str]]

STATUS_TABLES: Final[Mapping[str, Table]] = MappingProxyType(
    {
        "session": sessions,
        "invocation": invocations,
        "show": shows,
        "play": plays,
        "team": teams,
        "schedule_run": schedule_runs,
        "dispatch": dispatch_outbox,
    }
)
"""The table of each entity with a status column of its own; a schedule's is ``enabled`` (see ``definition_history``)."""
EXTRA_FIELDS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "session": frozenset({"ended_at", "duration_ms", "ended_at_is_approximate", "node_metadata", "current_phase"}),
        "invocation": frozenset({"ended_at"}),
        "play": frozenset({"ended_at"}),
        "schedule_run": frozenset({"ended_at", "error_detail", "exit_code", "leased_by", "lease_expires_at", "lease_attempts"}),
        "dispatch": frozenset({"attempt", "next_attempt_at", "last_error"}),
    }
)
"""What may change together with a status (facts of the peer)."""

_ORDINARY: Final[Mapping[str, Update]] = MappingProxyType(
    {
        table.name: update(table).where(table.c.id == bindparam("this_row"), table.c.status == bindparam("this_status"))
        for table in STATUS_TABLES.values()
    }
)
"""A change of status by what the row must be; what it becomes comes with the parameters."""

_LOOKED_AT: Final = frozenset({"status", "updated_at", "started_at", "ended_at", "ended_at_is_approximate"})
CREATED: Final[Mapping[tuple[str, str], str]] = MappingProxyType(
    {
        ("session", "running"): "run.started.ok",
        ("invocation", "running"): "run.started.ok",
        ("schedule_run", "running"): "run.started.ok",
        ("schedule_run", "queued"): "schedule.queued.created",
        ("schedule_run", "failed"): "run.failed.exception",
        ("schedule_run", "skipped"): "schedule.skipped.precondition",
        ("show", "active"): "show.active.created",
        ("show", "imported"): "legacy.imported",
        ("play", "pending"): "play.pending.created",
    }
)
"""The reason of a first status; a row that is born in another one gets no line of creation."""

NEXT_MOMENT: Final = 2e-6
"""Seconds by which a second line of the same instant is later, so that history sorted by time keeps its order."""


async def write_status(
    connection: AsyncConnection,
    entity: str,
    entity_id: str,
    status: str,
    *,
    reason_code: str,
    summary: str,
    evidence: Evidence,
    source: str,
    actor: str | None,
    now: float,
    expected: Collection[str | None] | None = None,
    expected_updated_at: float | None = None,
    extra: Mapping[str, object] | None = None,
    metadata: Mapping[str, object] | None = None,
    override: Override | None = None,
) -> bool:
    """Give a row a status. False when it is gone or is not as ``expected``: then nothing was written.

    ``expected`` are the statuses that it may have now, ``expected_updated_at`` the exact stored value. The status that it has
    already may be written again and renews the reason. Raises :class:`Conflict` when the status may not follow the one that the
    row has, unless there is an ``override``, and :class:`ValueError` for a status, reason code or extra field that the entity
    does not know.
    """
    vocabulary = _checked(entity, status, reason_code)
    values, table = _checked_extra(entity, extra), STATUS_TABLES[entity]
    if _guard_suffices(vocabulary, expected):
        (previous,) = expected or ()
    else:
        row = (await connection.execute(_present(table, entity_id))).mappings().first()
        if row is None or not _as_expected(row, expected, expected_updated_at):
            return False
        previous = row["status"]
        values = _derived(row, vocabulary, status, values, now)
    forced = not _follows(vocabulary, previous, status, source, override)
    if entity != "dispatch":
        values |= reason_columns(reason_code, summary, evidence)
    if (entity, status) == ("invocation", "cancelled") and override is None:
        values = _first_cancel_stays(table, values, again=previous == status)
    values |= {"status": status, "updated_at": now}
    changed = await connection.execute(*_change(table, entity_id, previous, expected_updated_at, values))
    if changed.rowcount != 1:
        return False
    line = transition(entity, entity_id, previous, status, reason_code, summary, evidence, source, actor, now, metadata or {})
    await record(connection, line)
    if forced and override is not None:
        await connection.execute(_override_event(line, override))
    return True


def reason_columns(reason_code: str, summary: str, evidence: Evidence) -> dict[str, object]:
    """The reason as the row itself carries it."""
    return {
        "status_reason_code": reason_code,
        "status_reason_summary": summary,
        "status_evidence_refs": [dict(item) for item in evidence],
    }


def creation(entity: str, entity_id: str, status: str, *, actor: str, now: float) -> dict[str, Any]:
    """The line of history of a row that is born with ``status``: the row must carry the same reason."""
    return transition(entity, entity_id, None, status, CREATED[entity, status], "", (), "system", actor, now, {})


def transition(
    entity: str,
    entity_id: str,
    previous: str | None,
    status: str,
    reason_code: str,
    summary: str,
    evidence: Evidence,
    source: str,
    actor: str | None,
    now: float,
    metadata: Mapping[str, object],
) -> dict[str, Any]:
    """One row of ``status_transitions``, all columns. Raises :class:`ValueError` as :func:`write_status` does."""
    _checked(entity, status, reason_code)
    return {
        "id": uuid.uuid4().hex,
        "entity_type": entity,
        "entity_id": entity_id,
        "previous_status": previous,
        "status": status,
        "reason_code": reason_code,
        "reason_summary": summary,
        "evidence_refs": [dict(item) for item in evidence],
        "source": source,
        "actor": actor,
        "created_at": now,
        "metadata": dict(metadata),
    }


async def record(connection: AsyncConnection, *lines: Mapping[str, Any]) -> None:
    """Add lines to the history, in one statement."""
    await connection.execute(insert(status_transitions), [dict(line) for line in lines])


def _checked(entity: str, status: str, reason_code: str) -> Vocabulary:
    vocabulary = VOCABULARIES[entity]
    if status not in vocabulary.statuses:
        raise ValueError(f"{entity} knows no status {status}")
    if reason_code not in REASON_WORDS or reason_code.partition(".")[0] not in vocabulary.reason_prefixes:
        raise ValueError(f"{reason_code} is no reason for a {entity}")
    return vocabulary


def _checked_extra(entity: str, extra: Mapping[str, object] | None) -> dict[str, object]:
    values = dict(extra or {})
    if unknown := values.keys() - EXTRA_FIELDS.get(entity, frozenset()):
        raise ValueError(f"not to be written with a status of {entity}: {', '.join(sorted(unknown))}")
    return values


def _guard_suffices(vocabulary: Vocabulary, expected: Collection[str | None] | None) -> bool:
    """Whether no row has to be read first: the one status that it may have is known, and nothing is derived from the rest."""
    return (
        vocabulary.entity != "session" and expected is not None and len(expected) == 1 and not vocabulary.terminal & set(expected)
    )


def _present(table: Table, entity_id: str) -> Select[Any]:
    """What the change looks at, locked until it is made. The rest of a row may be large."""
    columns = (column for column in table.c if column.name in _LOOKED_AT)
    return select(*columns).where(table.c.id == entity_id).with_for_update()


def _follows(vocabulary: Vocabulary, previous: str | None, status: str, source: str, override: Override | None) -> bool:
    """Whether the change is an ordinary one; False when only the override lets it pass. Raises :class:`Conflict`.

    What may be taken out of its end at all (a message that is sent once more) is taken out by an operator only.
    """
    if previous is None or previous == status:
        return True
    if vocabulary.allows(previous, status) and (previous not in vocabulary.terminal or source == "operator"):
        return True
    if override is None:
        ended = previous in vocabulary.terminal
        message = (
            f"it has ended already ({previous}) and stays so" if ended else f"it is {previous}, which {status} cannot follow"
        )
        raise Conflict(vocabulary.entity, expected=None, actual=previous, message=message)
    return False


def _override_event(line: Mapping[str, Any], override: Override) -> Insert:
    """What administrators see of an override (lionagi 0.36)."""
    details = {
        "entity_type": line["entity_type"],
        "previous_status": line["previous_status"],
        "new_status": line["status"],
        "reason_code": line["reason_code"],
        "justification": override.justification,
    }
    event_id, target = uuid.uuid4().hex[:12], line["entity_id"]
    return new_event(
        event_id, "status_transition_override", details, target_id=target, actor=override.actor, now=line["created_at"]
    )


def _as_expected(row: RowMapping, expected: Collection[str | None] | None, updated_at: float | None) -> bool:
    if expected is not None and row["status"] not in expected:
        return False
    return updated_at is None or row["updated_at"] == updated_at


def _change(
    table: Table, entity_id: str, previous: str | None, updated_at: float | None, values: Mapping[str, object]
) -> tuple[Update, dict[str, object]]:
    """The statement and its parameters. The ordinary one is made once: making it takes seven times as long as running it."""
    if previous is None or updated_at is not None or any(isinstance(value, ClauseElement) for value in values.values()):
        return update(table).where(table.c.id == entity_id, *_same(table, previous, updated_at)).values(**values), {}
    return _ORDINARY[table.name], {**values, "this_row": entity_id, "this_status": previous}


def _same(table: Table, previous: str | None, updated_at: float | None) -> list[ColumnElement[bool]]:
    """What the row must still be when it is written: on PostgreSQL another transaction may have come between."""
    status = table.c.status.is_(None) if previous is None else table.c.status == previous
    return [status] if updated_at is None else [status, table.c.updated_at == updated_at]


def _derived(row: RowMapping, vocabulary: Vocabulary, status: str, values: dict[str, object], now: float) -> dict[str, object]:
    """``values`` with the end of a run that ends now, and its length when both ends were measured (lionagi 0.36).

    An end that was only guessed before is measured by this change; one that comes with the change and is marked as a guess
    leaves the length unknown.
    """
    if vocabulary.entity != "session" or status not in vocabulary.terminal or row["status"] == status:
        return values
    ended = values.get("ended_at", row["ended_at"])
    if ended is None or ("ended_at" not in values and row["ended_at_is_approximate"]):
        values = {**values, "ended_at": (ended := now), "ended_at_is_approximate": 0}
    values = {"ended_at": ended, "ended_at_is_approximate": 0, **values}
    if values["ended_at_is_approximate"]:
        return {**values, "duration_ms": None}
    return {"duration_ms": _length(row["started_at"], ended), **values}


def _length(started: object, ended: object) -> float | None:
    """Milliseconds between two instants in epoch seconds."""
    if isinstance(started, int | float) and isinstance(ended, int | float):
        return max(0.0, (ended - started) * 1000.0)
    return None


def _first_cancel_stays(table: Table, values: Mapping[str, object], *, again: bool) -> dict[str, object]:
    """Who cancels an invocation after somebody else keeps the end, and the reason, that the first one gave (lionagi 0.36)."""
    kept = {"ended_at", "status_reason_code", "status_reason_summary", "status_evidence_refs"} if again else {"ended_at"}
    return {
        name: func.coalesce(table.c[name], literal(value, table.c[name].type)) if name in kept else value
        for name, value in values.items()
    }
