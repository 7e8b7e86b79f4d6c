"""What polls of GitHub need of the store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from studio_tui.domain.schedules import ScheduleRecord


@dataclass(frozen=True, slots=True)
class CursorMove:
    """A poll's bookmark goes on from what was seen to behind an event. Whoever moved it meanwhile wins."""

    seen: str | None
    behind: str


@dataclass(frozen=True, slots=True)
class RefusedEvent:
    """An event whose launch was refused for the ``count``-th time in a row; once it is ``passed`` the bookmark goes on."""

    cursor: CursorMove
    count: int
    passed: bool


class PollStatePort(Protocol):
    """Reads which polls are due and writes what came of them."""

    async def list_polls(self, until: float, *, limit: int) -> tuple[ScheduleRecord, ...]:
        """Enabled schedules on GitHub that are to be asked by ``until`` (epoch seconds) or were never asked, earliest first."""
        ...

    async def note_poll(
        self, schedule: ScheduleRecord, status: Literal["ok", "auth_error", "error"], *, next_poll_at: float, now: float
    ) -> bool:
        """Stamp the health columns and when to ask next; False if the stored instant is not that of ``schedule`` any more."""
        ...

    async def move_cursor(self, schedule_id: str, move: CursorMove, *, now: float) -> bool:
        """Pass over events that do not fire; False if the bookmark is not the one that was seen."""
        ...
