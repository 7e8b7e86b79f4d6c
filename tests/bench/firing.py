"""What firing costs: a burst of 100 (metric 12), one fire (13), an idle host with 2,000 schedules (14).

    python -m tests.bench.firing [--idle 20] [--peer]

Ours, a plain loop that does no more than claim, start and end, and (``--peer``) the daemon of lionagi take turns in one run, each
on a home of its own. Nothing is asserted: ratios within one run are what counts.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.bench.lateness import EMPTY
from tests.bench.measure import Line, cpu_seconds, median, report
from tests.bench.peer import build_home, daemon, environment

BURST = 100
ALLOWED = {"LIONAGI_SCHEDULER_COMMAND_ALLOWLIST": "true"}
NO_CAP = {"LIONAGI_STUDIO_MAX_SCHEDULED_CONCURRENT": "0"}
SLOTS = 4


def home_of(folder: Path, schedules: int, *, first_due: float) -> Path:
    """A home that holds nothing but schedules of ``true``, all due at once."""
    plan = ["--schedule-kind", "tick", "--schedules", str(schedules), "--interval", "3600", "--first-due", str(first_due)]
    return build_home(folder, *EMPTY, *plan)


def ours(home: Path, seconds: float, *words: str, **settings: str) -> dict[str, float]:
    """Host a home for a while; what the host saw of itself."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.host_probe", str(home), str(seconds), *words],
        env={**environment(home, **ALLOWED, **settings), "PYTHONPATH": str(Path(__file__).parents[2])},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


@contextlib.contextmanager
def host(home: Path, **settings: str) -> Iterator[int]:
    """The command that hosts a home, as nobody watches it; its process id."""
    running = subprocess.Popen(
        [sys.executable, "-m", "studio_tui", "--home", str(home), "--scheduler", "scheduler", "run"],
        env=environment(home, **ALLOWED, **settings),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield running.pid
    finally:
        running.send_signal(signal.SIGTERM)
        running.wait(30)


def cpu_of_burst(pid: int, home: Path) -> float:
    """Processor seconds of a host from right before its first firing until all have ended, without its idling."""
    before, end = cpu_seconds(pid), time.monotonic() + 120
    while time.monotonic() < end:
        spent = cpu_seconds(pid)
        begun, ended = rows(home, "SELECT count(*), count(*) FILTER (WHERE status = 'completed') FROM schedule_runs")[0]
        if ended >= BURST:
            return spent - before
        before = before if begun else spent
        time.sleep(0.05)
    raise TimeoutError(f"{home}: not all have fired")


def rows(home: Path, sql: str) -> list[tuple[Any, ...]]:
    """What the store says."""
    with sqlite3.connect(f"file:{home}/state.db?mode=ro", uri=True) as store:
        return store.execute(sql).fetchall()


ENDS = """
    SELECT r.fired_at, max(t.created_at), json_extract(r.trigger_context, '$.next_fire_at')
    FROM schedule_runs AS r JOIN status_transitions AS t ON t.entity_id = r.id AND t.status = 'completed'
    WHERE r.status = 'completed' GROUP BY r.id ORDER BY r.fired_at
"""


def burst_seconds(home: Path, *, since_fired: bool = False) -> tuple[float, int]:
    """From the due instant (or the first fire) to the last terminal row, and how many fired."""
    found = rows(home, ENDS)
    begun = min(fired if since_fired else due for fired, _, due in found)
    return max(end for _, end, _ in found) - begun, len(found)


async def plain_loop(folder: Path, count: int, at_once: int) -> tuple[float, list[float]]:
    """Claim and run row in one transaction, spawn, terminal row in one: no more. Seconds for all, and for each."""
    folder.mkdir()
    store = sqlite3.connect(folder / "plain.db", isolation_level=None)
    store.execute("PRAGMA journal_mode = WAL")
    store.execute("PRAGMA synchronous = NORMAL")
    store.execute("CREATE TABLE s (id INTEGER PRIMARY KEY, due REAL)")
    store.execute("CREATE TABLE r (id INTEGER PRIMARY KEY, s INTEGER, status TEXT, fired REAL, ended REAL)")
    store.executemany("INSERT INTO s VALUES (?, 0)", [(number,) for number in range(count)])
    slots, took = asyncio.Semaphore(at_once), []

    async def fire(number: int) -> None:
        async with slots:
            begun = time.perf_counter()
            store.execute("BEGIN IMMEDIATE")
            store.execute("UPDATE s SET due = 1 WHERE id = ? AND due = 0", (number,))
            store.execute("INSERT INTO r VALUES (?, ?, 'running', ?, NULL)", (number, number, begun))
            store.execute("COMMIT")
            child = await asyncio.create_subprocess_exec("true", start_new_session=True)
            await child.wait()
            store.execute("BEGIN IMMEDIATE")
            store.execute("UPDATE r SET status = 'completed', ended = ? WHERE id = ?", (time.perf_counter(), number))
            store.execute("COMMIT")
            took.append(time.perf_counter() - begun)

    begun = time.perf_counter()
    await asyncio.gather(*(fire(number) for number in range(count)))
    return time.perf_counter() - begun, took


def burst(folder: Path, *, peer: bool) -> list[Line]:
    """Metrics 12 and 13."""
    plain, one_plain = asyncio.run(plain_loop(folder / "plain", BURST, SLOTS))
    capped = home_of(folder / "capped", BURST, first_due=8)
    seen = ours(capped, 20)
    took, fired = burst_seconds(capped)
    alone, _ = asyncio.run(plain_loop(folder / "alone", 20, 1))
    again, _ = asyncio.run(plain_loop(folder / "again", BURST, SLOTS))
    middle = median([plain, again])
    lines = [
        Line(f"burst of {BURST} in {SLOTS} slots ({fired} fired): due -> last row", took, middle, "s", "plain loop", 12),
        Line("longest stall of the event loop meanwhile", seen["stall_ms"], 50.0, "ms", "the aim", 1),
        Line("write transactions a fire", seen["writes"] / BURST, 3.0, "", "the aim", 1.02),
        Line("fired -> terminal row, median in the burst", median([end - at for at, end, _ in rows(capped, ENDS)]) * 1e3,
             median(one_plain) * 1e3, "ms", "plain loop", 4),
        Line("a plain fire alone", alone / 20 * 1e3, alone / 20 * 1e3, "ms", "itself"),
    ]  # fmt: skip
    if not peer:
        return lines
    spent = home_of(folder / "spent", BURST, first_due=8)
    with host(spent, **NO_CAP) as pid:
        mine = cpu_of_burst(pid, spent)
    free = home_of(folder / "free", BURST, first_due=8)
    ours(free, 20, **NO_CAP)
    theirs = home_of(folder / "theirs", BURST, first_due=20)
    with daemon(theirs, **ALLOWED, **NO_CAP) as running:
        running.wait("/health")
        cpu = cpu_of_burst(running.process.pid, theirs)
    took_free, fired_free = burst_seconds(free)
    took_theirs, fired_theirs = burst_seconds(theirs, since_fired=True)
    counts = f"li studio, {fired_free} and {fired_theirs} fired"
    return [
        *lines,
        Line("burst without a cap: due -> last row", took_free, took_theirs, "s", f"{counts}, from its tick", 0.35),
        Line("CPU a fire, burst without a cap", mine / BURST * 1e3, cpu / BURST * 1e3, "ms", "li studio", 0.3),
    ]


def idle(folder: Path, seconds: float, *, peer: bool) -> list[Line]:
    """Metric 14."""
    few, many = (ours(home_of(folder / f"idle{n}", n, first_due=86_400), seconds, "quiet") for n in (10, 2000))
    each = [one["cpu_s"] / one["seconds"] * 1e3 for one in (few, many)]
    other, against = 11.3, "li studio as it was measured once"
    if peer:
        with daemon(home_of(folder / "idle-theirs", 2000, first_due=86_400), **ALLOWED) as running:
            running.wait("/health")
            time.sleep(35)  # its first tick and its reapers are over
            before = cpu_seconds(running.process.pid)
            time.sleep(max(seconds, 35))
            other, against = (cpu_seconds(running.process.pid) - before) / max(seconds, 35) * 1e3, "li studio"
    return [
        Line("CPU of an idle host, 2,000 schedules", each[1], other, "ms/s", against, 0.2),
        Line("CPU of an idle host, 2,000 schedules", each[1], each[0], "ms/s", "10 schedules", 1.1),
    ]


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--idle", type=float, default=20)
    parser.add_argument("--peer", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report([*burst(Path(folder), peer=options.peer), *idle(Path(folder), options.idle, peer=options.peer)])


if __name__ == "__main__":
    main()
