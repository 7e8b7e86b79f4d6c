"""A private tmux with a shell in it, as operators have it: keys go in, the pane is read."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

import pytest

HAS_TMUX = shutil.which("tmux") is not None
needs_tmux = pytest.mark.skipif(not HAS_TMUX, reason="tmux is not installed here")
PROMPT = "the-shell>"


class Tmux:
    """Starts a server of its own on ``socket`` and ends it, with everything in it, on exit."""

    def __init__(self, socket: Path, environment: Mapping[str, str], *, columns: int, rows: int) -> None:
        start = socket.with_suffix(".sh")
        start.write_text(f"PS1='{PROMPT} '\n")
        self._socket, self._environment = socket, {**environment, "ENV": str(start)}
        self._environment.pop("TMUX", None)
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows), "sh")
        self.wait_for(PROMPT)

    def __enter__(self) -> Tmux:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self._tmux("kill-server")

    def _tmux(self, *arguments: str) -> str:
        command = ["tmux", "-S", str(self._socket), *arguments]
        return subprocess.run(command, env=self._environment, capture_output=True, text=True, check=True, timeout=30).stdout

    @property
    def text(self) -> str:
        """The pane."""
        return self._tmux("capture-pane", "-p")

    def ask(self, format_: str) -> str:
        """One of tmux's own variables, such as ``#{alternate_on}``."""
        return self._tmux("display-message", "-p", format_).strip()

    def send(self, *keys: str) -> None:
        """Press keys by their tmux names."""
        self._tmux("send-keys", *keys)

    def enter(self, line: str) -> None:
        """Type a line, and Enter."""
        self._tmux("send-keys", "-l", line)
        self.send("Enter")

    def resize(self, columns: int, rows: int) -> None:
        """Give the window another size."""
        self._tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def wait_for(self, text: str, *, seconds: float = 40.0) -> str:
        """Wait until ``text`` stands in the pane; the pane."""
        end = time.monotonic() + seconds
        while text not in (shown := self.text):
            assert time.monotonic() < end, f"waited {seconds:.0f} s for {text!r}; the pane:\n{shown}"
            time.sleep(0.05)
        return shown

    def kill_pane(self) -> None:
        """What closing a window does to what runs in it."""
        self._tmux("set-option", "-g", "exit-empty", "off")
        self._tmux("kill-pane")
