"""How late firings are: 200 `command` schedules of `true`, spread over their interval (metric 11).

    python -m tests.bench.lateness [--seconds 100] [--schedules 200] [--peer]

Both sides run without a cap on homes of their own. Planned is the instant that was stored before the firing, launched is
`dispatched_at`.
"""

from __future__ import annotations

import argparse
import json
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.bench.measure import Line, median, p95, report
from tests.bench.peer import build_home, daemon, environment

EMPTY = [
    *("--sessions", "0", "--schedule-runs", "0", "--shows", "0"),
    *("--definitions", "3", "--definition-versions", "3", "--artifacts", "0"),
]
SETTINGS = {"LIONAGI_SCHEDULER_COMMAND_ALLOWLIST": "true", "LIONAGI_STUDIO_MAX_SCHEDULED_CONCURRENT": "0"}


def home_of(folder: Path, schedules: int) -> Path:
    """A home that holds nothing but schedules, the first due in 20 seconds."""
    spread = ["--schedule-kind", "tick", "--schedules", str(schedules), "--interval", "300", "--first-due", "20", "--spread"]
    return build_home(folder, *EMPTY, *spread)


def lateness(home: Path) -> list[float]:
    """Seconds from the planned instant to the launch, of every firing so far."""
    with sqlite3.connect(f"file:{home}/state.db?mode=ro", uri=True) as store:
        rows = store.execute(
            "SELECT trigger_context, dispatched_at FROM schedule_runs WHERE dispatched_at IS NOT NULL"
        ).fetchall()
    return [launched - json.loads(context)["next_fire_at"] for context, launched in rows]


def ours(home: Path, seconds: float) -> list[float]:
    """Host the home without a screen for a while."""
    host = subprocess.Popen(
        [sys.executable, "-m", "studio_tui", "--home", str(home), "--scheduler", "scheduler", "run", "--for", str(seconds)],
        env=environment(home, **SETTINGS),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        host.wait(seconds + 60)
    finally:
        if host.poll() is None:
            host.send_signal(signal.SIGTERM)
            host.wait(10)
    return lateness(home)


def theirs(home: Path, seconds: float) -> list[float]:
    """Let the peer's daemon host it."""
    with daemon(home, **SETTINGS) as running:
        running.wait("/health")
        time.sleep(seconds)
        return lateness(home)


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=100)
    parser.add_argument("--schedules", type=int, default=200)
    parser.add_argument("--peer", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        mine = [late * 1e3 for late in ours(home_of(Path(folder) / "ours", options.schedules), options.seconds)]
        other = [10_000.0]
        if options.peer:
            peer_home = home_of(Path(folder) / "theirs", options.schedules)
            other = [late * 1e3 for late in theirs(peer_home, options.seconds)]
    against = f"li studio, {len(other)} firings" if options.peer else "10 s, no peer measured"
    report(
        [
            Line(f"lateness of {len(mine)} firings, median", median(mine), median(other), "ms", against, 0.005),
            Line("lateness, p95", p95(mine), p95(other), "ms", against, 0.01),
            Line("lateness, most", max(mine), max(other), "ms", against),
        ]
    )


if __name__ == "__main__":
    main()
