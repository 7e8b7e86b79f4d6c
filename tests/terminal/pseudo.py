"""A program in a real pseudo-terminal: keys go in, bytes come out, and pyte keeps the screen that they draw."""

from __future__ import annotations

import errno
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType

import pyte

KEYS: Mapping[str, bytes] = {
    "enter": b"\r",
    "tab": b"\t",
    "escape": b"\x1b",
    "up": b"\x1b[A",
    "down": b"\x1b[B",
    "pageup": b"\x1b[5~",
    "pagedown": b"\x1b[6~",
    "home": b"\x1b[H",
    "end": b"\x1b[F",
    "ctrl+c": b"\x03",
    "ctrl+l": b"\x0c",
    "ctrl+p": b"\x10",
    "ctrl+s": b"\x13",
    "space": b" ",
}

# What a modern terminal answers to the questions that Textual asks at its start.
_ANSWERS = ((b"\x1b[?2026$p", b"\x1b[?2026;2$y"), (b"\x1b[?2048$p", b"\x1b[?2048;0$y"), (b"\x1b[c", b"\x1b[?62c"))


class Terminal:
    """Starts ``argv`` on a terminal of ``columns`` x ``rows`` and closes it, with everything in it, on exit."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        environment: Mapping[str, str],
        columns: int = 120,
        rows: int = 40,
        term: str = "xterm-256color",
        cwd: str | None = None,
    ) -> None:
        self.raw = bytearray()
        self.started = time.perf_counter()
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self._status: int | None = None
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            if cwd is not None:
                os.chdir(cwd)
            os.execvpe(argv[0], list(argv), {**environment, "TERM": term})
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def lines(self) -> list[str]:
        """The rows of the screen as text."""
        return [line.rstrip() for line in self._screen.display]

    @property
    def text(self) -> str:
        """The whole screen as text."""
        return "\n".join(self.lines)

    @property
    def words(self) -> str:
        """The whole screen with single blanks: a sentence that was broken to the window stands there in one piece."""
        return " ".join(self.text.split())

    def pump(self, seconds: float) -> bytes:
        """Take in what the program writes within ``seconds``; returns at the first piece of it."""
        ready, _, _ = select.select([self._fd], [], [], seconds)
        if not ready:
            return b""
        try:
            data = os.read(self._fd, 65536)
        except OSError as error:
            if error.errno == errno.EIO:
                return b""
            raise
        self.raw += data
        self._stream.feed(data)
        for question, answer in _ANSWERS:
            if question in data:
                os.write(self._fd, answer)
        return data

    def until(self, condition: Callable[[], bool], *, seconds: float = 20.0, what: str = "") -> float:
        """Read until ``condition`` holds; the seconds that it took. Fails with the screen as it stands."""
        begun = time.perf_counter()
        while not condition():
            if time.perf_counter() - begun > seconds:
                raise AssertionError(f"waited {seconds:.0f} s for {what or 'a condition'}; the screen:\n{self.text}")
            self.pump(0.02)
        return time.perf_counter() - begun

    def wait_for(self, text: str, *, seconds: float = 20.0) -> float:
        """Read until ``text`` stands on the screen, be it broken to several lines."""
        return self.until(lambda: text in self.text or text in self.words, seconds=seconds, what=repr(text))

    def wait_gone(self, text: str, *, seconds: float = 20.0) -> float:
        """Read until ``text`` stands on the screen no more."""
        return self.until(lambda: text not in self.text, seconds=seconds, what=f"{text!r} to go")

    def settle(self, quiet: float = 0.3, *, seconds: float = 20.0) -> None:
        """Read until the program has written nothing for ``quiet`` seconds."""
        end = time.perf_counter() + seconds
        while self.pump(quiet) and time.perf_counter() < end:
            pass

    def listen(self, seconds: float) -> bytes:
        """Take in what is written within so many seconds, all of them."""
        before, end = len(self.raw), time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            self.pump(left)
        return bytes(self.raw[before:])

    def send(self, *keys: str) -> None:
        """Type keys by name; other words are typed as they are."""
        for key in keys:
            os.write(self._fd, KEYS.get(key, key.encode()))

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size, as a window manager would."""
        self._screen.resize(rows, columns)
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.kill(self.pid, signal.SIGWINCH)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the program."""
        os.kill(self.pid, number)

    def wait_exit(self, *, seconds: float = 10.0) -> int:
        """The exit code of the program; a death by signal is the negative number."""
        end = time.perf_counter() + seconds
        while self._status is None:
            if time.perf_counter() > end:
                raise AssertionError(f"the program still runs after {seconds:.0f} s; the screen:\n{self.text}")
            self.pump(0.02)
            self._poll()
        while self.pump(0.05):
            pass
        return self.exit_code

    @property
    def exit_code(self) -> int:
        """How the program ended; a death by signal is the negative number. Only once it has."""
        assert self._status is not None
        return os.waitstatus_to_exitcode(self._status)

    @property
    def descriptor(self) -> int:
        """Our side of the terminal."""
        return self._fd

    def hang_up(self) -> None:
        """Close our side, as a dropped SSH line does."""
        os.close(self._fd)
        self._fd = -1

    def alive(self) -> bool:
        """Whether the program still runs."""
        self._poll()
        return self._status is None

    def close(self) -> None:
        """End the program if it still runs, and give back the terminal."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            end = time.perf_counter() + 3.0
            while self.alive() and time.perf_counter() < end:
                if number is signal.SIGKILL or end - time.perf_counter() > 2.9:
                    os.kill(self.pid, number)
                if self._fd >= 0:
                    self.pump(0.05)
                else:
                    time.sleep(0.05)
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _poll(self) -> None:
        if self._status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._status = status
