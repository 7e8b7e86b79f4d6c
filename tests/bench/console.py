"""The console in a real terminal of 120x40: start, first frame, keys, bytes, memory.

    python -m tests.bench.console --home H1K --large H100K [--starts 5] [--peer]

Prints metrics 1 and 10 of the performance plan (start and memory), the first frame against a bare Textual app, key to echo
and bytes a key while scrolling the large home, and bytes written while nothing changes.
"""

from __future__ import annotations

import argparse
import sqlite3
import statistics
import sys
import time
from pathlib import Path

from tests.bench.measure import Line, median, memory_mib, p95, report
from tests.bench.peer import daemon, environment, touch_home
from tests.terminal.pseudo import Terminal

STUDIO = [sys.executable, "-m", "studio_tui"]
BARE = """
from textual.app import App
from textual.widgets import Static
class Bare(App):
    def compose(self):
        yield Static("bare app is painted")
Bare().run()
"""
BARE_TABLE = """
from textual.app import App
from textual.widgets import DataTable
class Bare(App):
    def compose(self):
        yield DataTable()
    def on_mount(self):
        table = self.query_one(DataTable)
        table.add_columns("state", "name", "kind", "project", "age", "cost")
        for n in range(50):
            table.add_row("OK", f"row number {n}", "agent", "web", "3m", "0.10")
Bare().run()
"""


def start(argv: list[str], home: Path, expect: str) -> float:
    """Seconds from the spawn until ``expect`` stands on the screen."""
    with Terminal(argv, environment=environment(home)) as terminal:
        terminal.wait_for(expect, seconds=60)
        return time.perf_counter() - terminal.started


def console(home: Path) -> list[str]:
    """The command that opens a home without hosting its scheduler."""
    return [*STUDIO, "--home", str(home), "--no-scheduler"]


def newest_name(home: Path) -> str:
    """What identifies the newest run on the screen: its agent's name and the first four letters of its id."""
    with sqlite3.connect(f"file:{home}/state.db?mode=ro", uri=True) as store:
        row = store.execute(
            "SELECT id, user_label, show_play_name, playbook_name, agent_name, name FROM sessions"
            " WHERE json_extract(node_metadata, '$.engine_parent_run_id') IS NULL ORDER BY updated_at DESC, id DESC LIMIT 1"
        ).fetchone()
    label = row[1] or row[2] or row[3] or (f"{row[4]} · {row[0][:4]}" if row[4] else row[5] or row[0][-12:])
    return str(label)[:18]


def starts(small: Path, large: Path, times: int, with_peer: bool) -> list[Line]:
    """Cold start to a usable list, and the first frame, alternating so that drift hits all alike."""
    names = {small: newest_name(small), large: newest_name(large)}
    taken: dict[str, list[float]] = {"small": [], "large": [], "frame": [], "bare": [], "table": [], "peer": []}
    for _ in range(times):
        taken["bare"].append(start([sys.executable, "-c", BARE], small, "bare app is painted"))
        taken["frame"].append(start(console(small), small, "Runs"))
        taken["table"].append(start([sys.executable, "-c", BARE_TABLE], small, "row number 3"))
        taken["small"].append(start(console(small), small, names[small]))
        taken["large"].append(start(console(large), large, names[large]))
        if with_peer:
            with daemon(large) as running:
                taken["peer"].append(running.wait("/api/runs/?per_page=20"))
    seconds = {name: median(values) for name, values in taken.items() if values}
    lines = [
        Line("first frame", seconds["frame"] * 1e3, seconds["bare"] * 1e3, "ms", "bare Textual app", 1.2),
        Line("start to runs, 100k", seconds["large"] * 1e3, seconds["table"] * 1e3, "ms", "bare app with a table", 2.0),
        Line("start to runs, 100k against 1k", seconds["large"] * 1e3, seconds["small"] * 1e3, "ms", "ours at 1k", 1.1),
    ]
    if with_peer:
        lines.append(Line("start to runs, 100k", seconds["large"] * 1e3, seconds["peer"] * 1e3, "ms", "li studio", 0.15))
    return lines


def keys(large: Path, presses: int) -> list[Line]:
    """Key to echo while scrolling, bytes a key, bytes while idle, resident size after a tour of the screens."""
    echoes: list[float] = []
    sizes: list[int] = []
    with Terminal(console(large), environment=environment(large)) as terminal:
        terminal.wait_for(newest_name(large), seconds=60)
        terminal.settle(1.0)
        for _ in range(presses):
            before, sent = len(terminal.raw), time.perf_counter()
            terminal.send("j")
            while len(terminal.raw) == before and time.perf_counter() - sent < 3:
                terminal.pump(0.002)
            echoes.append(time.perf_counter() - sent)
            terminal.settle(0.05)
            sizes.append(len(terminal.raw) - before)
        terminal.settle(2.0)
        idle_from, until = len(terminal.raw), time.perf_counter() + 50
        while time.perf_counter() < until:
            terminal.pump(0.5)
        idle = len(terminal.raw) - idle_from
        for key in "234":
            terminal.send(key)
            terminal.settle(1.0)
        terminal.send("1", "enter")
        terminal.settle(1.0)
        resident, peak = memory_mib(terminal.pid)
    with Terminal([sys.executable, "-c", BARE], environment=environment(large)) as bare:
        bare.wait_for("bare app is painted")
        bare_resident, bare_peak = memory_mib(bare.pid)
    return [
        Line("key to echo, scrolling 100k, median", median(echoes) * 1e3, 10, "ms", "aim in ms", 1.0),
        Line("key to echo, scrolling 100k, p95", p95(echoes) * 1e3, 50, "ms", "aim in ms", 1.0),
        Line("bytes a key, median", statistics.median(sizes), 600, "B", "aim in bytes", 1.0),
        Line("bytes in 50 s of nothing (a minute's clock at most)", idle, 100, "B", "aim in bytes", 1.0),
        Line("memory after a tour at 100k", resident, bare_resident, "MiB", "bare Textual app", 2.6),
        Line("peak memory at 100k", peak, bare_peak, "MiB", "bare Textual app"),
    ]


def peer_memory(large: Path) -> tuple[float, float]:
    """Resident and peak size of the peer's daemon after each list was asked for once."""
    with daemon(large) as running:
        running.wait("/health")
        for path in ("runs/?per_page=200", "schedules/", "shows/", "definitions/", "stats/", "invocations/?limit=200"):
            running.get(f"/api/{path}")
        return memory_mib(running.process.pid)


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--large", type=Path, required=True)
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--presses", type=int, default=60)
    parser.add_argument("--peer", action="store_true", help="measure li studio in the same run")
    options = parser.parse_args()
    for home in (options.home, options.large):
        touch_home(home)
    lines = starts(options.home, options.large, options.starts, options.peer)
    lines += keys(options.large, options.presses)
    if options.peer:
        resident, peak = peer_memory(options.large)
        ours = {line.metric: line.ours for line in lines}
        lines.append(Line("memory after a tour at 100k", ours["memory after a tour at 100k"], resident, "MiB", "li studio", 0.75))
        lines.append(Line("peak memory at 100k", ours["peak memory at 100k"], peak, "MiB", "li studio", 0.6))
    report(lines)


if __name__ == "__main__":
    main()
