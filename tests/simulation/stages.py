"""Worlds in which a certain fault must show soon."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

import pytest

from tests.simulation.clock_changes import NEW_YORK_AUTUMN, play_change
from tests.simulation.kinds import DENSE
from tests.simulation.making import Behaviour
from tests.simulation.person import Person
from tests.simulation.play import Played, play
from tests.simulation.simple import simple
from tests.simulation.trouble import Troublemaker
from tests.simulation.world import World

FREE = MappingProxyType(
    {"overlap_policy": "allow", "max_runs": None, "budget_usd": None, "budget_tokens": None, "rate_limit": None}
)
"""Policies that hold nothing back."""

_NEVER = 1e9


class Stage(Protocol):
    """Plays a world of this seed with a product that was prepared."""

    def __call__(self, seed: int, folder: Path, prepare: Callable[[pytest.MonkeyPatch], None]) -> Played: ...


def any_hours(seed: int, folder: Path, prepare: Callable[[pytest.MonkeyPatch], None]) -> Played:
    """Hours in which anything happens."""
    return play(seed, DENSE, folder, prepare=prepare)


def autumn_night(seed: int, folder: Path, prepare: Callable[[pytest.MonkeyPatch], None]) -> Played:
    """The clocks go back."""
    return play_change(NEW_YORK_AUTUMN, folder, prepare=prepare)


def frozen_at(point: str, seconds: float = 45.0, *, free: bool = False) -> Stage:
    """Consoles are frozen at this point again and again, for so many seconds; ``free``: no gate holds anything back."""

    async def freeze(world: World, trouble: Troublemaker, person: Person) -> None:
        trouble.often(point, seconds=seconds)

    changes: dict[str, Any] = {"policies": FREE, "slots": 0} if free else {}

    def stage(seed: int, folder: Path, prepare: Callable[[pytest.MonkeyPatch], None]) -> Played:
        return play(seed, replace(DENSE, trouble_every=_NEVER), folder, prepare=prepare, script=freeze, **changes)

    return stage


def alone(
    behaviour: Behaviour,
    *,
    days: float = 0.02,
    trouble: Callable[[Troublemaker], Coroutine[Any, Any, None]] | None = None,
    slots: int = 0,
    **values: Any,
) -> Stage:
    """One schedule, each 20 seconds unless ``values`` say otherwise, and peace but for the ``trouble`` that is wanted."""

    async def script(world: World, maker: Troublemaker, person: Person) -> None:
        if trouble is not None:
            await trouble(maker)

    columns: Mapping[str, Any] = {"trigger_type": "interval", "interval_sec": 20, **values}

    def stage(seed: int, folder: Path, prepare: Callable[[pytest.MonkeyPatch], None]) -> Played:
        calm = replace(DENSE, trouble_every=_NEVER, act_every=_NEVER)
        plan: dict[str, Any] = {"slots": slots, "ask": False, "lag": 0.0}
        made = lambda began: [simple(1, began, behaviour, **columns)]  # noqa: E731
        return play(seed, calm, folder, days=days, prepare=prepare, script=script, schedules=made, **plan)

    return stage
