"""The real program on a home: in a terminal, as a command, without a screen; and the store as another process sees it."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tests.terminal.pseudo import Terminal

STUDIO = [sys.executable, "-m", "studio_tui"]
ROOT = Path(__file__).parent.parent.parent
START = 40.0
"""Seconds that a start may take on a machine that is busy with other tests."""


DEAF = 0.7
"""Seconds after which a dialog that is seen hears keys."""


class Home:
    """A lionagi home, the environment in which programs work on it, and what they do there."""

    def __init__(self, path: Path, **variables: str) -> None:
        self.path = path
        self.environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "LANG": "C.UTF-8",
            "LIONAGI_SHOWS_ROOT": str(path / "shows"),
            **variables,
        }

    @property
    def store(self) -> Path:
        """The SQLite file."""
        return self.path / "state.db"

    def sql(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """What another process reads or writes in one statement."""
        with closing(sqlite3.connect(self.store, timeout=20)) as connection, connection:
            return connection.execute(statement, values).fetchall()

    def one(self, statement: str, *values: object) -> Any:
        """The first value of the first row."""
        return self.sql(statement, *values)[0][0]

    def console(self, *flags: str, columns: int = 120, rows: int = 40, term: str = "xterm-256color") -> Terminal:
        """The console on this home, in a terminal of its own."""
        argv = [*STUDIO, "--home", str(self.path), *flags]
        return Terminal(argv, environment=self.environment, columns=columns, rows=rows, term=term, cwd=str(self.path.parent))

    def run(self, *arguments: str, expect: int = 0) -> str:
        """What one command prints; it must end with ``expect``."""
        argv = [*STUDIO, "--home", str(self.path), *arguments]
        done = subprocess.run(
            argv, env=self.environment, cwd=self.path.parent, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == expect, done.stderr
        return done.stdout

    def every(self, seconds: int, name: str, *command: str) -> None:
        """An interval schedule made by the command line."""
        self.run("schedules", "create", "command", name, "--every", f"{seconds}s", "--", *command)

    @contextmanager
    def host(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """A host without a screen, gone at the end whatever happens."""
        argv = [*STUDIO, "--home", str(self.path), "scheduler", "run", *arguments]
        process = subprocess.Popen(argv, env=self.environment, cwd=self.path.parent, stdout=subprocess.PIPE, text=True)
        try:
            yield process
        finally:
            process.kill()
            process.communicate()

    def firings(self, name: str, status: str = "%") -> list[dict[str, Any]]:
        """The rows of a schedule's firings, oldest first."""
        with closing(sqlite3.connect(self.store, timeout=20)) as connection:
            connection.row_factory = sqlite3.Row
            rows = connection.execute(
                "SELECT r.* FROM schedule_runs r JOIN schedules s ON s.id = r.schedule_id"
                " WHERE s.name = ? AND r.status LIKE ? ORDER BY r.fired_at",
                (name, status),
            )
            return [dict(row) for row in rows]

    def contents(self) -> Mapping[str, bytes]:
        """Every file of the home. Two equal ones mean that nothing was written."""
        return {str(file.relative_to(self.path)): file.read_bytes() for file in self.path.rglob("*") if file.is_file()}


def until(condition: Callable[[], object], what: str, seconds: float = 30.0) -> None:
    """Wait for something that no terminal shows."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited {seconds:.0f} s for {what}"
        time.sleep(0.02)


def answer(terminal: Terminal, *keys: str) -> None:
    """Press keys in a dialog that stands on the screen: for its first moments it is deaf."""
    terminal.listen(DEAF)
    terminal.send(*keys)
