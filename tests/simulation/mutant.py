"""What a deliberately broken build is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests.simulation.stages import Stage, any_hours

Prepare = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True)
class Mutant:
    """A broken build, the invariants of which any one may catch it, and the stage on which it is played.

    ``first`` is the seed of the first world to try.
    """

    name: str
    prepare: Prepare
    caught_by: set[str]
    stage: Stage = any_hours
    first: int = 502
