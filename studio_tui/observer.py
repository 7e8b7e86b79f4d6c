"""The scheduler as a process sees it that hosts nothing: who does, and a firing by hand."""

from __future__ import annotations

from collections.abc import Callable

from studio_tui.application.ports import HostRecord, LeasePort
from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.scheduler.host import PEER_HOSTS, SchedulerHost


class ObservedHost:
    """Implements :class:`studio_tui.application.ports.SchedulerHostPort` around a host that is never started.

    ``answer`` is what the operator said about this home and ``held_until`` until when firing is held; ``obstacle`` and
    ``peer_runs`` are those of the host.
    """

    last_pass_at: float | None = None
    restarts = 0
    next_due_at: float | None = None
    missed: tuple[tuple[ScheduleRecord, float], ...] = ()
    rival: str | None = None

    def __init__(
        self,
        host: SchedulerHost,
        lease: LeasePort,
        *,
        answer: bool | None,
        obstacle: Callable[[], str | None],
        peer_runs: Callable[[], bool],
        held_until: float | None = None,
    ) -> None:
        self.held_until = held_until
        self._host, self._lease, self._answer = host, lease, answer
        self._obstacle, self._peer_runs = obstacle, peer_runs

    @property
    def state(self) -> str:
        """``standby`` when somebody hosts, ``held`` when that is held; ``undecided`` when nobody has said whether this home may
        be hosted, else ``off``."""
        if self.holder is not None and self.held_until is not None:
            return "held"
        if self.holder is not None or self._peer_runs():
            return "standby"
        return "undecided" if self._answer is None and self._obstacle() is None else "off"

    @property
    def holder(self) -> HostRecord | None:
        """The process that hosts."""
        return self._lease.holder()

    @property
    def reason(self) -> str | None:
        """Why nobody hosts, that the peer's daemon does, or that firing is held."""
        if self.holder is not None:
            return "held by hand" if self.held_until is not None else None
        if self._peer_runs():
            return PEER_HOSTS
        if (obstacle := self._obstacle()) is not None:
            return obstacle
        return "not hosted here: the operator said so" if self._answer is False else "no process hosts it now"

    @property
    def slots(self) -> int:
        """How many firings may run at once; 0 is no limit."""
        return self._host.slots

    @property
    def running(self) -> tuple[str, ...]:
        """Ids of the firings by hand that run under this process."""
        return self._host.running

    async def decide(self, *, host: bool) -> None:
        """Take note; this process hosts nothing either way."""
        self._answer = host

    async def settle_missed(self, *, apply_policies: bool) -> None:
        """Nothing waits here."""

    def poll_trouble(self, schedule_id: str) -> str | None:
        """Nothing is known here of the polls of another process."""
        return None

    async def fire_now(self, schedule: ScheduleRecord) -> str:
        """Launch one firing by hand and follow it."""
        return await self._host.fire_now(schedule)

    def wake(self) -> None:
        """The host notices changes of the store by itself."""
