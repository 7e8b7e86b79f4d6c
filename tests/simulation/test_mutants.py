"""The simulation proves something only if it catches builds that are broken: each is, and by an invariant that means it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from tests.simulation.kinds import DENSE
from tests.simulation.mutants import MUTANTS, Mutant
from tests.simulation.person import Person
from tests.simulation.play import Played, play
from tests.simulation.store import Template
from tests.simulation.test_daylight import NEW_YORK_AUTUMN, play_change
from tests.simulation.trouble import Troublemaker
from tests.simulation.world import World

FREE = MappingProxyType(
    {"overlap_policy": "allow", "max_runs": None, "budget_usd": None, "budget_tokens": None, "rate_limit": None}
)
"""Policies that hold nothing back."""

WORLDS = 12
"""In how many worlds a broken build may go unnoticed before it counts as not caught; nearly all are caught in their first."""


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name.replace(" ", "-"))
def test_a_broken_build_is_caught(mutant: Mutant, template: Template) -> None:
    for seed in range(mutant.first, mutant.first + WORLDS):
        played = _played(mutant, seed, template.copy())
        if played.breach is not None:
            assert played.breach.invariant in mutant.caught_by, played.report
            return
    pytest.fail(f"{mutant.name}: nobody noticed in {WORLDS} worlds")


def _played(mutant: Mutant, seed: int, folder: Path) -> Played:
    if mutant.daylight:
        return play_change(NEW_YORK_AUTUMN, folder, prepare=mutant.prepare)
    changes: dict[str, Any] = {"policies": FREE, "slots": 0} if mutant.free else {}
    if mutant.frozen_at is None:
        return play(seed, DENSE, folder, prepare=mutant.prepare, **changes)
    calm = replace(DENSE, trouble_every=1e9)
    return play(seed, calm, folder, prepare=mutant.prepare, script=partial(_stop_often, mutant.frozen_at), **changes)


async def _stop_often(point: str, world: World, trouble: Troublemaker, person: Person) -> None:
    trouble.often(point, seconds=45.0)
