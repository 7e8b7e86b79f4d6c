"""Ports that read runs and their transcripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from studio_tui.domain.runs import BranchRecord, MessageWindow, RunRecord, TransitionRecord
from studio_tui.domain.schedules import FiringRecord


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Conditions on runs, all of which must hold. ``status`` holds stored statuses; ``None`` inside it is SQL NULL."""

    status: frozenset[str | None] = frozenset()
    kinds: frozenset[str | None] = frozenset()
    project: str | None = None
    project_is_null: bool = False
    tags: tuple[str, ...] = ()
    playbook: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class RunSlice:
    """Runs in order (newest activity first) and whether more follow in the direction asked for."""

    runs: tuple[RunRecord, ...]
    more: bool


class RunReadPort(Protocol):
    """Reads runs. Children of engine runs are never listed (lionagi 0.36)."""

    async def list_runs(self, where: RunFilter, *, after: tuple[float, str] | None, backwards: bool, limit: int) -> RunSlice:
        """A keyset page by ``(updated_at, id)`` descending; ``after`` is the last key of the page before.

        Where that row's time could not be read the key's time is 0, and what is stored under its id counts instead.
        With ``backwards`` the page that stands before ``after`` (or, without it, the oldest page), still newest first.
        """
        ...

    async def get_runs(self, run_ids: Sequence[str]) -> tuple[RunRecord, ...]:
        """The runs of these ids that exist, in no order."""
        ...

    async def find_run_ids(self, prefix: str, *, limit: int) -> tuple[str, ...]:
        """Ids that begin with ``prefix``, taken literally."""
        ...

    async def count_newer(self, where: RunFilter, than: tuple[float, str], *, limit: int) -> int:
        """How many runs stand before this key, counted up to ``limit``."""
        ...

    async def approximate_count(self) -> int:
        """About how many runs there are, from an index and without reading rows."""
        ...

    async def branches(self, run_id: str) -> tuple[BranchRecord, ...]:
        """The branches of a run in the order of their creation."""
        ...

    async def transitions(self, entity_type: str, entity_id: str, *, limit: int) -> tuple[TransitionRecord, ...]:
        """The status history of one entity, oldest first; the newest ``limit`` of it."""
        ...

    async def runs_of_invocation(self, invocation_id: str, *, limit: int) -> tuple[RunRecord, ...]:
        """The runs that one invocation started, oldest first."""
        ...

    async def firing_of_invocation(self, invocation_id: str) -> tuple[FiringRecord, str | None] | None:
        """The firing that made this invocation, and the name of its schedule."""
        ...

    async def invocation_skill(self, invocation_id: str) -> str | None:
        """The ``skill`` text of an invocation."""
        ...


class MessageReadPort(Protocol):
    """Reads transcripts by windows of their stored id lists."""

    async def tail(self, progression_id: str, *, limit: int) -> MessageWindow:
        """The newest messages."""
        ...

    async def before(self, progression_id: str, position: int, *, limit: int) -> MessageWindow:
        """The messages that end at ``position``."""
        ...

    async def after(self, progression_id: str, position: int, *, limit: int) -> MessageWindow:
        """The messages that begin at ``position``; empty when nothing was added."""
        ...

    async def by_ids(self, message_ids: Sequence[str]) -> MessageWindow:
        """These messages in this order (a branch's system message stands outside its progression)."""
        ...


class OverviewReadPort(Protocol):
    """The counts of the header, each from an index."""

    async def count_running(self) -> int:
        """Runs that the store says are running."""
        ...

    async def running_runs(self, *, limit: int) -> tuple[RunRecord, ...]:
        """Runs that the store says are running, for their health."""
        ...

    async def count_failed_since(self, since: float) -> int:
        """Runs that failed since an instant."""
        ...
