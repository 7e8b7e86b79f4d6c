"""What goes wrong: crashes and freezes at named points or at any moment, clocks that are set, stores that do not answer."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Callable

from tests.simulation.console import Console
from tests.simulation.machine import Process
from tests.simulation.points import LAUNCH, POINTS, AtPoint, Often
from tests.simulation.world import World


class Troublemaker:
    """Makes trouble from a seed, one at a time, ``every`` so many seconds on average."""

    def __init__(self, world: World, *, every: float, dense: bool) -> None:
        self._world, self._every = world, every
        self._random = random.Random(f"{world.plan.seed}/trouble")
        self._short = (0.5, 5.0, 20.0, 40.0, 120.0, 600.0) if dense else (5.0, 45.0, 600.0, 7200.0, 40_000.0, 200_000.0)
        self._tasks: set[asyncio.Task[None]] = set()
        self.active = True

    async def run(self) -> None:
        """Until somebody ends it."""
        kinds: tuple[tuple[int, Callable[[], None]], ...] = (
            (6, self._crash),
            (3, self._freeze),
            (2, self._stop),
            (1, self._elsewhere),
            (1, self._hold),
            (3, self._jump),
            (1, self._daemon),
            (2, self._outage),
            (1, self._reboot),
            (2, self._kill_child),
            (1, self._steal),
        )
        weights = [weight for weight, _ in kinds]
        while self.active:
            await asyncio.sleep(self._random.expovariate(1 / self._every))
            if self.active:
                self._random.choices([make for _, make in kinds], weights)[0]()

    async def end(self) -> None:
        """No more trouble; what was going on is set right."""
        self.active = False
        world = self._world
        world.trouble.clear()
        for task in self._tasks:
            task.cancel()
        world.mute.clear()
        world.facts.peer_since = world.facts.held_since = None
        for name, console in world.consoles.items():
            if not console.up:
                await world.open_console(name)
                continue
            console.thaw()
            self._back(console)
            console.willing = True
            console.run(console.host.decide(host=True), "hosts again")
        world.disturbed()

    def often(self, point: str, *, seconds: float) -> None:
        """Freeze consoles at this point again and again, while the other one takes the lease."""
        self._world.trouble.append(Often(point, lambda console: self.freeze(console, seconds=seconds, steal=True)))

    def the_host(self) -> Console:
        """Who hosts now."""
        return next(console for console in self._world.living if console.hosting)

    # --- what there is ------------------------------------------------------------------------------------------------

    def crash(self, console: Console, *, children_die: bool, after: float) -> None:
        """``kill -9`` of a console; another one takes its place after so many seconds."""
        if not console.up:
            return
        self._say(f"{console.name} crashes, its children {'die' if children_die else 'live'}, back in {after:g} s")
        console.crash()
        self._world.disturbed()
        if children_die:
            for process in list(self._world.machine.processes.values()):
                if process.supervisor == console.identity:
                    self._world.machine.kill(process)
        self._later(after, lambda: self._restart(console))

    def freeze(self, console: Console, *, seconds: float, steal: bool) -> None:
        """SIGSTOP, and SIGCONT after so many seconds."""
        if not console.up:
            return
        self._say(f"{console.name} is frozen for {seconds:g} s{', its lease lost' if steal else ''}")
        console.freeze()
        self._world.facts.back[console.identity] = math.inf
        if steal and console.lease.holds():
            self._world.lose_lease()
        self._world.disturbed()
        self._later(seconds, lambda: self._thaw(console, seconds))

    def _crash(self) -> None:
        dies, after = self._random.random() < 0.4, self._random.choice(self._short)
        self._strike(lambda console: self.crash(console, children_die=dies, after=after))

    def _freeze(self) -> None:
        seconds, steal = self._random.choice(self._short), self._random.random() < 0.5
        self._strike(lambda console: self.freeze(console, seconds=seconds, steal=steal))

    def _strike(self, strike: Callable[[Console], None]) -> None:
        """At a named point that is passed next, or right now."""
        if self._random.random() < 0.75:
            point = self._random.choice(LAUNCH if self._random.random() < 0.4 else POINTS)
            self._world.trouble.append(AtPoint(self._world, point, strike))
        elif self._world.living:
            strike(self._random.choice(self._world.living))

    def _stop(self) -> None:
        if self._world.living:
            console = self._random.choice(self._world.living)
            self.stop(console, terminate=self._random.random() < 0.5, after=self._random.choice(self._short))

    def stop(self, console: Console, *, terminate: bool, after: float) -> None:
        """Somebody ends a console, with its firings or without; another one takes its place after so many seconds."""
        self._say(f"{console.name} is told to end{' with its firings' if terminate else ''}, back in {after:g} s")

        self._world.facts.stopping.add(console.name)
        if terminate:
            self._world.facts.terminating.add(console.identity)

        async def stop() -> None:
            await console.host.stop(terminate=terminate)
            self._say(f"{console.name} has ended")
            console.ended()
            await console.db.close()

        self._world.disturbed()
        console.run(stop(), "stop").add_done_callback(lambda done: self._later(after, lambda: self._restart(console)))

    def _hold(self) -> None:
        seconds = self._random.choice(self._short)
        self.hold(seconds=seconds, released=self._random.uniform(0.5, 1.2) * seconds)

    def hold(self, *, seconds: float, released: float) -> None:
        """Somebody holds all firing for so many seconds, and may release it before they are over."""
        self._say(f"somebody holds all firing for {seconds:g} s")
        facts, clock = self._world.facts, self._world.clock
        facts.held_since, facts.held_until = clock.monotonic(), clock.now() + seconds
        self._world.disturbed()
        self._later(released, self._release)

    def _elsewhere(self) -> None:
        if self._world.living:
            console, seconds = self._random.choice(self._world.living), self._random.choice(self._short)
            self._say(f"{console.name} holds for {seconds:g} s")
            console.willing = False
            self._world.disturbed()
            console.run(console.host.decide(host=False), "hold")
            self._later(seconds, lambda: self._on(console))

    def _jump(self) -> None:
        seconds = self._random.choice((-7200.0, -1800.0, -61.0, -3.0, 5.0, 31.0, 95.0, 3600.0, 86_400.0, 259_200.0))
        self._world.clock.shift += seconds
        self._world.facts.clock_set = self._world.clock.monotonic()
        self._say(f"the clock is set by {seconds:+g} s")
        self._world.disturbed()

    def _daemon(self) -> None:
        self.start_daemon(seconds=self._random.choice(self._short))

    def start_daemon(self, *, seconds: float) -> None:
        """The peer's daemon hosts the store for so many seconds."""
        self._say(f"a daemon of the peer runs for {seconds:g} s")
        self._world.facts.peer_since = self._world.clock.monotonic()
        self._world.disturbed()
        self._later(seconds, self._no_daemon)

    def _outage(self) -> None:
        seconds = self._random.choice(self._short[:-1])
        names = [console.name for console in self._world.consoles.values() if self._random.random() < 0.7]
        self._say(f"the store does not answer {' and '.join(names)} for {seconds:g} s")
        self._world.mute.update(names)
        for console in self._named(names):
            self._world.facts.back[console.identity] = math.inf
        self._world.disturbed()
        self._later(seconds, lambda: self._answers(names))

    def _reboot(self) -> None:
        after = self._random.choice(self._short)
        self._say("the machine is started again")
        for console in list(self._world.consoles.values()):
            self.crash(console, children_die=False, after=after)
        for process in list(self._world.machine.processes.values()):
            self._world.machine.kill(process)

    def _kill_child(self) -> None:
        alive: list[Process] = [process for process in self._world.machine.processes.values() if process.alive]
        if alive:
            process = self._random.choice(alive)
            self._say(f"process {process.identity.pid} of {process.run_id} is killed")
            self._world.machine.kill(process)

    def _steal(self) -> None:
        self._say("the file of the lease is removed")
        self._world.lose_lease()
        self._world.disturbed()

    # --- how it ends --------------------------------------------------------------------------------------------------

    def _restart(self, gone: Console) -> None:
        name = gone.name[0]
        if self._world.consoles.get(name) is gone and self.active:
            self._keep(asyncio.get_running_loop().create_task(self._open(name)))

    async def _open(self, name: str) -> None:
        await self._world.open_console(name)

    def _thaw(self, console: Console, seconds: float) -> None:
        self._say(f"{console.name} goes on")
        self._world.facts.frozen[console.name] = (self._world.clock.monotonic(), seconds)
        console.thaw()
        self._back(console)

    def _on(self, console: Console) -> None:
        if console.up:
            self._say(f"{console.name} may host again")
            self._world.disturbed()
            console.willing = True
            console.run(console.host.decide(host=True), "hosts again")

    def _release(self) -> None:
        self._say("nobody holds firing any more")
        self._world.facts.held_since = None
        self._world.disturbed()

    def _no_daemon(self) -> None:
        self._world.facts.peer_since = None
        self._say("the daemon of the peer is gone")
        self._world.disturbed()

    def _answers(self, names: list[str]) -> None:
        self._world.mute.difference_update(names)
        self._say(f"the store answers {' and '.join(names)} again")
        for console in self._named(names):
            self._back(console)

    def _named(self, names: list[str]) -> list[Console]:
        return [console for console in self._world.every_console if console.name in names]

    def _back(self, console: Console) -> None:
        self._world.disturbed()
        if console.name not in self._world.mute and not console.owner.stopped:
            self._world.facts.back[console.identity] = self._world.clock.monotonic()

    def _later(self, seconds: float, act: Callable[[], None]) -> None:
        async def wait() -> None:
            await asyncio.sleep(seconds)
            act()

        self._keep(asyncio.get_running_loop().create_task(wait(), context=self._world.machine.outside.copy()))

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _say(self, words: str) -> None:
        self._world.say("trouble", words)
