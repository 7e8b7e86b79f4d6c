"""Values that older releases did not keep, worked out once from what is there, exactly as lionagi 0.36 does.

Each has a mark in ``schema_meta`` that is set in the transaction that finishes it, so it can be interrupted and taken up again.
The parent of engine runs has none: it is filled wherever it is missing.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from sqlalchemy import bindparam, exists, func, insert, select, text, update
from sqlalchemy.engine import Connection

from studio_tui.application.models.state import PlannedChange
from studio_tui.state.migrations.columns import is_marked
from studio_tui.state.migrations.shape import Shape
from studio_tui.state.migrations.steps import Step, Tick
from studio_tui.state.schema import (
    attention_disposition_history,
    attention_disposition_revisions,
    attention_dispositions,
    branches,
    engine_runs,
    schedule_runs,
    schema_meta,
    sessions,
)

ENDED_AT_BATCH: Final = 500
"""Rows of one transaction, so that a run that writes meanwhile waits a moment only."""
_ENDED_WITHOUT_END: Final = text(
    "ended_at IS NULL AND status IN ('completed','completed_empty','failed','timed_out','aborted','cancelled')"
)
"""To the letter the condition of ``idx_sessions_terminal_missing_end``, so that the index serves it."""


ATTENTION: Final = "migration.attention_dispositions_backfill"
DISPATCHED: Final = "migration.dispatched_at_backfill"
ROLE_LABEL: Final = "migration.imported_role_label_backfill"
ENDED_AT: Final = "migration.session_ended_at_backfill"
LINK: Final = "parent_session_id"
"""The backfill without a mark."""


def attention_steps(shape: Shape) -> list[Step]:
    """Before the indexes: the order of the history is unique, and it is made here."""
    detail = "decisions about attention get their place in the history and their revision"
    return _once(shape, ATTENTION, attention_disposition_history.name, "ordering the history of attention", detail, _attention)


def backfill_steps(shape: Shape) -> list[Step]:
    """The short ones, after all tables and indexes are there."""
    launched = "running firings count as launched when they fired"
    label = "imported runs lose the agent name that was only a label"
    return [
        *_engine_parents(shape),
        *_once(shape, DISPATCHED, schedule_runs.name, "marking running firings as launched", launched, _dispatched),
        *_once(shape, ROLE_LABEL, sessions.name, "clearing labels of imported runs", label, _role_label),
    ]


def ended_at_steps(shape: Shape) -> list[Step]:
    """The long one, last, in batches."""
    if is_marked(shape, ENDED_AT):
        return []
    detail = "ended runs without an end get one from their last sign of life, marked as approximate"
    change = PlannedChange(kind="backfill", table=sessions.name, name=ENDED_AT, detail=detail)
    return [Step("giving ended runs an end", (change,), EndedAt())]


def _once(shape: Shape, marker: str, table: str, words: str, detail: str, work: Callable[[Connection], None]) -> list[Step]:
    if is_marked(shape, marker):
        return []
    change = PlannedChange(kind="backfill", table=table, name=marker, detail=detail)
    return [Step(words, (change,), partial(_claimed, marker, work))]


def _engine_parents(shape: Shape) -> list[Step]:
    if not shape.unlinked:
        return []
    detail = "engine runs name the run that they belong to"
    change = PlannedChange(kind="backfill", table=engine_runs.name, name=LINK, detail=detail)
    return [Step("linking engine runs to their runs", (change,), _link_engine_runs)]


def _claimed(marker: str, work: Callable[[Connection], None], connection: Connection, _tick: Tick) -> bool:
    """Do the work and set its mark, unless the mark is there: somebody else was first."""
    if not _is_set(connection, marker):
        work(connection)
        _set(connection, marker)
    return False


def _is_set(connection: Connection, marker: str) -> bool:
    return connection.scalar(select(schema_meta.c.value).where(schema_meta.c.key == marker)) is not None


def _set(connection: Connection, marker: str) -> None:
    connection.execute(insert(schema_meta).values(key=marker, value="1"))


def _link_engine_runs(connection: Connection, _tick: Tick) -> bool:
    runs = engine_runs
    known = exists().where(sessions.c.id == runs.c.session_id)
    missing = update(runs).where(runs.c.parent_session_id.is_(None), runs.c.session_id.is_not(None), known)
    connection.execute(missing.values(parent_session_id=runs.c.session_id))
    return False


def _dispatched(connection: Connection) -> None:
    """What ran before launches were noted was launched: without this, the peer would fire it again (facts, invariant 38)."""
    runs = schedule_runs
    running = update(runs).where(runs.c.status == "running", runs.c.dispatched_at.is_(None), runs.c.schedule_id.is_not(None))
    connection.execute(running.values(dispatched_at=runs.c.fired_at))


def _role_label(connection: Connection) -> None:
    imported = sessions.c.source_kind == "imported_codex"
    of_imported = branches.c.session_id.in_(select(sessions.c.id).where(imported))
    connection.execute(update(branches).where(of_imported).values(agent_name=None))
    connection.execute(update(sessions).where(imported).values(agent_name=None))


def _attention(connection: Connection) -> None:
    """Number the history by time, and raise each item's revision to the number of its entries."""
    history = attention_disposition_history
    ordered = select(history.c.id, history.c.item_id, history.c.new_state).order_by(history.c.created_at, history.c.id)
    entries = connection.execute(ordered).all()
    if entries:
        # through negative numbers: where the unique index is there already, no number may be taken twice on the way
        numbering = update(history).where(history.c.id == bindparam("entry")).values(sequence=bindparam("number"))
        connection.execute(numbering, [{"entry": row.id, "number": -number} for number, row in enumerate(entries, start=1)])
        connection.execute(update(history).where(history.c.sequence < 0).values(sequence=-history.c.sequence))
    revisions = Counter(str(row.item_id) for row in entries)
    latest = {str(row.item_id): row.new_state for row in entries}
    active = [str(item) for item in connection.scalars(select(attention_dispositions.c.item_id))]
    if active:
        raising = update(attention_dispositions).where(attention_dispositions.c.item_id == bindparam("item"))
        values = [{"item": item, "number": revisions[item] or 1} for item in active]
        connection.execute(raising.values(revision=bindparam("number")), values)
    reopened = [item for item, state in latest.items() if state == "open" and item not in active]
    _keep_revisions(connection, {item: revisions[item] or 1 for item in (*active, *reopened)})


def _keep_revisions(connection: Connection, revisions: dict[str, int]) -> None:
    """Last revisions outlive their items; one that is kept already stays."""
    kept = set(connection.scalars(select(attention_disposition_revisions.c.item_id)))
    new = [{"item_id": item, "revision": number} for item, number in revisions.items() if item not in kept]
    if new:
        connection.execute(insert(attention_disposition_revisions), new)


class EndedAt:
    """The work of :func:`ended_at_steps`: one batch a transaction; it keeps count only to tell how far it is."""

    def __init__(self) -> None:
        self._done = 0
        self._total: int | None = None

    def __call__(self, connection: Connection, tick: Tick) -> bool:
        """One batch; ``True`` while there may be more. The batch that finds nothing sets the mark."""
        if _is_set(connection, ENDED_AT):
            return False
        if self._total is None:
            self._total = connection.scalar(select(func.count()).select_from(sessions).where(_ENDED_WITHOUT_END)) or 0
        repaired = _repair_batch(connection)
        if not repaired:
            _set(connection, ENDED_AT)
            return False
        self._done += repaired
        tick(self._done, max(self._done, self._total))
        return True


def _repair_batch(connection: Connection) -> int:
    signs = (sessions.c.updated_at, sessions.c.last_message_at, sessions.c.started_at, sessions.c.created_at)
    batch = select(sessions.c.id, *signs).where(_ENDED_WITHOUT_END).order_by(sessions.c.id).limit(ENDED_AT_BATCH)
    rows = connection.execute(batch.with_for_update()).all()  # SQLite has no such clause and needs none
    if rows:
        ends = [{"run": row[0], "end": _last_sign(row[1:])} for row in rows]
        repair = update(sessions).where(sessions.c.id == bindparam("run"), _ENDED_WITHOUT_END)
        # a length that an older writer kept would pass for measured beside an end that nobody measured
        connection.execute(repair.values(ended_at=bindparam("end"), ended_at_is_approximate=1, duration_ms=None), ends)
    return len(rows)


def _last_sign(values: Iterable[object]) -> float:
    """The latest of the times that are known; now, for a row that has none."""
    known = [float(value) for value in values if isinstance(value, int | float)]
    return max(known, default=time.time())
