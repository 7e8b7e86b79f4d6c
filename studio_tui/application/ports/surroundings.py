"""The clock, the store as a whole, what changes, and our own small store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from studio_tui.application.models.state import MigrationPlan, MigrationReport, ProgressListener


class Clock(Protocol):
    """Reads the time."""

    def now(self) -> float:
        """Epoch seconds."""
        ...

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back."""
        ...


@dataclass(frozen=True, slots=True)
class StoreCondition:
    """What the store is and what may be done with it; see ``StoreStatus`` for the modes, and for ``waiting``."""

    mode: Literal["ready", "read_only", "missing", "unavailable"]
    label: str
    reason: str | None = None
    version: str | None = None
    waiting: bool = False


class StorePort(Protocol):
    """The store as a whole."""

    def condition(self) -> StoreCondition:
        """How it stands now."""
        ...

    async def create(self) -> None:
        """Make a new, complete store where none is. Raises :class:`Conflict` when there is one."""
        ...

    async def plan(self) -> MigrationPlan:
        """What a migration would change, found out by looking only. Raises :class:`StateUnavailable` when nothing can be read."""
        ...

    async def migrate(self, listen: ProgressListener | None) -> MigrationReport:
        """Bring an older store up to date and open it again, step by step.

        Cancelling the caller stops it between two steps; what is done stays, and the rest can be done later. Raises
        :class:`PermissionDenied` for a store that is not ours to write, :class:`Conflict` when something stands in the way
        (then nothing was changed), :class:`StateUnavailable` when a step fails (then that step was taken back).
        """
        ...


class ChangeFeed(Protocol):
    """Tells that somebody changed something; never what."""

    def subscribe(self) -> AsyncIterator[frozenset[str]]:
        """Sets of changed topics (``store``, ``definitions``, ``shows``): at most four a second, none while nothing changes."""
        ...

    def nudge(self, topic: str) -> None:
        """Say it ourselves (a refresh asked for by hand)."""
        ...


class SidecarPort(Protocol):
    """Our own small store beside the home: answers, journal."""

    async def get(self, key: str) -> str | None:
        """A kept answer."""
        ...

    async def put(self, key: str, value: str) -> None:
        """Keep an answer."""
        ...

    async def journal(self, *, at: float, act: str, target: str, result: str, detail: Mapping[str, object]) -> None:
        """Note what was done."""
        ...
