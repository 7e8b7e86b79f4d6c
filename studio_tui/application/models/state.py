"""What it takes to bring an older store up to date: the plan, how far it is, and what was done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from pydantic import Field

from studio_tui.application.models.common import ContractModel

ChangeKind = Literal["rebuild", "column", "table", "index", "constraint", "backfill", "record"]


class PlannedChange(ContractModel):
    """One difference between the store and the schema of lionagi 0.36, and what is done about it.

    ``rebuild``: the table is made anew with all its rows, after a backup. ``backfill``: values that older releases did not
    keep are worked out once. ``record``: what the store says of itself. ``name`` is the column, index or mark concerned, and
    the table's name where there is no narrower one. ``rows`` is how many rows are written, where that was counted.
    """

    kind: ChangeKind
    table: str
    name: str
    detail: str
    rows: int | None = Field(default=None, ge=0)


class MigrationPlan(ContractModel):
    """What a migration would do now. Nothing was touched to find it out.

    While there is an obstacle, nothing is changed at all; each is a sentence for people. ``backups`` are the tables before
    whose rebuild the whole store is copied beside itself, and ``backup_bytes`` is the room that these copies take.
    """

    label: str
    version: str | None = None
    changes: tuple[PlannedChange, ...] = ()
    obstacles: tuple[str, ...] = ()
    backups: tuple[str, ...] = ()
    backup_bytes: int = Field(default=0, ge=0)


class MigrationProgress(ContractModel):
    """How far a migration is: what is being done, which steps are behind it, and the part of this step that is done.

    ``part_total`` is 0 when the size of the step is not known; units are rows, or pages of a copy.
    """

    step: str
    done: int = Field(ge=0)
    total: int = Field(ge=0)
    part_done: int = Field(default=0, ge=0)
    part_total: int = Field(default=0, ge=0)


class MigrationReport(ContractModel):
    """What was done, and the files that hold the store as it was before each rebuild."""

    label: str
    changes: tuple[PlannedChange, ...] = ()
    backups: tuple[str, ...] = ()


ProgressListener = Callable[[MigrationProgress], None]
"""Called on the event loop, often; it must be quick."""
