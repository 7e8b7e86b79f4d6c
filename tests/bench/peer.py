"""The peer under the stopwatch: its daemon on loopback, and its commands."""

from __future__ import annotations

import contextlib
import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

LI = shutil.which("li", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}") or "li"


def environment(home: Path, **extra: str) -> dict[str, str]:
    """The environment in which both sides run: nothing of the person who measures, everything under ``home``.

    Bytecode is kept as it is for a user; without it every start would compile our sources, but not the installed peer's.
    """
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("LIONAGI_", "STUDIO_TUI_", "PYTHON"))}
    return {
        **kept,
        "HOME": str(home.parent),
        "LIONAGI_HOME": str(home),
        "LIONAGI_SHOWS_ROOT": str(home / "shows"),
        "LIONAGI_STUDIO_MIRROR_CLAUDE": "0",
        "TZ": "UTC",
        "COLORTERM": "truecolor",
        **extra,
    }


def free_port() -> int:
    """A loopback port that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Daemon:
    """A running ``li studio`` API daemon."""

    def __init__(self, home: Path, **extra: str) -> None:
        self.port = free_port()
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            [LI, "studio", "start", "--no-frontend", "--port", str(self.port)],
            env=environment(home, **extra),
            cwd=home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def get(self, path: str) -> bytes:
        """The body of one answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request("GET", path, headers={"Accept": "application/json"})
            return connection.getresponse().read()
        finally:
            connection.close()

    def wait(self, path: str, *, seconds: float = 120.0) -> float:
        """Seconds from the spawn to the first good answer for ``path``."""
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            with contextlib.suppress(OSError):
                self.get(path)
                return time.perf_counter() - self.started
            if self.process.poll() is not None:
                raise RuntimeError(f"the daemon ended with {self.process.returncode}")
            time.sleep(0.005)
        raise TimeoutError(path)

    def stop(self) -> None:
        """End it in order, then by force."""
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)


@contextlib.contextmanager
def daemon(home: Path, **extra: str) -> Iterator[Daemon]:
    """A daemon for the length of a block."""
    running = Daemon(home, **extra)
    try:
        yield running
    finally:
        running.stop()


def build_home(home: Path, *arguments: str) -> Path:
    """A generated home of a chosen size; see ``homes.py`` for the arguments."""
    builder = Path(__file__).with_name("homes.py")
    subprocess.run([sys.executable, str(builder), str(home), *arguments], check=True, capture_output=True)
    return home


def touch_home(home: Path) -> None:
    """Move the rows that must look alive to the present."""
    build_home(home, "--touch")


def timed(argv: list[str], env: Mapping[str, str]) -> float:
    """Wall seconds of one command, its output thrown away."""
    begun = time.perf_counter()
    subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begun
