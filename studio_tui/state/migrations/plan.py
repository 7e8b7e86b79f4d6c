"""What a migration would do, found out by looking only: its steps, what stands in its way, and the words for both."""

from __future__ import annotations

import math
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from sqlalchemy import delete, func, insert, select, table
from sqlalchemy.engine import Connection

from studio_tui.application.models.state import MigrationPlan, PlannedChange
from studio_tui.state.migrations.backfills import LINK, attention_steps, backfill_steps, ended_at_steps
from studio_tui.state.migrations.columns import column_steps
from studio_tui.state.migrations.objects import constraint_steps, index_steps, table_steps
from studio_tui.state.migrations.obstacles import find_obstacles
from studio_tui.state.migrations.rebuilds import rebuild_steps
from studio_tui.state.migrations.shape import Shape, claim_of, read_meta, read_shape
from studio_tui.state.migrations.steps import Step, Tick
from studio_tui.state.schema import LINEAGE, SCHEMA_VERSION, message_types, schema_meta
from studio_tui.state.schema.seeds import MESSAGE_TYPES

_MEGABYTE: Final = 1_000_000
_LOG: Final = _MEGABYTE
"""Bytes that any upgrade needs; on a disk without them even opening the store to write fails, and leaves it unreadable."""


def steps_of(shape: Shape) -> list[Step]:
    """Everything that makes this store one of lionagi 0.36, in the order in which it is done; none when it is one.

    Rebuilds come first, each with its backup: the first backup is the store as it was found. The place of the history comes
    before its unique index, indexes before the backfills that use them, the long backfill last (the order of the peer).
    """
    rebuilds = rebuild_steps(shape)
    return [
        *rebuilds,
        *column_steps(shape, rebuilt={step.backup_before or "" for step in rebuilds}),
        *table_steps(shape),
        *attention_steps(shape),
        *index_steps(shape),
        *constraint_steps(shape),
        *backfill_steps(shape),
        *_record_steps(shape),
        *ended_at_steps(shape),
    ]


def is_older(shape: Shape) -> bool:
    """Whether it lacks anything that every writable open of a native store does not put right anyway."""
    changes = [change for step in steps_of(shape) for change in step.changes]
    return any(change.kind != "record" and change.name != LINK for change in changes)


def plan_of(connection: Connection, label: str, path: Path | None) -> MigrationPlan:
    """The whole plan for an open store; ``path`` is its file. Reads rows where a rule has to be checked against them."""
    shape = read_shape(connection)
    version = shape.meta.get("version")
    if claim := claim_of(shape.meta):
        return MigrationPlan(label=label, version=version, obstacles=(claim,))
    steps = steps_of(shape)
    backups = tuple(step.backup_before for step in steps if step.backup_before is not None)
    size = _size(path) * len(backups)
    obstacles = find_obstacles(connection, shape)
    if path is not None and steps:
        obstacles += _room(path, size)
    return MigrationPlan(
        label=label,
        version=version,
        changes=tuple(_counted(connection, change) for step in steps for change in step.changes),
        obstacles=tuple(obstacles),
        backups=backups,
        backup_bytes=size,
    )


def _record_steps(shape: Shape) -> list[Step]:
    """What every open writes: the version always, and what is missing of the rest (the peer does the same)."""
    wanted = {"version": SCHEMA_VERSION, "lineage": LINEAGE, "created_at": None}
    changes = [
        PlannedChange(kind="record", table=schema_meta.name, name=key, detail=f"becomes {value or 'the time of the upgrade'}")
        for key, value in wanted.items()
        if key not in shape.meta or (key == "version" and shape.meta[key] != value)
    ]
    if not shape.message_types.issuperset(range(len(MESSAGE_TYPES))):
        detail = "gets the fixed classes that it lacks"
        changes.append(PlannedChange(kind="record", table=message_types.name, name=message_types.name, detail=detail))
    return [Step("noting the version", tuple(changes), _write_record)] if changes else []


def _write_record(connection: Connection, _tick: Tick) -> bool:
    present = read_meta(connection)
    if present.get("version") != SCHEMA_VERSION:
        connection.execute(delete(schema_meta).where(schema_meta.c.key == "version"))
        connection.execute(insert(schema_meta).values(key="version", value=SCHEMA_VERSION))
    for key, value in (("lineage", LINEAGE), ("created_at", str(int(time.time())))):
        if key not in present:
            connection.execute(insert(schema_meta).values(key=key, value=value))
    known = set(connection.scalars(select(message_types.c.type_id)))
    new = [{"type_id": number, "lion_class": name} for number, name in enumerate(MESSAGE_TYPES) if number not in known]
    if new:
        connection.execute(insert(message_types), new)
    return False


def _counted(connection: Connection, change: PlannedChange) -> PlannedChange:
    """A rebuild with the number of its rows; the other changes are not counted."""
    if change.kind != "rebuild":
        return change
    return change.model_copy(update={"rows": connection.scalar(select(func.count()).select_from(table(change.table)))})


def _room(path: Path, copies: int) -> list[str]:
    """Copies stay, and a table that is made anew is there twice for a while; the rest needs little more than a log."""
    free = shutil.disk_usage(path.parent).free
    needed = copies + (_size(path) if copies else _LOG)
    if free >= needed:
        return []
    wanted, left = math.ceil(needed / _MEGABYTE), free // _MEGABYTE
    return [f"The upgrade needs about {wanted:,} MB beside the store, and {left:,} MB are free."]


def _size(path: Path | None) -> int:
    """The size of the file with its log."""
    found = 0
    for name in () if path is None else (path, Path(f"{path}-wal")):
        with suppress(OSError):
            found += name.stat().st_size
    return found
