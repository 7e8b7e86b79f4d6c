"""A crash at every named point, once with the children dying and once with them living on."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from tests.simulation.console import Console
from tests.simulation.kinds import DENSE
from tests.simulation.making import Made
from tests.simulation.person import Person
from tests.simulation.play import play
from tests.simulation.points import POINTS
from tests.simulation.simple import STEP, lasting, simple
from tests.simulation.store import Template
from tests.simulation.trouble import Troublemaker
from tests.simulation.world import Trouble, World

_PATIENCE = 75.0
"""Virtual seconds for which one point is waited for, before the next one gets its turn and the host is crashed anyway."""

_RARE = {f"{side} {name}" for name in ("list_fired_since", "get_firing") for side in ("before", "after")}
"""Asked only when an instant is gone that was about to be claimed, or a chain step was left behind."""

_DEADLINE = 60.0
_BATCH_EVERY = 60.0


class Sweep(Trouble):
    """Crashes whoever passes the next of the points that are left: now at once, now after a while of peace."""

    def __init__(self, world: World, maker: Troublemaker, *, children_die: bool) -> None:
        self._world, self._maker, self._children_die = world, maker, children_die
        self._points = [point for point in POINTS if point not in _RARE]
        self._since = 0.0
        self._crashes = 0
        self.struck: list[str] = []

    def at(self, console: Console, point: str) -> None:
        at = self._world.clock.monotonic()
        if not self._points:
            self._world.played_out.set()
        elif point == self._points[0] and at >= self._since:
            self.struck.append(self._points.pop(0))
            self._crash(console, at)
        elif at - self._since > _PATIENCE and console.host.state == "hosting":
            self._points.append(self._points.pop(0))
            self._crash(console, at)

    def _crash(self, console: Console, at: float) -> None:
        self._crashes += 1
        self._since = at + (0.0, 8.0)[self._crashes % 2]
        # Only what outlives its console is stopped by another one.
        dies = self._children_die and self._points[:1] != ["before stop"]
        self._maker.crash(console, children_die=dies, after=5.0)


@pytest.mark.parametrize("children_die", [True, False], ids=["children-die", "children-live"])
def test_a_crash_at_every_point(children_die: bool, template: Template) -> None:
    sweeps: list[Sweep] = []

    async def sweep(world: World, trouble: Troublemaker, person: Person) -> None:
        sweeps.append(Sweep(world, trouble, children_die=children_die))
        world.trouble.append(sweeps[0])
        await _feed(world, person)

    calm = replace(DENSE, trouble_every=1e9, act_every=1e9)
    pace = replace(calm.pace, silence=20.0, reap=10.0)
    changes: dict[str, Any] = {"slots": 3, "ask": False, "lag": 0.0, "deadline": _DEADLINE, "pace": pace}
    played = play(1010, calm, template.copy(), script=sweep, schedules=lambda began: _batch(0, began), **changes)
    assert played.breach is None, played.report
    assert set(sweeps[0].struck) == set(POINTS) - _RARE


async def _feed(world: World, person: Person) -> None:
    """New schedules again and again: most of what the scheduler does is done at the beginning or at the end of one."""
    for number in range(1, 100):
        await asyncio.sleep(_BATCH_EVERY)
        for made in _batch(number, world.clock.now()):
            await person.make(made)


def _batch(number: int, now: float) -> list[Made]:
    """One for each way through the scheduler."""
    interval = {"trigger_type": "interval", "interval_sec": 10, "max_runs": 2, "on_success": STEP}
    cron = {"trigger_type": "cron", "cron_expr": "* * * * *", "max_runs": 3, "overlap_policy": "skip"}
    gates = {"rate_limit": {"max_fires": 1, "window_sec": 60}, "budget_usd": 1.0}
    short, long = lasting(0.5, 8.0, refused=0.05), lasting(70.0, 100.0, recording=1.0)
    ways = (({**interval, "action_project": "none"}, short), ({**interval, **gates}, short), (cron, short), (cron, long))
    return [simple(number * 10 + place, now, behaviour, **values) for place, (values, behaviour) in enumerate(ways)]
