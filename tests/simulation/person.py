"""The person at the console: makes schedules, turns them on and off, edits them, fires by hand, answers what was missed."""

from __future__ import annotations

import asyncio
import json
import random
from typing import Any

from studio_tui.application.errors import Conflict, StudioApplicationError
from studio_tui.application.ports import ActProvenance, NewSchedule
from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.state.stores.schedule_writes import ScheduleWriteStore
from tests.simulation.console import Console
from tests.simulation.making import Made, Maker
from tests.simulation.store import ACT, Act
from tests.simulation.world import World

_BY = ActProvenance("tui", "person")


class Person:
    """Acts from a seed, once ``every`` so many seconds on average."""

    def __init__(self, world: World, maker: Maker, *, every: float, until: float) -> None:
        self._world, self._maker, self._every, self._until = world, maker, every, until
        self._random = random.Random(f"{world.plan.seed}/person")
        self._writes = ScheduleWriteStore(world.db)
        self._values: dict[str, dict[str, Any]] = {}
        self.active = True

    async def run(self) -> None:
        """Until somebody ends it."""
        acts = (
            *(self._fire, self._fire_everywhere, self._fire_everywhere, self._switch, self._switch),
            *(self._edit_policies, self._edit_trigger, self._make),
        )
        while self.active:
            await asyncio.sleep(self._random.expovariate(1 / self._every))
            if self.active:
                self._answer()
                await self._random.choice(acts)()

    async def make(self, made: Made) -> None:
        """Store a schedule."""
        world, schedule_id = self._world, str(made.values["id"])
        world.behaviours[schedule_id] = made.behaviour
        if made.broken:
            world.facts.broken.add(schedule_id)
        self._act("makes a schedule", schedule_id)
        self._values[schedule_id] = made.values
        await self._writes.create_schedule(NewSchedule(made.values), now=world.clock.now(), by=_BY)

    async def rest(self) -> None:
        """Turn everything off, so that the world comes to rest."""
        self.active = False
        for schedule in list(self._world.facts.book.schedules.values()):
            if schedule.enabled:
                await self._turn(schedule, on=False)
        self._answer(always=True)

    async def _make(self) -> None:
        if len(self._world.facts.book.schedules) < 14:
            await self.make(self._maker.schedule(self._world.clock.now(), self._until))
            self._wake()

    async def _switch(self) -> None:
        schedule = self._any()
        await self._turn(schedule, on=not schedule.enabled)
        self._wake()

    async def _turn(self, schedule: ScheduleRecord, *, on: bool) -> None:
        world, now = self._world, self._world.clock.now()
        at = schedule.next_fire_at
        if on and schedule.schedule_id not in world.facts.broken:
            at = self._maker.first({**self._values[schedule.schedule_id], "next_fire_at": at}, now)
        if on and at is None:
            return  # refused by the operation: nothing is left to fire
        self._act(f"turns {schedule.name} {'on' if on else 'off'}", schedule.schedule_id)
        code = "enabled.observed" if on else "disabled.manual"
        await self._writes.set_enabled(
            schedule.schedule_id,
            enabled=on,
            next_fire_at=at,
            expected_updated_at=None,
            reason_code=f"schedule_definition.{code}",
            reason="as I like",
            now=now,
            by=_BY,
        )

    async def _edit_policies(self) -> None:
        await self._store(self._any(), self._maker.policies(), "edits policies of")

    async def _edit_trigger(self) -> None:
        schedule = self._any()
        if schedule.schedule_id in self._world.facts.broken:
            return
        trigger = self._maker.trigger(self._world.clock.now(), self._until)
        merged = {**self._values[schedule.schedule_id], **trigger}
        merged["next_fire_at"] = self._maker.armed({**merged, "created_at": self._world.clock.now()}, self._world.clock.now())
        self._values[schedule.schedule_id] = merged
        await self._store(schedule, {**trigger, "next_fire_at": merged["next_fire_at"]}, "edits the trigger of")

    async def _store(self, schedule: ScheduleRecord, values: dict[str, Any], words: str) -> None:
        self._act(f"{words} {schedule.name} ({json.dumps(values, default=str)})", schedule.schedule_id)
        seen = schedule.updated_at or 0.0
        try:
            await self._writes.patch_schedule(schedule.schedule_id, values, expected_updated_at=seen, now=self._world.clock.now())
        except Conflict as refused:
            self._world.say("person", f"is told: {refused}")
        self._wake()

    async def _fire(self) -> None:
        if not self._world.living:
            return
        console, schedule = self._random.choice(self._world.living), self._any()
        console.run(self._fires(console, schedule), f"fire {schedule.name}")

    async def _fire_everywhere(self) -> None:
        """Two people have the same thought at two consoles."""
        schedule = self._any()
        for console in self._world.living:
            console.run(self._fires(console, schedule), f"fire {schedule.name}")

    async def _fires(self, console: Console, schedule: ScheduleRecord) -> None:
        self._world.say("person", f"fires {schedule.name} by hand at {console.name}")
        try:
            run_id = await console.host.fire_now(schedule)
        except StudioApplicationError as refused:
            self._world.say("person", f"is told: {refused}")
        else:
            self._world.say("person", f"has fired {run_id}")

    def _answer(self, *, always: bool = False) -> None:
        """Say what is to become of missed instants, where a console asks."""
        for console in self._world.living:
            if console.host.missed and (always or self._random.random() < 0.7):
                apply = self._random.random() < 0.7
                self._world.facts.passed_over |= not apply
                self._world.say("person", f"{'applies the policies' if apply else 'passes over'} at {console.name}")
                console.run(console.host.settle_missed(apply_policies=apply), "answer")
                self._world.disturbed()

    def _any(self) -> ScheduleRecord:
        return self._random.choice(list(self._world.facts.book.schedules.values()))

    def _wake(self) -> None:
        """Most changes are made through the console that hosts; some come from elsewhere and are found later."""
        for console in self._world.living:
            if self._random.random() < 0.7:
                console.run(_woken(console), "wake")

    def _act(self, words: str, schedule_id: str) -> None:
        self._world.facts.edited(schedule_id, self._world.clock.monotonic())
        ACT.set(Act("person", words))


async def _woken(console: Console) -> None:
    console.host.wake()
