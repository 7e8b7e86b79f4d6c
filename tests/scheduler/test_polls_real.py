"""Polls on a real store, with real processes and a real server: whoever dies when, each merged pull request is launched once."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from studio_tui.scheduler.polls.http import Patience
from tests.fakes.github import FakeGitHub, a_pull, github, silent
from tests.processes.waiting import until
from tests.scheduler.real_host import HASTY, EveryonesLease, console, github_at
from tests.scheduler.test_real import firings, schedule, select
from tests.scheduler.test_real import home as home
from tests.scheduler.test_real import program as program

POLL = {
    "trigger_type": "github_poll",
    "github_repo": "acme/web",
    "github_filter": {"event": "pr_merged"},
    "interval_sec": None,
    "poll_interval_sec": 1,
    "next_fire_at": None,
}


@pytest.fixture
def server() -> Iterator[FakeGitHub]:
    with github() as fake:
        yield fake


def merged(number: int) -> dict[str, Any]:
    return a_pull(number, f"2026-03-10T10:00:{number // 2:02d}Z")


def launched(home: Path) -> list[str]:
    path = home / "launches"
    return path.read_text().split() if path.exists() else []


def bookmark(home: Path) -> str:
    (row,) = select(home, "SELECT github_cursor FROM schedules")
    return str(row["github_cursor"])


async def test_each_merge_is_launched_once_however_often_the_host_is_killed(
    home: Path, program: Any, server: FakeGitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each host finds one more merge, and dies somewhere between GitHub's answer and the end of what it launched.

    Left out is the moment between the note of a launch and the launch: whether something ran cannot be known then, so that
    firing fails and says so (see test_killed).
    """
    for name, seconds in HASTY.items():
        monkeypatch.setattr(name, seconds)
    await schedule(home, "sh", "-c", 'echo "$0" >> launches', "{{pr_number}}", **POLL)
    windows = ("answered", "polled", "claiming", "claimed", "spawned", "dispatched", "ended")
    for number, window in enumerate(windows, start=1):
        server.pulls.append(merged(number))
        host = program("60", "--hasty", "--die", window, "--github", server.base)
        assert host.wait(60) == -signal.SIGKILL, window
    server.pulls.append(merged(len(windows) + 1))
    everything = [str(number) for number in range(1, len(windows) + 2)]
    async with console(home, allowed=frozenset({"sh"}), **github_at(server.base)) as last:
        await last.host.start()
        await until(lambda: len(launched(home)) >= len(everything))
        asked = len(server.asked)
        await until(lambda: len(server.asked) > asked)
        await last.host.idle()
    assert launched(home) == everything
    assert bookmark(home) == "2026-03-10T10:00:04Z#0000000008"
    assert firings(home, "running") == []
    assert select(home, "SELECT id FROM invocations WHERE status = 'running'") == []


async def test_two_hosts_that_know_nothing_of_each_other_launch_each_merge_once(home: Path, server: FakeGitHub) -> None:
    await schedule(home, "sh", "-c", 'echo "$0" >> launches', "{{pr_number}}", overlap_policy="allow", **POLL)
    server.pulls = [merged(n) for n in range(1, 9)]
    made = [console(home, lease=EveryonesLease(), allowed=frozenset({"sh"}), **github_at(server.base)) for _ in range(2)]
    async with made[0] as one, made[1] as other:
        await asyncio.gather(one.host.start(), other.host.start())
        await until(lambda: len(launched(home)) >= 8)
        asked = len(server.asked)
        await until(lambda: len(server.asked) > asked + 2)
        await asyncio.gather(one.host.idle(), other.host.idle())
    assert sorted(launched(home), key=int) == [str(n) for n in range(1, 9)]
    assert bookmark(home) == "2026-03-10T10:00:04Z#0000000008"


async def test_a_server_that_says_nothing_holds_up_nobody(home: Path, server: FakeGitHub) -> None:
    over = threading.Event()
    server.pulls = [merged(n) for n in (1, 2, 3)]
    server.next.append(silent(over))
    await schedule(home, "sh", "-c", 'echo "$0" >> launches', "{{pr_number}}", **POLL)
    await schedule(home, "sh", "-c", "echo tick >> ticks", interval_sec=1)
    settings = {**github_at(server.base), "patience": Patience(silence=3.0, altogether=3.0)}
    async with console(home, allowed=frozenset({"sh"}), **settings) as made:
        await made.host.start()
        await until(lambda: (home / "ticks").exists() and len((home / "ticks").read_text().split()) >= 2)
        assert launched(home) == [], "it is still waiting for its answer"
        over.set()
        await until(lambda: len(launched(home)) == 3)
