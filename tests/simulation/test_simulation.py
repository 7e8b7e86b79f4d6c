"""Hundreds of days in random worlds: no invariant breaks. See the package's docstring for how to read a failure."""

from __future__ import annotations

import pytest

from tests.simulation.conftest import DENSE_FROM, planned
from tests.simulation.kinds import DENSE, LONG
from tests.simulation.play import play
from tests.simulation.store import Template


def test_every_invariant_holds(world: tuple[int, float | None], template: Template) -> None:
    seed, days = world
    played = play(seed, DENSE if seed >= DENSE_FROM else LONG, template.copy(), days=days)
    if played.breach is not None:
        pytest.fail(played.report, pytrace=False)
    assert played.rows, "a world in which nothing fires proves nothing"


def test_the_usual_worlds_are_long_enough(pytestconfig: pytest.Config) -> None:
    assert pytestconfig.getoption("sim_days") >= 400 or pytestconfig.getoption("sim_seed") is not None
    assert sum(days or 0.0 for _, days in planned(420.0, None)) >= 400
