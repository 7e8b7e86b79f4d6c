"""One console: the real host, loop and stores of the product over ports at which it may crash, freeze or be late."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

from studio_tui.application.errors import StateUnavailable
from studio_tui.application.ports import SchedulerStateService
from studio_tui.application.ports.lifecycle import StatusPort
from studio_tui.application.ports.reaping import ReapingPort
from studio_tui.domain.schedules import Zone
from studio_tui.domain.shows import ShowRecord
from studio_tui.scheduler.engine import HostSettings, Outside
from studio_tui.scheduler.host import SchedulerHost
from studio_tui.scheduler.reaping import ReapAfter, Upkeep
from studio_tui.state.stores.reaping import ReapingStore
from studio_tui.state.stores.scheduling import SchedulingStore
from studio_tui.state.stores.statuses import StatusStore
from tests.simulation.leasing import ProcessLease
from tests.simulation.machine import Launcher, Machine
from tests.simulation.owners import OWNER, Owner
from tests.simulation.store import ACT, Act, Gate, SimDB, WorldOver
from tests.simulation.virtual_time import VirtualLoop, WorldClock


class Surroundings(Protocol):
    """What a console meets at each step that it takes towards the outside."""

    over: bool

    def passes(self, console: Console, point: str) -> None:
        """A named point: the console may be doomed here."""

    def lag(self) -> float:
        """Seconds that the step takes."""

    def answers(self, console: Console) -> bool:
        """Whether the store answers this console now."""

    def hears(self, console: Console, name: str, answer: object, asked: float) -> None:
        """What the store answered to a question that was asked at this reading of the wall clock."""


@dataclass(frozen=True)
class Settings:
    """How the consoles of a world are set up."""

    zone: Zone
    slots: int
    deadline: float
    home: Path
    search_path: str
    ask: bool
    reap_after: ReapAfter


class Console:
    """A console from its start to its end; when it is started again, it is another one."""

    def __init__(
        self,
        name: str,
        around: Surroundings,
        *,
        machine: Machine,
        gate: Gate,
        look: Callable[[], None],
        settings: Settings,
        peer_runs: Callable[[], bool],
        hold: Callable[[], Awaitable[float | None]],
    ) -> None:
        self.name, self._around, self._machine, self._gate = name, around, machine, gate
        self.owner = Owner(name)
        self.context = copy_context()
        self.context.run(OWNER.set, self.owner)
        self.identity = machine.identity()
        self.up = self.willing = True
        self.db = SimDB(settings.home / "state.db", gate, look)
        clock: WorldClock = machine.clock
        store = SchedulingStore(self.db, clock)
        ports = Launcher(machine, self.identity, self.pass_by)
        rows, statuses = _Crossing(self, ReapingStore(self.db)), _Crossing(self, StatusStore(self.db, clock))
        self.lease = ProcessLease(settings.home, machine, self.identity)
        self.host = SchedulerHost(
            Outside(
                state=cast("SchedulerStateService", _Crossing(self, store)),
                processes=ports,
                notes=ports,
                logs=ports,
                clock=clock,
                identity=self.identity,
                upkeep=Upkeep(cast("ReapingPort", rows), cast("StatusPort", statuses), _NoShows()),
            ),
            lease=self.lease,
            settings=HostSettings(
                zone=settings.zone,
                scratch=settings.home / "scratch",
                search_path=settings.search_path,
                python="/nowhere/python",
                slots=settings.slots,
                deadline=lambda kind: settings.deadline,
                allowed=lambda: {"true"},
                ask_about_missed=settings.ask,
                reap_after=settings.reap_after,
            ),
            answer=True,
            peer_runs=peer_runs,
            hold=hold,
        )

    # --- its life -----------------------------------------------------------------------------------------------------

    def run(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """Do something as this process."""
        return asyncio.get_running_loop().create_task(work, name=f"{self.name}: {name}", context=self.context.copy())

    async def start(self) -> None:
        """Open the store and begin to govern."""
        self._machine.consoles.add(self.identity)
        await self.db.open()
        await self.host.start()

    @property
    def hosting(self) -> bool:
        """Whether it says that it fires schedules."""
        return self.up and self.host.state in ("hosting", "held", "stalled")

    def crash(self) -> None:
        """``kill -9``: nothing of it runs any more. A transaction that it is in ends first, as if it had died right after."""
        self.up = False
        self._machine.consoles.discard(self.identity)
        self.lease.die()
        self._doom()

    def freeze(self) -> None:
        """SIGSTOP: it holds what it holds, and does nothing."""
        self._doom()

    def thaw(self) -> None:
        """SIGCONT."""
        if self.up:
            cast("VirtualLoop", asyncio.get_running_loop()).resume(self.owner.proceed())
            self._gate.pass_on()

    def ended(self) -> None:
        """It has stopped of its own accord."""
        self.up = False
        self._machine.consoles.discard(self.identity)
        self.lease.die()

    def _doom(self) -> None:
        if self._gate.held_by(self.owner):
            self.owner.doomed = True
        else:
            self.owner.stop()

    # --- its steps ----------------------------------------------------------------------------------------------------

    async def pass_by(self, point: str) -> None:
        """Go past a named point, where anything may happen to this process."""
        self._end_with_the_world()
        self._around.passes(self, point)
        if self.owner.doomed:
            await self.owner.end()
        if self.owner.stopped:
            await asyncio.sleep(0)  # the rest is set aside until this process goes on, if it ever does
        lag = self._around.lag()
        if lag:
            await asyncio.sleep(lag)
        self._end_with_the_world()

    async def cross(self, name: str, call: Callable[[], Awaitable[Any]], subject: tuple[Any, ...]) -> Any:
        """One question to the store or one change of it."""
        began, asked = asyncio.get_running_loop().time(), self._machine.clock.now()
        await self.pass_by(f"before {name}")
        if not self._around.answers(self):
            raise StateUnavailable("the store does not answer (simulated)", retryable=True)
        ACT.set(Act(self.name, name, subject, began))
        answer = await call()
        self._around.hears(self, name, answer, asked)
        await self.pass_by(f"after {name}")
        return answer

    def _end_with_the_world(self) -> None:
        if self._around.over:
            raise WorldOver


class _Crossing:
    """A part of the real store, with a named point before and after each method."""

    def __init__(self, console: Console, store: object) -> None:
        self._console, self._store = console, store

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        method = getattr(self._store, name)

        async def crossing(*args: Any, **values: Any) -> Any:
            return await self._console.cross(name, lambda: method(*args, **values), (*args, *values.values()))

        return crossing


class _NoShows:
    """Implements ``ShowFilesPort``: there is no show in this world."""

    async def list_shows(self) -> tuple[ShowRecord, ...]:
        return ()

    async def read_show(self, topic: str) -> ShowRecord | None:
        return None
