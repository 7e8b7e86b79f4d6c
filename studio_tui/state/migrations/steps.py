"""The steps of a migration: what each changes, and the work that it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy.engine import Connection

from studio_tui.application.models.state import PlannedChange

Tick = Callable[[int, int], None]
"""Told from within a step: how much of it is done, of how much."""
Work = Callable[[Connection, Tick], bool]
"""Does its part inside one transaction, and tells whether another transaction is needed after it.

It looks for itself whether there is anything left to do: another process may have done it meanwhile.
"""


@dataclass(frozen=True, slots=True)
class Step:
    """One transaction, or several of the same kind. ``backup_before`` names the table for whose rebuild the store is copied."""

    words: str
    changes: tuple[PlannedChange, ...]
    work: Work
    backup_before: str | None = None
