"""The simulation proves something only if it catches builds that are broken: each is, and by an invariant that means it."""

from __future__ import annotations

import pytest

from tests.simulation.mutant import Mutant
from tests.simulation.mutants import MUTANTS
from tests.simulation.store import Template

WORLDS = 12
"""In how many worlds a broken build may go unnoticed before it counts as not caught; nearly all are caught in their first."""


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name.replace(" ", "-"))
def test_a_broken_build_is_caught(mutant: Mutant, template: Template) -> None:
    for seed in range(mutant.first, mutant.first + WORLDS):
        played = mutant.stage(seed, template.copy(), mutant.prepare)
        if played.breach is not None:
            assert played.breach.invariant in mutant.caught_by, played.report
            return
    pytest.fail(f"{mutant.name}: nobody noticed in {WORLDS} worlds")
