"""Who hosts the scheduler of this store, and the operator's word on it."""

from __future__ import annotations

from typing import Final, get_args

from studio_tui.application.guard import guarded
from studio_tui.application.journal import Journal
from studio_tui.application.models.host import HostState, HostStatus, MissedFire
from studio_tui.application.ports import Clock, HostRecord, SchedulerHostPort, SidecarPort

ANSWER_KEY: Final = "scheduler.host"
"""Where the sidecar keeps the answer to "may this home's scheduler run here?"."""

YES: Final = "yes"
NO: Final = "no"


async def kept_answer(sidecar: SidecarPort) -> bool | None:
    """What the operator answered for this home and asked to be remembered; ``None`` when nobody was asked yet."""
    return {YES: True, NO: False}.get(await sidecar.get(ANSWER_KEY) or "")


@guarded
class HostService:
    """The scheduler as screens see it."""

    def __init__(self, *, host: SchedulerHostPort, sidecar: SidecarPort, clock: Clock) -> None:
        self._host = host
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
            missed=tuple(
                MissedFire(
                    schedule_id=schedule.schedule_id,
                    name=schedule.name,
                    due_at=due_at,
                    policy="run_once" if schedule.missed_fire_policy == "run_once" else "skip",
                )
                for schedule, due_at in host.missed
            ),
        )

    async def decide(self, host: bool, remember: bool) -> None:
        """Say whether this process may host the scheduler, and whether that answer is kept for the next start."""
        await self._host.decide(host=host)
        if remember:
            await self._sidecar.put(ANSWER_KEY, YES if host else NO)
        await self._journal.note("scheduler.decide", "scheduler", "done", {"host": host, "remember": remember})

    async def settle_missed(self, apply_policies: bool) -> None:
        """Apply each schedule's policy to its missed instant, or pass over all of them as skipped."""
        names = [schedule.name for schedule, _ in self._host.missed]
        await self._host.settle_missed(apply_policies=apply_policies)
        await self._journal.note("scheduler.missed", "scheduler", "done", {"apply_policies": apply_policies, "schedules": names})


def holder_words(holder: HostRecord | None) -> str | None:
    """Who hosts elsewhere: what it calls itself, its process and its host."""
    if holder is None:
        return None
    host = f" on {holder.identity.host}" if holder.identity.host else ""
    return f"{holder.label} (pid {holder.identity.pid}{host})"


def _state(word: str) -> HostState:
    known: tuple[HostState, ...] = get_args(HostState)
    return next((state for state in known if state == word), "off")
