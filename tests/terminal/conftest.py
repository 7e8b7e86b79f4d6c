"""Homes for the tests in a terminal."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from studio_tui.processes.stop import marked
from studio_tui.state.store import Store
from tests.terminal.program import Home

ALLOWED = "echo,sh,sleep"


@pytest.fixture
def peer(peer_home: Path) -> Home:
    """A home that the real package made. Its schedules are off, so that no test fires them by accident."""
    home = Home(peer_home, LIONAGI_SCHEDULER_COMMAND_ALLOWLIST=ALLOWED)
    home.sql("UPDATE schedules SET enabled = 0")
    return home


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Home]:
    """A new home of ours without a schedule. What was launched from it ends with the test."""
    path = tmp_path / "own"

    async def make() -> None:
        store = Store(None, home=path)
        await store.open()
        await store.create()
        await store.close()

    asyncio.run(make())
    home = Home(path, LIONAGI_SCHEDULER_COMMAND_ALLOWLIST=ALLOWED)
    yield home
    for (run_id,) in home.sql("SELECT id FROM schedule_runs"):
        for pid in marked(run_id):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
