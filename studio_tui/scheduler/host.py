"""Whether this process fires the schedules of a store: the operator's word, the lease, and the peer's daemon decide."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Literal

from studio_tui.application.errors import Conflict, StudioApplicationError
from studio_tui.application.ports import HostRecord, LeasePort
from studio_tui.domain.durations import format_duration
from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.scheduler.engine import HostSettings, Outside, assemble
from studio_tui.scheduler.loop import LONGEST_SLEEP
from studio_tui.scheduler.missed import Missed
from studio_tui.scheduler.recovery import UNDISPATCHED_GRACE
from studio_tui.scheduler.supervision import Fate, how_it_ended

log = logging.getLogger(__name__)

TAKE_OVER_EVERY: Final = 1.0
"""Seconds between two tries of a process that stands by."""

BEAT_EVERY: Final = 10.0
"""Seconds between two signs of life of the holder."""

RECOVER_EVERY: Final = 30.0
"""Seconds between two looks for firings that lost their host."""

RECOVER_SOON: Final = UNDISPATCHED_GRACE + 1.0
"""Seconds after which a claim that was too young to judge no longer is."""

STALLED_AFTER: Final = 2 * LONGEST_SLEEP + 15.0
"""Seconds without an evaluation after which the loop counts as stalled."""

_PEER_EVERY: Final = 5.0
_PORT_EVERY: Final = 30.0
_DRIFT: Final = 1.0

PEER_HOSTS: Final = "a li studio daemon runs on this store and fires its schedules"
PEER_NEAR: Final = (
    "a li studio daemon answers on this machine; it should work on another store: no socket of it is beside this one"
)
TWO_HOSTS: Final = "TWO HOSTS?"

Mode = Literal["undecided", "off", "standby", "hosting"]


@dataclass(frozen=True, slots=True)
class _Survey:
    """What one look outside found."""

    peer: bool
    held: bool
    holder: HostRecord | None = None


class SchedulerHost:
    """Implements :class:`studio_tui.application.ports.SchedulerHostPort`.

    ``answer`` is the operator's word (``None``: nobody was asked yet); ``obstacle`` answers why the store cannot be hosted now
    (read-only, missing), or ``None``; ``peer_runs`` whether the peer's daemon does and ``peer_near`` whether one answers on its
    port (either may block for a moment); ``hold`` until when the operator holds firing.
    """

    def __init__(
        self,
        outside: Outside,
        *,
        lease: LeasePort,
        settings: HostSettings,
        answer: bool | None,
        obstacle: Callable[[], str | None] = lambda: None,
        peer_runs: Callable[[], bool] = lambda: False,
        peer_near: Callable[[], bool] = lambda: False,
        hold: Callable[[], Awaitable[float | None]] | None = None,
    ) -> None:
        self._clock, self._lease, self._settings = outside.clock, lease, settings
        self._answer, self._obstacle, self._peer_runs, self._peer_near = answer, obstacle, peer_runs, peer_near
        self._hold = hold
        self._until: float | None = None
        self._engine = assemble(
            outside,
            settings,
            may_launch=self._may_launch,
            on_end=lambda: self._engine.firing_ended(),
            held=lambda: self.held_until,
            hosts=self._hosts,
        )
        self._turn = asyncio.Lock()
        self._mode: Mode = "undecided" if answer is None else "off"
        self._reason: str | None = None
        self._holder: HostRecord | None = None
        self._governing: asyncio.Task[None] | None = None
        self._working: tuple[asyncio.Task[None], ...] = ()
        self._over = asyncio.Event()
        self._resting = asyncio.Event()
        self._beaten = self._looked = self._asked = float("-inf")
        self._peer = self._near = False
        self._offset: float | None = None

    # --- what the console sees ----------------------------------------------------------------------------------------

    @property
    def state(self) -> str:
        """One of the words of ``HostState``."""
        if self._mode != "hosting":
            return self._mode
        loop = self._engine.loop
        if loop.missed or self.held_until is not None:
            return "held"
        age = None if loop.last_pass_at is None else self._clock.monotonic() - loop.last_pass_at
        return "stalled" if loop.trouble is not None or (age is not None and age > STALLED_AFTER) else "hosting"

    @property
    def holder(self) -> HostRecord | None:
        """The other process that hosts, when one does."""
        return self._holder

    @property
    def reason(self) -> str | None:
        """Why the state is what it is, in words, where that is not plain."""
        if self._mode != "hosting":
            return self._reason
        loop = self._engine.loop
        if loop.missed:
            return f"missed instants wait for your word: {len(loop.missed)}"
        if self.held_until is not None:
            return f"held by hand until {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(self.held_until))}"
        return loop.trouble or (PEER_NEAR if self._near else None)

    @property
    def held_until(self) -> float | None:
        """When firing goes on that the operator holds, in epoch seconds; ``None`` while nothing holds it."""
        return self._until if self._until is not None and self._until > self._clock.now() else None

    @property
    def rival(self) -> str | None:
        """What speaks for somebody else who fires this store's schedules; this process holds its own firing meanwhile."""
        return self._engine.rivals.evidence

    @property
    def last_pass_at(self) -> float | None:
        """When schedules were last evaluated, on the monotonic clock."""
        return self._engine.loop.last_pass_at

    @property
    def restarts(self) -> int:
        """How often the loop had to be started again."""
        return self._engine.loop.restarts

    @property
    def next_due_at(self) -> float | None:
        """The instant that the loop sleeps to, in epoch seconds."""
        return self._engine.loop.next_due_at if self._mode == "hosting" else None

    @property
    def slots(self) -> int:
        """How many firings may run at once; 0 is no limit."""
        return self._settings.slots

    @property
    def running(self) -> tuple[str, ...]:
        """Ids of the firings that this process launched and that run now."""
        return self._engine.supervisor.running

    @property
    def missed(self) -> Missed:
        """Due instants that passed while nobody hosted and that wait for the operator's word."""
        return self._engine.loop.missed

    # --- what the console asks for ------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Begin to govern: from now on this process hosts or stands by as it may."""
        if self._governing is None:
            self._governing = asyncio.create_task(self._govern(), name="scheduler host")

    async def stop(self, *, terminate: bool = False) -> tuple[Fate, ...]:
        """Claim nothing any more, leave or terminate what was launched, give up the lease; what became of each firing."""
        self._over.set()
        self._engine.closing.set()
        if self._governing is not None:
            await self._governing
        async with self._turn:
            await self._end_work()
            fates = await self._engine.supervisor.stop(terminate=terminate)
            self._lease.release()
            self._mode, self._reason = "off", "this console has stopped hosting"
        return fates

    async def idle(self) -> None:
        """Return once no firing runs under this process."""
        await self._engine.supervisor.idle()

    async def decide(self, *, host: bool) -> None:
        """Answer whether this process may host the scheduler of this store. A yes also forgives evidence of a second host."""
        self._answer = host
        self._engine.rivals.forgive()
        if not self._over.is_set():
            await self._step()

    async def settle_missed(self, *, apply_policies: bool) -> None:
        """Apply each policy to the missed instants, or pass over all of them as skipped."""
        self._engine.loop.settle(apply_policies=apply_policies)
        self._engine.poller.wake()

    async def fire_now(self, schedule: ScheduleRecord) -> str:
        """Launch one firing by hand; the id of its row. Raises the closed errors when a gate refuses it.

        Needs no lease: a firing by hand claims no instant, and this process follows what it launches.
        """
        await self._look_at_hold()
        if (until := self.held_until) is not None:
            left = format_duration(math.ceil(until - self._clock.now()))
            message = f"not fired: all firing is held for another {left}; release the hold first"
            raise Conflict(f"schedule {schedule.name}", expected=None, actual="held", message=message)
        return await self._engine.occurrences.by_hand(schedule.schedule_id)

    def wake(self) -> None:
        """Look again now: a schedule was changed."""
        self._engine.wake()

    def poll_trouble(self, schedule_id: str) -> str | None:
        """What went wrong with the last poll of a schedule on GitHub, in words."""
        return self._engine.poller.trouble(schedule_id) if self._mode == "hosting" else None

    # --- governing ----------------------------------------------------------------------------------------------------

    def _may_launch(self) -> bool:
        return self.held_until is None and self._hosts()

    def _hosts(self) -> bool:
        return self._mode == "hosting" and not self._engine.closing.is_set() and self._lease.holds()

    async def _govern(self) -> None:
        while not self._over.is_set():
            try:
                await self._step()
            except Exception:
                log.exception("the scheduler host failed to look around")
            with suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), TAKE_OVER_EVERY)

    async def _step(self) -> None:
        """Look around once and become what this process should be now."""
        await self._look_at_hold()
        async with self._turn:
            obstacle = self._obstacle()
            if obstacle is not None:
                await self._step_down("off", obstacle)
            elif not self._answer:
                said = self._answer is not None
                await self._step_down("off" if said else "undecided", "not hosted here: the operator said so" if said else None)
            else:
                await self._contend()

    async def _look_at_hold(self) -> None:
        """Read until when firing is held; the loop learns of a change at once."""
        before, self._until = self._until, await self._hold() if self._hold is not None else None
        if before != self._until:
            self.wake()

    async def _contend(self) -> None:
        if (survey := self._glance()) is None:
            survey = await asyncio.to_thread(self._survey)
        if survey.peer:
            await self._step_down("standby", PEER_HOSTS)
        elif self.rival is not None:
            near = "; a li studio daemon answers on this machine" if self._near else ""
            await self._step_down("standby", f"{TWO_HOSTS} {self.rival}{near}; nothing fires from here until you decide")
        elif not survey.held:
            await self._step_down("standby", self._lease.problem or self._quiet_words(survey.holder))
            self._holder = survey.holder
        elif self._mode == "hosting":
            self._keep_time()
            await self._revive()
        else:
            self._begin_work()

    def _glance(self) -> _Survey | None:
        """What a host finds without leaving the loop, between two looks outside: that it holds the lease still."""
        now = self._clock.monotonic()
        looked = self._settings.beside_peer or (now - self._looked < _PEER_EVERY and now - self._asked < _PORT_EVERY)
        alone = looked and not self._peer and self.rival is None and now - self._beaten < BEAT_EVERY
        return _Survey(False, True) if alone and self._hosts() else None

    def _survey(self) -> _Survey:
        """Look for the peer and for the lease; runs in a thread, since a folder on the network may be slow."""
        now = self._clock.monotonic()
        if not self._settings.beside_peer and (self._mode != "hosting" or now - self._looked >= _PEER_EVERY):
            self._looked, self._peer = now, self._peer_runs()
        if self._peer:
            return _Survey(True, False)
        if self.rival is not None:
            return _Survey(False, False)
        if not self._settings.beside_peer and now - self._asked >= _PORT_EVERY:
            self._asked, self._near = now, self._peer_near()
        if self._mode != "hosting":
            held = self._lease.acquire()
            return _Survey(False, held, None if held else self._lease.holder())
        held = self._lease.holds()
        if held and now - self._beaten >= BEAT_EVERY:
            self._beaten = now
            self._lease.beat()
        return _Survey(False, held)

    def _keep_time(self) -> None:
        """Have the loop look again when the wall clock was set or the machine slept: its timer knows nothing of that."""
        offset = self._clock.now() - self._clock.monotonic()
        if self._offset is not None and abs(offset - self._offset) > _DRIFT:
            self.wake()
        self._offset = offset

    async def _revive(self) -> None:
        """Begin again when a cancellation that strayed in here ended the loop."""
        if ended := [how_it_ended(task) for task in self._working if task.done()]:
            log.error("work of the scheduler had ended and is begun again: %s", "; ".join(ended))
            self._engine.loop.restarts += 1
            await self._end_work()
            self._begin_work()

    def _quiet_words(self, holder: HostRecord | None) -> str | None:
        quiet = 0.0 if holder is None else self._clock.now() - holder.seen_at
        if quiet <= 3 * BEAT_EVERY:
            return None
        return f"the host has given no sign of life for {format_duration(round(quiet))} (stopped, or its machine asleep)"

    def _begin_work(self) -> None:
        log.info("hosting the scheduler of this store")
        self._mode, self._reason, self._holder, self._offset = "hosting", None, None, None
        self._engine.rivals.begin()
        self._resting = asyncio.Event()
        self._working = (
            self._engine.loop.start(),
            self._engine.poller.start(),
            asyncio.create_task(self._recover(self._resting), name="scheduler recovery"),
            asyncio.create_task(self._reap(self._resting), name="scheduler reapers"),
            *(errands.start() for errands in self._engine.errands),
        )

    async def _recover(self, resting: asyncio.Event) -> None:
        """Look again and again for firings that lost their host, until the work ends.

        The first time soon after the loop's own look: a host that died in the middle of a launch died just now.
        """
        pause = RECOVER_SOON
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(resting.wait(), pause)
                return
            pause = RECOVER_EVERY
            try:
                await self._engine.recovery.repeat()
                pause = RECOVER_SOON if self._engine.recovery.undecided else RECOVER_EVERY
            except StudioApplicationError as failure:
                log.warning("firings that lost their host were not looked for: %s", failure)
            except Exception:
                log.exception("firings that lost their host were not looked for")

    async def _reap(self, resting: asyncio.Event) -> None:
        """End what nobody will end any more, again and again, until the work ends. Nothing waits for it."""
        reapers, pause = self._engine.reapers, RECOVER_SOON
        if reapers is None:
            await resting.wait()  # a task of the work that ended would be taken for one that died
            return
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(resting.wait(), pause)
                return
            pause = reapers.after.every
            try:
                await reapers.sweep()
            except StudioApplicationError as failure:
                log.warning("what was left open was not looked for: %s", failure)
            except Exception:
                log.exception("what was left open was not looked for")

    async def _step_down(self, mode: Mode, reason: str | None) -> None:
        """Be something else than the host; what was launched here goes on and is followed to its end."""
        was = self._mode
        self._mode, self._reason, self._holder = mode, reason, None
        if was == "hosting":
            log.warning("no longer hosting the scheduler: %s", reason or "the lease is held elsewhere")
            await self._end_work()
            self._lease.release()

    async def _end_work(self) -> None:
        if self._working:
            self._resting.set()
            await self._engine.loop.stop()
            await self._engine.poller.stop()
            await asyncio.gather(*(errands.stop() for errands in self._engine.errands))
            await asyncio.gather(*self._working, return_exceptions=True)
            self._working = ()
