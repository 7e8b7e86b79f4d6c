"""Play one world from its seed to its end, or to the first invariant that does not hold."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from studio_tui.domain.chains import MAX_CHAIN_DEPTH
from tests.simulation.driver import answer_in_the_loop
from tests.simulation.kinds import Kind, plan_of
from tests.simulation.making import Made, Maker
from tests.simulation.person import Person
from tests.simulation.product import number_ids, set_pace
from tests.simulation.rules import Breach
from tests.simulation.store import SimDB
from tests.simulation.trouble import Troublemaker
from tests.simulation.virtual_time import VirtualLoop
from tests.simulation.watching import Firing
from tests.simulation.world import Ear, Plan, World

Script = Callable[[World, Troublemaker, Person], Coroutine[Any, Any, None]]
"""What is planned for a world, from its beginning on."""


async def nothing_planned(world: World, trouble: Troublemaker, person: Person) -> None:
    """Only what the seed brings."""


@dataclass(frozen=True)
class Played:
    """How a world went."""

    seed: int
    kind: Kind
    seconds: float
    digest: str
    rows: tuple[Firing, ...]
    passed: dict[str, int]
    breach: Breach | None
    report: str


def play(
    seed: int,
    kind: Kind,
    folder: Path,
    *,
    days: float | None = None,
    threads: bool = False,
    prepare: Callable[[pytest.MonkeyPatch], None] = lambda patch: None,
    script: Script = nothing_planned,
    schedules: Callable[[float], list[Made]] | None = None,
    policies: Mapping[str, Any] = MappingProxyType({}),
    **changes: Any,
) -> Played:
    """Play a world in ``folder``, which holds an empty store.

    ``prepare`` may break the product first, ``script`` plan some trouble; ``schedules`` makes other ones than the seed does, for
    a world that begins at the instant given; ``policies`` are those of all schedules, ``changes`` are made to the plan.
    """
    plan = replace(plan_of(seed, kind, days), **changes)
    with pytest.MonkeyPatch.context() as patch:
        answer_in_the_loop(patch, threads=threads)
        set_pace(patch, plan.pace)
        number_ids(patch, seed)
        prepare(patch)
        loop = VirtualLoop()
        try:
            return loop.run_until_complete(_Play(plan, kind, loop, folder, script, schedules, policies).run())
        finally:
            loop.close()


class _Play:
    def __init__(
        self,
        plan: Plan,
        kind: Kind,
        loop: VirtualLoop,
        folder: Path,
        script: Script,
        schedules: Callable[[float], list[Made]] | None,
        policies: Mapping[str, Any],
    ) -> None:
        self._plan, self._kind, self._loop, self._script = plan, kind, loop, script
        self._world = World(plan, loop, folder)
        self._ear = Ear(self._world)
        draw = random.Random(f"{plan.seed}/making")
        maker = Maker(draw, zone=plan.zone, dense=kind.dense, fixed=policies)
        until = plan.began + plan.seconds
        self._person = Person(self._world, maker, every=kind.act_every, until=until)
        self._trouble = Troublemaker(self._world, every=kind.trouble_every, dense=kind.dense)
        count = draw.randint(*kind.schedules)
        drawn = [maker.schedule(plan.began, until) for _ in range(count)]
        self._made = drawn if schedules is None else schedules(plan.began)
        loop.set_exception_handler(self._unhandled)

    async def run(self) -> Played:
        logger = logging.getLogger("studio_tui")
        logger.addHandler(self._ear)
        world = self._world
        opened: list[SimDB] = [world.db]
        try:
            await self._live()
        finally:
            logger.removeHandler(self._ear)
            self._loop.set_exception_handler(lambda loop, context: None)
            digest = world.digest()
            await self._clear_up(opened)
        if world.failure is not None:
            raise AssertionError(self._report()) from world.failure
        rows = tuple(world.facts.book.firings.values())
        seed, kind, seconds = self._plan.seed, self._kind, self._loop.time()
        return Played(seed, kind, seconds, digest, rows, dict(world.passed), world.breach, self._report())

    async def _live(self) -> None:
        world = self._world
        await world.db.open()
        for made in self._made:
            await self._person.make(made)
        await world.open_console("A")
        await world.open_console("B")
        script = self._script(world, self._trouble, self._person)
        *acting, _ = [asyncio.create_task(work) for work in (self._person.run(), self._trouble.run(), script, self._inspect())]
        await self._until(self._plan.seconds, world.played_out)
        if world.finished.is_set():
            return
        for task in acting:
            task.cancel()
        world.say("world", "comes to rest")
        await self._trouble.end()
        await self._person.rest()
        for _ in range(MAX_CHAIN_DEPTH + 1):  # a chain may go on for so many steps
            await self._until(self._plan.deadline + 4 * self._plan.pace.notice)
            if not world.facts.book.running or world.finished.is_set():
                break
        if not world.finished.is_set():
            world.judge(breach for rule in world.rules for breach in rule.at_end(world.observer, world.facts))

    async def _until(self, seconds: float, *ends: asyncio.Event) -> None:
        waiting = [asyncio.create_task(end.wait()) for end in (self._world.finished, *ends)]
        await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        for wait in waiting:
            wait.cancel()

    async def _inspect(self) -> None:
        every = max(5.0, self._plan.pace.notice / 6)
        while True:
            await asyncio.sleep(every)
            try:
                self._world.inspect()
            except Exception as failure:
                self._world.fail(failure)

    async def _clear_up(self, opened: list[SimDB]) -> None:
        """What is left of every process ends now, and every connection is closed."""
        self._world.over = True
        for console in self._world.every_console:
            console.db.over = True
            self._loop.resume(console.owner.proceed())
            console.lease.die()
            opened.append(console.db)
        for _ in range(3):
            await asyncio.sleep(0)  # each task begins at least
        me = asyncio.current_task()
        while rest := [task for task in asyncio.all_tasks() if task is not me]:
            for task in rest:
                task.cancel()
            await asyncio.wait(rest, timeout=1.0)
        for db in opened:
            await db.close()
        self._world.observer.close()

    def _unhandled(self, _loop: object, context: dict[str, Any]) -> None:
        failure = context.get("exception")
        self._world.fail(failure if failure is not None else RuntimeError(str(context.get("message"))))

    def _report(self) -> str:
        world = self._world
        events = "\n".join(world.events)
        return (
            f"{world.breach or world.failure!r}\nworld {self._kind.name}, --sim-seed {self._plan.seed}, {self._plan}\n"
            f"the last {len(world.events)} events:\n{events}"
        )
