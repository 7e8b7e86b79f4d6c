"""One-shot commands as whole processes (metric 2).

python -m tests.bench.commands --home H10K [--pairs 10]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.bench.measure import Line, median, report
from tests.bench.peer import LI, environment, timed

RAW = """
import sqlite3, sys
store = sqlite3.connect(f"file:{sys.argv[1]}/state.db?mode=ro", uri=True)
for row in store.execute("SELECT id, status, name, updated_at FROM sessions ORDER BY updated_at DESC LIMIT 50"):
    print(*row)
"""


def main() -> None:
    """Run it: ours and the peer's take turns."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--pairs", type=int, default=10)
    options = parser.parse_args()
    env = environment(options.home)
    studio = str(Path(sys.executable).with_name("studio-tui"))
    commands = {
        "runs list --json": [studio, "--home", str(options.home), "runs", "list", "--limit", "50", "--json"],
        "--version": [studio, "--version"],
        "li monitor": [LI, "monitor"],
        "li --version": [LI, "--version"],
        "raw": [sys.executable, "-c", RAW, str(options.home)],
    }
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(options.pairs):
        for name, argv in commands.items():
            taken[name].append(timed(argv, env) * 1e3)
    middle = {name: median(values) for name, values in taken.items()}
    report(
        [
            Line("runs list --json", middle["runs list --json"], middle["li monitor"], "ms", "li monitor", 0.4),
            Line("runs list --json", middle["runs list --json"], middle["raw"], "ms", "python + sqlite3 + a page"),
            Line("--version", middle["--version"], middle["li --version"], "ms", "li --version", 0.25),
        ]
    )


if __name__ == "__main__":
    main()
