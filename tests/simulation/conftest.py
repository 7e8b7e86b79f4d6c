"""Which worlds are played, and the empty store that each of them begins with."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator

import pytest

from tests.simulation.store import Template

DENSE_FROM = 1001
"""Seeds from here on are worlds of hours, the others worlds of weeks."""

_WEEKS = 30.0
_DENSE_PER_LONG = 1 / 5


@pytest.fixture(scope="module")
def template() -> Iterator[Template]:
    """An empty store to copy."""
    template = Template()
    try:
        asyncio.run(template.make())
        yield template
    finally:
        template.remove()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "world" in metafunc.fixturenames:
        worlds = planned(metafunc.config.getoption("sim_days"), metafunc.config.getoption("sim_seed"))
        metafunc.parametrize("world", worlds, ids=[f"seed-{seed}" for seed, _ in worlds])


def planned(days: float, seed: int | None) -> list[tuple[int, float | None]]:
    """The worlds to play: seed, and simulated days where the sort of world does not say how many."""
    if seed is not None:
        return [(seed, days if seed < DENSE_FROM and days < _WEEKS else None)]
    count = math.ceil(days / _WEEKS)
    long = [(number + 1, min(_WEEKS, days - number * _WEEKS)) for number in range(count)]
    return [*long, *((DENSE_FROM + number, None) for number in range(math.ceil(count * _DENSE_PER_LONG)))]
