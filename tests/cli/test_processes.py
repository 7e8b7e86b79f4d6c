"""The program as a process of its own: pipes, signals, what it imports, and hosting without a screen."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from studio_tui.application.ports.outbox import NewDispatch
from studio_tui.clock import SystemClock
from studio_tui.state.stores.outbox_delivery import OutboxDeliveryStore
from tests.interop.written import our_store

STUDIO = [sys.executable, "-m", "studio_tui"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new home in which ``echo``, ``sleep`` and ``sh`` may run."""
    monkeypatch.setenv("LIONAGI_SCHEDULER_COMMAND_ALLOWLIST", "echo,sleep,sh")
    monkeypatch.setenv("LIONAGI_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHONPATH", os.getcwd())
    monkeypatch.chdir(tmp_path)
    studio("init")
    return tmp_path / "home"


def studio(*arguments: str, expect: int = 0) -> str:
    done = subprocess.run([*STUDIO, *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == expect, done.stderr
    return done.stdout


def schedule(name: str, every: str, *command: str) -> None:
    studio("schedules", "create", "command", name, "--every", every, "--", *command)


@contextmanager
def host(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A host without a screen that is surely gone at the end."""
    command = [*STUDIO, "scheduler", "run", *(arguments or ("--for", "60"))]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def until(condition: Callable[[], bool], what: str, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited {seconds:.0f} s for {what}"
        time.sleep(0.05)


def firings(home: Path, query: Callable[..., Any], status: str) -> int:
    count = query(home / "state.db", "SELECT count(*) FROM schedule_runs WHERE status = ?", status)
    return int(count[0][0])


def test_a_reader_that_has_seen_enough_is_no_trouble(home: Path) -> None:
    demo, command = f"{home}-demo", " ".join(STUDIO)
    studio("demo", "--home", demo, "--no-open")
    script = f"{command} --home {demo} runs list --limit 500 --json | head -c 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout == "{"
    assert done.stderr == ""
    assert done.returncode == 128 + signal.SIGPIPE


def test_a_list_of_runs_imports_no_screen_and_no_scheduler(home: Path) -> None:
    code = (
        "import sys\nfrom studio_tui.cli.main import run\n"
        "assert run(['runs', 'list', '--json']) == 0\n"
        "print('IMPORTED', *sorted({name.split('.')[0] for name in sys.modules}))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    imported = set(out.rpartition("IMPORTED")[2].split())
    assert not imported & {"textual", "rich", "watchfiles", "ruamel", "asyncpg", "tree_sitter", "lionagi"}


def test_a_host_without_a_screen_fires_and_ends_in_order(home: Path, query: Callable[..., Any]) -> None:
    schedule("often", "1s", "echo", "hi")
    with host("--for", "4") as process:
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "hosting the scheduler of this store" in out
    assert out.splitlines()[-1].endswith("stopped")
    assert firings(home, query, "completed") >= 1
    assert firings(home, query, "running") == 0
    status = json.loads(studio("scheduler", "status", "--json"))
    assert (status["state"], status["holder"]) == ("off", None)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_and_says_what_became_of_running_jobs(
    home: Path, query: Callable[..., Any], number: signal.Signals
) -> None:
    schedule("slow", "1s", "sh", "-c", "sleep 2; echo done > finished")
    with host() as process:
        until(lambda: firings(home, query, "running") == 1, "a firing")
        dispatched = "SELECT count(*) FROM schedule_runs WHERE dispatched_at IS NOT NULL"
        until(lambda: query(home / "state.db", dispatched) == [(1,)], "its process")
        process.send_signal(number)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert any("slow: firing " in line and "runs on as process" in line for line in out.splitlines())
    until((home.parent / "finished").exists, "the job, which was left to run")


def test_a_second_host_stands_by_and_takes_over_when_the_first_is_killed(home: Path, query: Callable[..., Any]) -> None:
    schedule("often", "1s", "echo", "hi")
    with host() as first:
        until(lambda: firings(home, query, "completed") >= 1, "a firing of the first host")
        with host() as second:
            assert second.stdout is not None
            said = iter(second.stdout.readline, "")
            standing_by = next(line for line in said if "standby" in line)
            assert f"pid {first.pid}" in standing_by
            status = json.loads(studio("scheduler", "status", "--json"))
            assert f"pid {first.pid}" in status["holder"]
            first.kill()
            killed = time.time()
            assert any("hosting the scheduler of this store" in line for line in said)
            until(lambda: query(home / "state.db", "SELECT max(fired_at) FROM schedule_runs")[0][0] > killed, "a firing")
            second.terminate()
    instants = query(home / "state.db", "SELECT count(*), count(DISTINCT round(fired_at)) FROM schedule_runs")
    assert instants[0][0] - instants[0][1] <= 1  # a late fire and the next one may share a second; none is fired twice


def test_what_another_process_makes_is_fired_without_delay(home: Path, query: Callable[..., Any]) -> None:
    with host() as process:
        assert process.stdout is not None
        assert any("hosting" in line for line in iter(process.stdout.readline, ""))
        schedule("new", "1s", "echo", "hi")
        until(lambda: firings(home, query, "completed") >= 1, "a firing", seconds=10)


def test_an_interrupted_wait_leaves_the_job_and_says_so(home: Path, query: Callable[..., Any]) -> None:
    schedule("slow", "1h", "sh", "-c", "sleep 1; echo done > finished")
    process = subprocess.Popen([*STUDIO, "schedules", "fire", "slow"], stderr=subprocess.PIPE, text=True)
    dispatched = "SELECT count(*) FROM schedule_runs WHERE dispatched_at IS NOT NULL"
    until(lambda: query(home / "state.db", dispatched) == [(1,)], "its process")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGINT
    assert "runs on as process" in err
    until((home.parent / "finished").exists, "the job, which was left to run")


def test_the_read_only_host_fires_nothing(home: Path, query: Callable[..., Any]) -> None:
    schedule("often", "1s", "echo", "hi")
    done = subprocess.run(
        [*STUDIO, "--read-only", "scheduler", "run", "--for", "2.5"], capture_output=True, text=True, timeout=30
    )
    assert done.returncode == 0
    assert "Read-only because you asked for it." in done.stdout
    assert firings(home, query, "completed") == 0


def test_a_command_that_waits_for_another_program_says_so_and_goes_on(home: Path) -> None:
    schedule("nightly", "1h", "echo", "hi")
    with closing(sqlite3.connect(home / "state.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        command = [*STUDIO, "schedules", "disable", "nightly"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as waiting:
            assert waiting.stderr is not None
            said = waiting.stderr.readline()
            other.execute("ROLLBACK")
            assert "another program is writing to the store" in said
            assert "; waiting for it" in said
            assert waiting.wait(30) == 0


def test_a_host_delivers_messages_and_tells_how_firings_ended(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, query: Callable[..., Any]
) -> None:
    """Until a command for messages is configured, the list says why nothing is attempted."""
    monkeypatch.setenv("HOME", str(tmp_path))
    out, told = tmp_path / "out", tmp_path / "told"
    enqueue(home, "agent:demo")
    assert "they wait and none is attempted: no dispatch.notify_template in " in studio("outbox", "list")
    (tmp_path / ".lionagi").mkdir()
    template = ["/bin/sh", "-c", 'echo "$1" "${LIONAGI_STATE_DB_URL:-none}" >> "$2"', "sh", "{deliver_to}", str(out)]
    (tmp_path / ".lionagi" / "settings.yaml").write_text(json.dumps({"dispatch": {"notify_template": template}}))
    schedule("told", "1h", "sh", "-c", "exit 3")
    with closing(sqlite3.connect(home / "state.db")) as connection, connection:
        due = "UPDATE schedules SET next_fire_at = ?, notify_on = ?, notify_command = ?"
        connection.execute(due, (time.time(), '["failed"]', f'sh -c \'cat > "$1.new"; mv "$1.new" "$1"\' sh {told}'))
    with host():
        until(told.exists, "the notice")
        until(lambda: bool(query(home / "state.db", "SELECT 1 FROM dispatch_outbox WHERE status = 'delivered'")), "the delivery")
    assert out.read_text() == "agent:demo none\n"
    envelope = json.loads(told.read_text())
    assert (envelope["schema"], envelope["terminal_status"]) == ("lionagi.run-terminal", "failed")
    ((transition,),) = query(home / "state.db", "SELECT transition_id FROM terminal_deliveries")
    assert envelope["event_id"] == transition
    assert "messages are carried by /bin/sh" in studio("doctor")


def enqueue(home: Path, deliver_to: str) -> None:
    """A message in the outbox of this home."""

    async def work() -> None:
        async with our_store(home) as db:
            await OutboxDeliveryStore(db, SystemClock()).enqueue(NewDispatch("k", deliver_to))

    asyncio.run(work())
