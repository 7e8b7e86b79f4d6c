"""``kill -9`` of a real host in each window of a firing, and the next host on the same store: nothing is lost or fired twice."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Any

import pytest

from studio_tui.application.errors import Conflict
from studio_tui.processes.stop import marked
from tests.processes.waiting import until
from tests.scheduler.real_host import console
from tests.scheduler.test_real import firings, home, program, schedule, select

__all__ = ["home", "program"]


@pytest.mark.parametrize("child_ends_first", [False, True])
async def test_a_killed_console_loses_no_firing(home: Path, program: Any, child_ends_first: bool, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr("studio_tui.scheduler.adoption.FOLLOW_EVERY", 0.05)
    await schedule(home, "sh", "-c", "echo begun; while [ ! -e go ]; do sleep 0.05; done; echo done")
    first = program("60")
    await until(lambda: [row for row in firings(home, "running") if row["dispatched_at"]])
    first.kill()
    first.wait()
    (row,) = firings(home)
    if child_ends_first:
        (home / "go").touch()
        await until(lambda: not marked(row["id"]))
    async with console(home, allowed=frozenset({"sh"})) as second:
        await second.host.start()
        if not child_ends_first:
            await until(lambda: second.host._engine.supervisor.busy(None) == 1)
            (found,) = await second.state.list_due(time.time() + 7200, limit=5)
            with pytest.raises(Conflict, match="still running"):
                await second.host.fire_now(found)
            (home / "go").touch()
        await until(lambda: firings(home, "failed"))
    (row,) = firings(home)
    assert "the host that launched it is gone, exit code unknown" in row["status_reason_summary"]
    assert "begun\ndone\n" in row["error_detail"]


@pytest.mark.parametrize(
    ("window", "launches", "statuses"),
    [
        ("claiming", 1, ["completed"]),
        ("claimed", 1, ["failed", "completed"]),
        ("noted", 0, ["failed"]),
        ("spawned", 1, ["failed"]),
        ("started", 1, ["failed"]),
        ("dispatched", 1, ["failed"]),
        ("ended", 1, ["failed"]),
        ("half written", 1, ["failed"]),
        ("finished", 1, ["completed"]),
    ],
)
async def test_a_console_killed_in_any_window_fires_nothing_twice(
    home: Path, program: Any, window: str, launches: int, statuses: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("studio_tui.scheduler.adoption.FOLLOW_EVERY", 0.05)
    monkeypatch.setattr("studio_tui.scheduler.recovery.UNDISPATCHED_GRACE", 0.5)
    monkeypatch.setattr("studio_tui.scheduler.host.RECOVER_SOON", 0.6)
    await schedule(home, "sh", "-c", "echo launched >> launches; sleep 0.2")
    assert program("60", "--die", window).wait(60) == -signal.SIGKILL
    async with console(home, allowed=frozenset({"sh"})) as second:
        await second.host.start()
        await until(lambda: [row["status"] for row in firings(home)] == statuses)
        await second.host.idle()
    launched = (home / "launches").read_text().split() if (home / "launches").exists() else []
    assert len(launched) == launches
    assert {row["status"] for row in select(home, "SELECT status FROM invocations")} == set(statuses)
    left = list((home / "studio-tui" / "logs" / "firings").glob("*.pid.json"))
    assert len(left) == (window == "finished"), "a note whose firing has ended is of no use and goes with the oldest"


@pytest.mark.parametrize(
    ("window", "statuses"),
    [("chain to come", ["failed", "completed"]), ("finished", ["completed", "failed", "completed"])],
)
async def test_a_console_killed_between_a_firing_and_its_chain_step_goes_on_with_the_chain(
    home: Path, program: Any, window: str, statuses: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The step is there with the end of its parent or not at all; either way it is launched once, as the step that it is."""
    monkeypatch.setattr("studio_tui.scheduler.adoption.FOLLOW_EVERY", 0.05)
    monkeypatch.setattr("studio_tui.scheduler.recovery.UNDISPATCHED_GRACE", 0.5)
    monkeypatch.setattr("studio_tui.scheduler.host.RECOVER_SOON", 0.6)
    step = {
        "action_command_args": ["-c", 'echo "step after $0" >> launches', "{{chain_from}}"],
        "on_success": None,
        "on_fail": None,
    }
    await schedule(home, "sh", "-c", "echo launched >> launches", on_success=step, on_fail=step)
    assert program("60", "--die", window).wait(60) == -signal.SIGKILL
    async with console(home, allowed=frozenset({"sh"})) as second:
        await second.host.start()
        await until(lambda: [row["status"] for row in firings(home)] == statuses)
        await second.host.idle()
    parent, *steps = firings(home)
    assert (home / "launches").read_text() == f"launched\nstep after {parent['id']}\n"
    assert [row["chain_depth"] for row in steps] == [1] * len(steps)
    assert [row["status"] for row in select(home, "SELECT status FROM invocations ORDER BY started_at")] == statuses
