"""Upkeep of the store, and the trail of what was done to it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from studio_tui.application.models.common import ContractModel, Epoch, PageQuery, Seconds

CheckpointMode = Literal["PASSIVE", "FULL", "RESTART", "TRUNCATE"]


class CheckpointStore(ContractModel):
    """Move the log into the file. ``PASSIVE`` waits for nobody."""

    mode: CheckpointMode = "PASSIVE"


class CheckpointReport(ContractModel):
    """``busy``: others kept it from being complete. Pages are ``None`` where there is no log (a store on a server)."""

    mode: CheckpointMode
    busy: bool
    log_pages: int | None = None
    moved_pages: int | None = None


class VacuumReport(ContractModel):
    """The store was rewritten; sizes are ``None`` where they cannot be known (a store on a server)."""

    duration: Seconds
    bytes_before: int | None = None
    bytes_after: int | None = None


class IntegrityReport(ContractModel):
    """What a check of the whole store found. ``sound`` is ``None`` for a store on a server, which looks after that itself.

    ``complete`` is false when there is more than was listed.
    """

    sound: bool | None
    findings: tuple[str, ...] = ()
    complete: bool = True


class AdminEventQuery(PageQuery):
    """What was done to the store, the newest first."""

    action: str | None = None
    target_id: str | None = None


class AdminEvent(ContractModel):
    """One act. ``target_id`` is ``None`` for acts on many things, which ``details`` then names."""

    event_id: str
    action: str
    target_id: str | None = None
    actor: str
    created_at: Epoch | None = None
    details: dict[str, object] = Field(default_factory=dict)
    problems: tuple[str, ...] = ()
