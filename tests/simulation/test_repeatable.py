"""One seed is one run: every event and every stored row, whoever answers the questions to SQLite and however Python hashes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulation.kinds import DENSE
from tests.simulation.play import play
from tests.simulation.store import Template

SEED, DAYS = 1004, 0.02
ROOT = Path(__file__).parents[2]

_PLAY = """
import asyncio, sys
from tests.simulation.kinds import DENSE
from tests.simulation.play import play
from tests.simulation.store import Template
template = Template()
asyncio.run(template.make())
try:
    print(play(int(sys.argv[1]), DENSE, template.copy(), days=float(sys.argv[2])).digest)
finally:
    template.remove()
"""


@pytest.fixture(scope="module")
def digest(template: Template) -> str:
    played = play(SEED, DENSE, template.copy(), days=DAYS)
    assert len(played.rows) > 5
    return played.digest


def test_the_same_seed_is_the_same_run(digest: str, template: Template) -> None:
    assert play(SEED, DENSE, template.copy(), days=DAYS).digest == digest


def test_another_seed_is_another_run(digest: str, template: Template) -> None:
    assert play(SEED + 1, DENSE, template.copy(), days=DAYS).digest != digest


def test_real_threads_of_the_driver_give_the_same_run(digest: str, template: Template) -> None:
    assert play(SEED, DENSE, template.copy(), days=DAYS, threads=True).digest == digest


def test_another_process_with_other_hashes_gives_the_same_run(digest: str) -> None:
    environment = {**os.environ, "PYTHONHASHSEED": "4711", "PYTHONPATH": str(ROOT)}
    told = subprocess.run(
        [sys.executable, "-c", _PLAY, str(SEED), str(DAYS)], capture_output=True, text=True, check=True, env=environment, cwd=ROOT
    )
    assert told.stdout.strip().splitlines()[-1] == digest
