"""The scheduler on a real store, with real processes and a second console."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from studio_tui.application.errors import Conflict
from studio_tui.application.ports import ActProvenance
from studio_tui.processes.stop import marked
from studio_tui.state.store import Store
from studio_tui.state.stores.schedule_writes import ScheduleWriteStore
from tests.builders import a_schedule
from tests.processes.conftest import DATA
from tests.processes.waiting import until
from tests.scheduler.real_host import EveryonesLease, console

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Path]:
    """A home with a new native store. Whatever the test leaves running is ended with it."""
    home = tmp_path / "home"
    home.mkdir()
    store = Store(None, home=home)
    await store.open()
    await store.create()
    await store.close()
    yield home
    for row in select(home, "SELECT id FROM schedule_runs"):
        for pid in marked(row["id"]):
            os.kill(pid, signal.SIGKILL)


def select(home: Path, sql: str, *values: object) -> list[dict[str, Any]]:
    with closing(sqlite3.connect(home / "state.db", timeout=10)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(sql, values)]


def firings(home: Path, status: str = "%") -> list[dict[str, Any]]:
    return select(home, "SELECT * FROM schedule_runs WHERE status LIKE ? ORDER BY fired_at", status)


async def schedule(home: Path, *argv: str, **columns: Any) -> str:
    """An interval schedule of a command, due in a moment."""
    store = Store(None, home=home)
    await store.open()
    values: dict[str, Any] = {
        "trigger_type": "interval",
        "interval_sec": 3600,
        "action_kind": "command",
        "action_command": argv[0],
        "action_command_args": list(argv[1:]),
        "action_cwd": str(home),
        "enabled": 1,
        "next_fire_at": time.time() - 0.5,
    }
    made = await a_schedule(store.db, **{**values, **columns})
    await store.close()
    return made


@pytest.fixture
def program(home: Path) -> Iterator[Any]:
    """``program("10", …)``: another console on the same home, in a process of its own."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.scheduler.real_host", str(home), *arguments]
        started.append(subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


async def test_a_fire_from_claim_to_end(home: Path) -> None:
    await schedule(home, "sh", "-c", "echo out; echo err >&2; exit 3", name="tick", interval_sec=60)
    async with console(home, allowed=frozenset({"sh"})) as made:
        await made.host.start()
        await until(lambda: firings(home, "failed"))
        await made.host.idle()
        tail = made.logs.tail(firings(home)[0]["id"], limit=100)
    assert tail is not None
    assert (tail.stdout, tail.stderr) == ("out\n", "err\n")
    (row,) = firings(home)
    (invocation,) = select(home, "SELECT * FROM invocations")
    (stored,) = select(home, "SELECT * FROM schedules")
    assert (row["exit_code"], row["error_detail"]) == (3, "err\n\n[stdout]\nout\n")
    assert json.loads(row["action_args"]) == ["sh", "-c", "echo out; echo err >&2; exit 3"]
    assert row["fired_at"] <= row["dispatched_at"] <= row["ended_at"]
    assert (invocation["id"], invocation["status"], invocation["skill"]) == (row["invocation_id"], "failed", "scheduled:tick")
    assert stored["next_fire_at"] - json.loads(row["trigger_context"])["next_fire_at"] == 60
    history = select(home, "SELECT * FROM status_transitions WHERE entity_type != 'schedule' ORDER BY created_at, rowid")
    assert [(line["entity_type"], line["status"], line["reason_code"]) for line in history] == [
        ("invocation", "running", "run.started.ok"),
        ("schedule_run", "running", "run.started.ok"),
        ("schedule_run", "running", "schedule.fired.due"),
        ("schedule_run", "failed", "run.failed.exit_nonzero"),
        ("invocation", "failed", "run.failed.exit_nonzero"),
    ]


async def test_a_short_interval_is_on_time_and_does_not_drift(home: Path) -> None:
    await schedule(home, "true", interval_sec=1)
    async with console(home, allowed=frozenset({"true"})) as made:
        await made.host.start()
        await until(lambda: len(firings(home, "completed")) >= 4)
    planned = [json.loads(row["trigger_context"])["next_fire_at"] for row in firings(home)]
    assert all((later - earlier) % 1 == pytest.approx(0, abs=1e-6) for earlier, later in itertools.pairwise(planned))
    assert len(set(planned)) == len(planned)


async def test_a_lost_claim_records_nothing(home: Path) -> None:
    await schedule(home, "true")
    allowed, lease = frozenset({"true"}), EveryonesLease()
    async with console(home, lease=lease, allowed=allowed) as one, console(home, lease=lease, allowed=allowed) as other:
        (seen,) = await one.state.list_due(time.time(), limit=10)
        one.host._mode = other.host._mode = "hosting"
        evaluations = (made.host._engine.occurrences.due(seen, time.time()) for made in (one, other, one, other))
        results = await asyncio.gather(*evaluations)
        assert sorted(result.word for result in results) == ["fired", "lost", "lost", "lost"]
        await one.host.idle()
        await other.host.idle()
    assert len(firings(home)) == 1
    assert len(select(home, "SELECT * FROM invocations")) == 1


async def test_two_hosts_in_two_processes_fire_no_instant_twice(home: Path, program: Any) -> None:
    await schedule(home, "sh", "-c", 'echo "$0" >> fired', "{{next_fire_at}}", interval_sec=1)
    consoles = [program("60", "--no-lease") for _ in range(2)]
    for process in consoles:
        assert process.stdout.readline() == "hosting\n"
    count = len(firings(home))
    await until(lambda: len(firings(home, "completed")) >= count + 3)
    for process in consoles:
        process.kill()
        process.wait()
    planned = [json.loads(row["trigger_context"])["next_fire_at"] for row in firings(home) if row["status"] != "skipped"]
    assert len(set(planned)) == len(planned)
    launched = (home / "fired").read_text().split()
    assert len(set(launched)) == len(launched)
    assert set(map(float, launched)) <= set(planned)


async def test_the_second_console_stands_by_and_takes_over(home: Path, program: Any) -> None:
    await schedule(home, "true", interval_sec=1)
    first = program("60")
    assert first.stdout.readline() == "hosting\n"
    async with console(home, allowed=frozenset({"true"})) as second:
        await second.host.start()
        await until(lambda: second.host.holder)
        assert second.host.state == "standby"
        assert second.host.holder.identity.pid == first.pid
        first.kill()
        first.wait()
        count = len(firings(home))
        await until(lambda: second.host.state == "hosting")
        await until(lambda: len(firings(home, "completed")) >= count + 2)
    planned = [json.loads(row["trigger_context"])["next_fire_at"] for row in firings(home) if row["status"] != "skipped"]
    assert len(set(planned)) == len(planned)


async def test_a_console_that_is_stopped_loses_its_place_and_fires_nothing_when_continued(
    home: Path, program: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("studio_tui.scheduler.lease.QUIET_LIMIT", 1.0)
    monkeypatch.setattr("studio_tui.scheduler.host.BEAT_EVERY", 0.2)
    await schedule(home, "sh", "-c", 'echo "$0" >> fired', "{{next_fire_at}}", interval_sec=1)
    first = program("60", "--beat", "0.2")
    assert first.stdout.readline() == "hosting\n"
    await until(lambda: firings(home, "completed"))
    async with console(home, allowed=frozenset({"sh"})) as second:
        await second.host.start()
        await until(lambda: second.host.holder)
        first.send_signal(signal.SIGSTOP)
        await until(lambda: second.host.state == "hosting")
        count = len(firings(home, "completed"))
        await until(lambda: len(firings(home, "completed")) >= count + 2)
        first.send_signal(signal.SIGCONT)
        assert first.stdout.readline() == "standby\n"
        count = len(firings(home, "completed"))
        await until(lambda: len(firings(home, "completed")) >= count + 2)
        assert second.host.state == "hosting"
    launched = (home / "fired").read_text().split()
    assert len(set(launched)) == len(launched)
    planned = [json.loads(row["trigger_context"])["next_fire_at"] for row in firings(home) if row["status"] != "skipped"]
    assert len(set(planned)) == len(planned)


async def test_a_console_that_goes_hands_what_runs_to_the_next(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio_tui.scheduler.adoption.FOLLOW_EVERY", 0.05)
    await schedule(home, "sh", "-c", "while [ ! -e go ]; do sleep 0.05; done")
    async with console(home, allowed=frozenset({"sh"})) as first:
        await first.host.start()
        await until(lambda: [row for row in firings(home, "running") if row["dispatched_at"]])
        (fate,) = await first.host.stop()
        assert fate.what == "left"
    (row,) = firings(home, "running")
    assert marked(row["id"]), "it runs on by itself"
    async with console(home, allowed=frozenset({"sh"})) as second:
        await second.host.start()
        await until(lambda: second.host._engine.supervisor.busy(None) == 1)
        (home / "go").touch()
        await until(lambda: firings(home, "failed"))
    assert len(firings(home)) == 1


async def test_stopping_ends_the_whole_tree(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio_tui.scheduler.carrying.STOP_GRACE", 1.0)
    mark = f"orphan-tree-real-{os.getpid()}"
    await schedule(home, "sh", "-c", f"exec bash {DATA / 'orphan-tree.sh'} {mark}")
    listed = Path(f"/tmp/{mark}.pids")
    try:
        async with console(home, allowed=frozenset({"sh"})) as made:
            await made.host.start()
            await until(lambda: listed.exists() and len(listed.read_text().splitlines()) == 5)
            (fate,) = await made.host.stop(terminate=True)
        family = dict(line.split() for line in listed.read_text().splitlines())
        assert fate.what == "stopped"
        assert f"run on: {family['own-session']}" in fate.detail
        (row,) = firings(home)
        assert (row["status"], row["status_reason_code"]) == ("cancelled", "run.cancelled.system")
        left = set(marked(row["id"]))
        assert not left & {int(family[name]) for name in ("leader", "child", "stubborn", "stopped")}
        assert int(family["own-session"]) in left
    finally:
        listed.unlink(missing_ok=True)


async def test_a_helper_that_keeps_the_streams_blocks_no_slot(home: Path) -> None:
    await schedule(home, "sh", str(DATA / "pipe-holder.sh"), "60", interval_sec=1)
    async with console(home, allowed=frozenset({"sh"}), slots=1) as made:
        await made.host.start()
        await until(lambda: len(firings(home, "completed")) >= 2)


async def test_what_is_not_there_has_failed_once_and_for_all(home: Path) -> None:
    await schedule(home, "no-such-command")
    for _ in range(2):
        async with console(home, allowed=frozenset({"no-such-command"})) as made:
            await made.host.start()
            await until(lambda: firings(home, "failed"))
            await until(lambda made=made: made.host.last_pass_at is not None)
    (row,) = firings(home)
    assert "no executable 'no-such-command' found; looked in " in row["error_detail"]


async def test_a_schedule_that_is_deleted_while_it_runs_ends_cleanly(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    go = home / "go"
    os.mkfifo(go)
    again = {"action_command": "sh", "action_command_args": ["-c", "exit 0"], "on_fail": None}
    await schedule(home, "sh", "-c", f"read line < {go}; exit 3", on_fail=again)
    async with console(home, allowed=frozenset({"sh"})) as made:
        await made.host.start()
        await until(lambda: [row for row in firings(home, "running") if row["dispatched_at"]])
        (row,) = firings(home)
        writes = ScheduleWriteStore(made.store.db)
        by = ActProvenance("cli", "op", "/")
        named: dict[str, Any] = {"expected_updated_at": None, "now": time.time(), "by": by}
        with pytest.raises(Conflict, match=row["id"]):
            await writes.delete_schedule(row["schedule_id"], although_running=False, **named)
        await writes.delete_schedule(row["schedule_id"], although_running=True, **named)
        await asyncio.to_thread(go.write_text, "on with it\n")
        await made.host.idle()
        assert made.host.state == "hosting"
        assert made.notes.recall(row["id"]) is None
    assert firings(home) == []
    (invocation,) = select(home, "SELECT * FROM invocations")
    assert (invocation["status"], invocation["status_reason_code"]) == ("failed", "run.failed.exit_nonzero")
    last = select(home, "SELECT status FROM status_transitions WHERE entity_type = 'schedule' ORDER BY created_at")[-1]
    assert last["status"] == "deleted"
    assert [record for record in caplog.records if record.levelname in ("ERROR", "CRITICAL")] == []


async def test_looking_makes_no_host_file(home: Path) -> None:
    async with console(home):
        pass
    assert sorted(path.name for path in home.iterdir() if "studio-tui" in path.name) == []


@pytest.mark.parametrize(
    ("script", "seen"), [("nonutf8-output.sh", "11 cut at the very end"), ("long-line.sh", "no newline at the end")]
)
async def test_output_that_is_no_text_or_one_endless_line_ends_in_a_row_like_any_other(
    home: Path, script: str, seen: str
) -> None:
    await schedule(home, "sh", "-c", f"bash {DATA / script}; exit 3")
    async with console(home, allowed=frozenset({"sh"})) as made:
        await made.host.start()
        await until(lambda: firings(home, "failed"))
    (row,) = firings(home)
    assert row["exit_code"] == 3
    assert seen in row["error_detail"]
    assert len(row["error_detail"].encode()) < 10_000


async def test_half_a_gigabyte_of_output_leaves_a_few_files_and_a_completed_row(home: Path) -> None:
    await schedule(home, "sh", "-c", "echo first; yes 'again and again' | head -c 500000000; echo; echo last")
    async with console(home, allowed=frozenset({"sh"})) as made:
        await made.host.start()
        await until(lambda: firings(home, "completed"))
        await made.host.idle()
        (row,) = firings(home)
        tail = made.logs.tail(row["id"], limit=500)
    kept = list((home / "studio-tui" / "logs" / "firings").glob(f"{row['id']}.out*"))
    assert sum(path.stat().st_size for path in kept) < 60_000_000
    assert tail is not None
    assert "last\n" in tail.stdout
    assert "bytes were written before this line" in tail.stdout


async def test_a_child_that_ignores_term_is_killed_after_the_grace(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio_tui.scheduler.carrying.STOP_GRACE", 0.3)
    await schedule(home, "sh", "-c", "trap '' TERM; echo deaf; while true; do sleep 0.1; done")
    async with console(home, allowed=frozenset({"sh"}), deadline=lambda kind: 1.0) as made:
        await made.host.start()
        await until(lambda: firings(home, "timed_out"))
    (row,) = firings(home)
    assert (row["status_reason_code"], row["exit_code"]) == ("run.timed_out.deadline", None)
    assert "deaf" in row["error_detail"]
    assert not marked(row["id"])
