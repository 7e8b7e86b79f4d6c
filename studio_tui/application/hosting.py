"""Who hosts the scheduler of this store, and the operator's word on it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, get_args

from studio_tui.application.errors import ValidationFailure
from studio_tui.application.guard import guarded
from studio_tui.application.hold import Hold
from studio_tui.application.journal import Journal
from studio_tui.application.models.host import HoldResult, HostState, HostStatus, MissedFire
from studio_tui.application.ports import Clock, HostRecord, SchedulerHostPort, SidecarPort
from studio_tui.domain.durations import MAX_DURATION, parse_duration
from studio_tui.domain.schedules import ScheduleRecord

ANSWER_KEY: Final = "scheduler.host"
"""Where the sidecar keeps the answer to "may this home's scheduler run here?"."""

DUE_LISTED: Final = 50
"""How many schedules a hold names that will come due."""

Due = Callable[[float], Awaitable[Sequence[ScheduleRecord]]]
"""The enabled schedules that come due until an instant, the earliest first."""

YES: Final = "yes"
NO: Final = "no"


async def kept_answer(sidecar: SidecarPort) -> bool | None:
    """What the operator answered for this home and asked to be remembered; ``None`` when nobody was asked yet."""
    return {YES: True, NO: False}.get(await sidecar.get(ANSWER_KEY) or "")


async def _nothing_due(until: float) -> Sequence[ScheduleRecord]:
    return ()


@guarded
class HostService:
    """The scheduler as screens see it."""

    def __init__(self, *, host: SchedulerHostPort, sidecar: SidecarPort, clock: Clock, due: Due = _nothing_due) -> None:
        self._host = host
        self._due = due
        self._hold = Hold(sidecar, clock)
        self._sidecar = sidecar
        self._journal = Journal(sidecar, clock)
        self._clock = clock

    def status(self) -> HostStatus:
        """How it stands now; asks nobody."""
        host = self._host
        last = host.last_pass_at
        return HostStatus(
            state=_state(host.state),
            holder=holder_words(host.holder),
            reason=host.reason,
            pass_age=None if last is None else max(0.0, self._clock.monotonic() - last),
            restarts=host.restarts,
            next_due_at=host.next_due_at,
            running=len(host.running),
            slots=host.slots,
            missed=tuple(_missed(schedule, due_at) for schedule, due_at in host.missed),
            held_until=host.held_until,
            rival=host.rival,
        )

    async def decide(self, host: bool, remember: bool) -> None:
        """Say whether this process may host the scheduler, and whether that answer is kept for the next start."""
        await self._host.decide(host=host)
        if remember:
            await self._sidecar.put(ANSWER_KEY, YES if host else NO)
        await self._journal.note("scheduler.decide", "scheduler", "done", {"host": host, "remember": remember})

    async def hold(self, seconds: float) -> HoldResult:
        """Fire nothing for so long, under whichever console hosts; what will come due meanwhile.

        Raises :class:`ValidationFailure` for a length that is none.
        """
        if not 0 < seconds <= MAX_DURATION:
            raise ValidationFailure.of("duration", "out_of_range", "must be above 0 and at most a hundred years")
        until = self._clock.now() + seconds
        await self._hold.put(until)
        await self._journal.note("scheduler.hold", "scheduler", "done", {"until": until})
        found = [(schedule, at) for schedule in await self._due(until) if (at := schedule.next_fire_at) is not None]
        self._host.wake()
        listed = tuple(_missed(schedule, at) for schedule, at in found[:DUE_LISTED])
        return HoldResult(until=until, due=listed, more=len(found) - len(listed))

    async def hold_for(self, duration: str) -> HoldResult:
        """As :meth:`hold`, for a length as people write it (``30m``). Raises :class:`ValidationFailure` when it is none."""
        try:
            seconds = parse_duration(duration)
        except ValueError as fault:
            raise ValidationFailure.of("duration", "invalid", str(fault)) from None
        return await self.hold(seconds)

    async def release(self) -> HoldResult:
        """Hold no longer; what passed meanwhile is settled as each schedule's missed-fire policy says."""
        await self._hold.put(None)
        await self._journal.note("scheduler.release", "scheduler", "done")
        self._host.wake()
        return HoldResult()

    async def settle_missed(self, apply_policies: bool) -> None:
        """Apply each schedule's policy to its missed instant, or pass over all of them as skipped."""
        names = [schedule.name for schedule, _ in self._host.missed]
        await self._host.settle_missed(apply_policies=apply_policies)
        await self._journal.note("scheduler.missed", "scheduler", "done", {"apply_policies": apply_policies, "schedules": names})


def _missed(schedule: ScheduleRecord, due_at: float) -> MissedFire:
    return MissedFire(
        schedule_id=schedule.schedule_id,
        name=schedule.name,
        due_at=due_at,
        policy="run_once" if schedule.missed_fire_policy == "run_once" else "skip",
    )


def holder_words(holder: HostRecord | None) -> str | None:
    """Who hosts elsewhere: what it calls itself, its process and its host."""
    if holder is None:
        return None
    host = f" on {holder.identity.host}" if holder.identity.host else ""
    return f"{holder.label} (pid {holder.identity.pid}{host})"


def _state(word: str) -> HostState:
    known: tuple[HostState, ...] = get_args(HostState)
    return next((state for state in known if state == word), "off")
