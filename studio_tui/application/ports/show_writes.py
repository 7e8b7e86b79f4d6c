"""New rows of shows and plays (ADR-0078 D3; rows of lionagi 0.36). Their statuses change through ``StatusPort``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class NewShow:
    """A show to make. ``created_at`` is in epoch seconds; ``None`` is now."""

    topic: str
    show_dir: str
    status: str = "active"
    status_source: str = "unknown"
    goal: str | None = None
    repo: str | None = None
    base_branch: str | None = None
    integration_branch: str | None = None
    created_at: float | None = None


@dataclass(frozen=True, slots=True)
class NewPlay:
    """A play of a show to make. Times are epoch seconds; ``created_at`` is now unless it is given."""

    show_id: str
    name: str
    status: str = "pending"
    attempt: int = 1
    playbook: str | None = None
    effort: str | None = None
    session_id: str | None = None
    started_at: float | None = None
    ended_at: float | None = None
    exit_code: int | None = None
    worktree: str | None = None
    branch: str | None = None
    merge_sha: str | None = None
    merged_at: float | None = None
    gate_passed: bool | None = None
    gate_feedback: str | None = None
    depends_on: tuple[str, ...] = ()
    sort_order: int = 0
    created_at: float | None = None


class ShowWritePort(Protocol):
    """Makes shows and plays; what is there already under this name is left as it is."""

    async def add_show(self, new: NewShow) -> tuple[str, bool]:
        """Make a show: its id, and whether it was made now. Raises :class:`ValidationFailure` for what no show can be."""
        ...

    async def add_play(self, new: NewPlay) -> tuple[str, bool]:
        """Make a play: its id, and whether it was made now. Raises :class:`ValidationFailure`, and :class:`NotFound` for a show
        or a run that is not there."""
        ...
