"""Schedules tell their commands how firings ended: off the way of firings, once, and across deaths of the host."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from studio_tui.clock import SystemClock
from studio_tui.domain.notices import LEASE, Notice
from studio_tui.processes.commands import Commands
from studio_tui.scheduler import notify
from studio_tui.scheduler.errands import Errands
from studio_tui.state.db import StateDB
from studio_tui.state.stores.notices import NoticeStore
from studio_tui.state.stores.scheduling import SchedulingStore
from tests.builders import a_firing, a_schedule, an_invocation
from tests.fakes.clock import SteeredClock
from tests.interop.written import our_store
from tests.processes.waiting import until
from tests.scheduler.real_host import console
from tests.scheduler.test_real import ROOT, firings, home, schedule, select
from tests.state.test_scheduling import outcome

__all__ = ["home"]

ENDED: dict[str, Any] = {
    "status": "failed",
    "invocation_status": "failed",
    "reason_code": "run.failed.exit_nonzero",
    "invocation_reason_code": "run.failed.exit_nonzero",
}


def given(home: Path) -> list[str]:
    return [row["consumer"] for row in select(home, "SELECT consumer FROM terminal_deliveries")]


def told(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
async def db(home: Path) -> AsyncIterator[StateDB]:
    async with our_store(home) as db:
        yield db


async def owed(db: StateDB, command: str) -> str:
    """A firing whose end is to be told."""
    made = await a_schedule(db, notify_on=["failed"], notify_command=command)
    call = await an_invocation(db, status="running")
    firing = await a_firing(db, made, status="running", invocation_id=call)
    now = SystemClock().now()
    assert await SchedulingStore(db, SystemClock()).finish(outcome(firing, invocation_id=call, ended_at=now, **ENDED), now=now)
    return call


def teller(db: StateDB, clock: Any = None) -> Errands[Notice]:
    clock = clock or SystemClock()
    kind = notify.Notices(NoticeStore(db, clock), Commands(lambda: {"PATH": os.environ["PATH"]}))
    return Errands("notices", kind, clock=clock, hosts=lambda: True)


async def settled(errands: Errands[Notice]) -> None:
    await errands.look()
    while errands._under_way:
        await asyncio.wait(tuple(errands._under_way))


async def test_the_command_finds_the_envelope_on_its_standard_input(db: StateDB, home: Path) -> None:
    script = home / "tell"
    script.write_text('#!/bin/sh\ncat >> "$1"; echo >> "$1"\n')
    script.chmod(0o755)
    call = await owed(db, f"{script} '{home}/a file'")
    await settled(teller(db))
    (envelope,) = told(home / "a file")
    assert envelope.pop("event_id") == select(home, "SELECT transition_id AS id FROM terminal_deliveries")[0]["id"]
    assert isinstance(envelope.pop("occurred_at"), float)
    assert envelope == {
        "schema": "lionagi.run-terminal",
        "schema_version": 1,
        "durable": True,
        "entity": {"kind": "invocation", "id": call},
        "previous_status": "running",
        "terminal_status": "failed",
        "reason_code": "run.failed.exit_nonzero",
        "correlation": {"invocation_id": call, "session_id": None, "schedule_run_id": None, "run_id": None},
        "artifacts": [],
    }


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("sh -c 'echo the secret-word is wrong >&2; exit 3' secret-word", "its notify command failed: the *** is wrong"),
        ("false", "its notify command failed: exit 1"),
        ("/no/such/program", "its notify command failed: /no/such/program could not be started: No such file or directory"),
        ("tell | more", "its notify command is not run: it wants a shell"),
    ],
)
async def test_what_fails_is_said_once_and_not_tried_again(
    db: StateDB, home: Path, caplog: pytest.LogCaptureFixture, command: str, words: str
) -> None:
    await owed(db, command)
    errands = teller(db)
    with caplog.at_level(logging.WARNING, "studio_tui.scheduler.notify"):
        await settled(errands)
        await settled(errands)
    (line,) = [record.getMessage() for record in caplog.records]
    assert words in line
    assert given(home) == ["studio_tui.schedule_notify"]


async def test_a_command_that_hangs_is_killed_and_holds_up_no_other(
    db: StateDB, home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(notify, "SECONDS", 1.0)
    await owed(db, f"sh -c 'echo $$ > \"$1\"; exec sleep 600' sh {home}/pid")
    await owed(db, f"touch {home}/other")
    await settled(teller(db))
    assert (home / "other").exists()
    assert not Path(f"/proc/{int((home / 'pid').read_text())}").exists()
    assert "did not end within 1 s and was killed" in caplog.text


async def test_two_hosts_give_each_notice_once(home: Path) -> None:
    async with our_store(home) as one, our_store(home) as other:
        for number in range(20):
            await owed(one, f"sh -c 'echo {number} >> \"$1\"' sh {home}/told")
        hosts = teller(one), teller(other)
        for host in hosts:
            host.start()
        await until(lambda: given(home) == ["studio_tui.schedule_notify"] * 20)
        for host in hosts:
            await host.stop()
    assert sorted(map(int, (home / "told").read_text().split())) == list(range(20))


async def test_who_dies_while_the_command_runs_leaves_it_to_the_next_after_its_lease(db: StateDB, home: Path) -> None:
    await owed(db, f"sh -c 'echo told >> \"$1\"' sh {home}/told")
    await NoticeStore(db, SystemClock()).claim_due(limit=1)
    clock = SteeredClock(at=SystemClock().now())
    await settled(teller(db, clock))
    assert not (home / "told").exists()
    clock.advance(LEASE)
    await settled(teller(db, clock))
    assert (home / "told").read_text() == "told\n"


@pytest.mark.parametrize("window", ["dispatched", "ended", "finished"])
async def test_a_host_killed_between_fire_and_notice_loses_and_doubles_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch, window: str
) -> None:
    """The next host ends the firing that the first one left, or finds that it has ended, and tells of it."""
    monkeypatch.setattr("studio_tui.scheduler.adoption.FOLLOW_EVERY", 0.05)
    command = f'sh -c \'cat >> "$1"; echo >> "$1"\' sh {home}/told'
    ends = ["completed", "completed_empty", "failed", "cancelled", "timed_out", "aborted"]
    await schedule(home, "sh", "-c", "sleep 0.3; exit 3", notify_on=ends, notify_command=command)
    dying = [sys.executable, "-m", "tests.scheduler.real_host", str(home), "60", "--die", window]
    assert subprocess.run(dying, cwd=ROOT, check=False, timeout=60).returncode == -signal.SIGKILL
    assert told(home / "told") == []
    for _ in range(2):
        async with console(home, allowed=frozenset({"sh"})) as second:
            await second.host.start()
            await until(lambda: given(home) == ["studio_tui.schedule_notify"])
            await second.host.idle()
    (envelope,) = told(home / "told")
    (firing,) = firings(home)
    assert envelope["entity"] == {"kind": "invocation", "id": firing["invocation_id"]}
    (call,) = select(home, "SELECT status FROM invocations")
    assert envelope["terminal_status"] == call["status"]
